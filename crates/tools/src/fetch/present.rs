//! Shows a page to the model.

use super::paging;
use crate::html::Article;
use crate::text;
use gatehouse_agents::{MAX_OUTPUT_BYTES, ToolError};
use std::fmt::Write as _;

/// The space for the offsets in an answer, in bytes.
const OFFSETS_BYTES: usize = 200;

/// Returns the answer: the source, then at most `max` characters of the text from `offset`.
pub(super) fn present(
    url: &str,
    is_truncated: bool,
    article: &Article,
    offset: usize,
    max: usize,
) -> Result<String, ToolError> {
    let mut answer = format!("URL: {}\n", text::one_line(url, 2000));
    if !article.title.is_empty() {
        let _ = writeln!(answer, "Title: {}", article.title);
    }
    if is_truncated {
        answer.push_str("Note: the page is larger than 2 MiB; this is its beginning.\n");
    }
    let room = MAX_OUTPUT_BYTES.saturating_sub(answer.len() + OFFSETS_BYTES);
    let Some(part) = paging::part(&article.text, offset, max, room) else {
        return Err(ToolError::new(format!(
            "The offset {offset} is past the end: the text has {} characters.",
            article.text.chars().count()
        )));
    };
    let _ = writeln!(answer, "total_chars: {}", part.total_chars);
    if offset > 0 {
        let _ = writeln!(answer, "offset: {offset}");
    }
    if let Some(next) = part.next_offset {
        let _ = writeln!(answer, "next_offset: {next}");
    }
    answer.push('\n');
    if article.text.is_empty() {
        answer.push_str("(The page contains no text.)");
    }
    answer.push_str(part.text.trim_end());
    if let Some(next) = part.next_offset {
        let _ = write!(answer, "\n[cut; it continues at offset {next}]");
    }
    Ok(answer)
}
