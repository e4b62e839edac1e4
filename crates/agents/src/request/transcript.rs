//! Writes a conversation as plain text.

use super::heard_text;
use crate::files::Files;
use crate::message::calls_of;
use crate::origin::MessageOrigin;
use crate::tokens::shortened;
use gatehouse_store::ChatMessageRow;
use std::fmt::Write as _;

/// Returns the conversation as one text of about `characters` characters, to be summarized. The text contains a part of
/// every message if there is enough space, otherwise only the newest messages.
pub(crate) fn transcript(
    summary: Option<&str>,
    rows: &[ChatMessageRow],
    files: &Files,
    characters: usize,
) -> String {
    let mut parts = Vec::new();
    let before = summary.map(|summary| {
        let summary = shortened(summary, characters / 2);
        format!("Summary of the earlier messages: {summary}\n")
    });
    let mut room = characters.saturating_sub(before.as_deref().map_or(0, str::len));
    // Allow about 50 characters per message in addition to its text.
    let each = (room / rows.len().max(1))
        .saturating_sub(50)
        .clamp(100, 1500);
    for row in rows.iter().rev() {
        let part = transcript_of(row, files, each);
        let length = part.chars().count();
        if length > room {
            break;
        }
        room -= length;
        parts.push(part);
    }
    parts.extend(before);
    parts.reverse();
    parts.concat()
}

fn transcript_of(row: &ChatMessageRow, files: &Files, characters: usize) -> String {
    let mut part = String::new();
    part.push_str(&row.role);
    if row.origin == MessageOrigin::Stranger.as_str() {
        part.push_str(" (a stranger's text)");
    }
    part.push(':');
    let text = heard_text(row);
    if !text.is_empty() {
        let _ = write!(part, " {}", shortened(&text, characters));
    }
    part.push_str(&files.summarized(row, characters));
    for call in calls_of(row) {
        let arguments = shortened(&call.arguments, characters / 4);
        let _ = write!(part, " [calls {} {arguments}]", call.name);
    }
    part.push('\n');
    part
}
