//! Builds the text of a summary: a sentence, labeled lines, lists and indented blocks. Limits the size of
//! each part and of the whole.

use crate::clean;
use crate::payload::{Kind, Node};

/// Maximum length of a summary, in characters.
pub const MAX_SUMMARY_CHARS: usize = 8_000;
/// Maximum length of a value on one line, in characters.
pub(crate) const MAX_LINE_CHARS: usize = 300;
/// Maximum length of an indented block, in characters.
const MAX_BLOCK_CHARS: usize = 3_000;
/// Maximum number of lines in an indented block.
const MAX_BLOCK_LINES: usize = 60;
/// Maximum number of items shown of a list.
const MAX_ITEMS: usize = 20;

/// A summary under construction.
#[derive(Default)]
pub(crate) struct Report {
    text: String,
}

impl Report {
    /// Adds a sentence on its own line.
    pub(crate) fn sentence(&mut self, text: &str) {
        if let Some(text) = clean::line(text, MAX_LINE_CHARS * 2) {
            self.push(&text);
        }
    }

    /// Adds `label: value`; nothing without a value.
    pub(crate) fn line(&mut self, label: &str, value: Option<String>) {
        if let Some(value) = value.and_then(|value| clean::line(&value, MAX_LINE_CHARS)) {
            self.push(&format!("{label}: {value}"));
        }
    }

    /// Adds `label:` and the text below it, indented.
    pub(crate) fn block(&mut self, label: &str, text: &str) {
        let lines = clean::lines(text, MAX_BLOCK_CHARS, MAX_BLOCK_LINES);
        if lines.is_empty() {
            return;
        }
        self.push(&format!("{label}:"));
        for line in lines {
            self.push(format!("  {line}").trim_end());
        }
    }

    /// Adds `label: a, b, c`; nothing without items.
    pub(crate) fn words(&mut self, label: &str, items: impl Iterator<Item = String>) {
        let mut items = items.filter_map(|item| clean::line(&item, MAX_LINE_CHARS));
        let shown: Vec<String> = items.by_ref().take(MAX_ITEMS).collect();
        let more = items.count();
        if shown.is_empty() {
            return;
        }
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        self.push(&format!("{label}: {}{more}", shown.join(", ")));
    }

    /// Adds `label:` and one bulleted line per item. `total` is the sender's count, if it sent only some of
    /// the items.
    pub(crate) fn items(
        &mut self,
        label: &str,
        items: impl Iterator<Item = String>,
        total: Option<u64>,
    ) {
        let mut items = items.filter_map(|item| clean::line(&item, MAX_LINE_CHARS));
        let shown: Vec<String> = items.by_ref().take(MAX_ITEMS).collect();
        if shown.is_empty() {
            return;
        }
        let here = u64::try_from(items.count() + shown.len()).unwrap_or(u64::MAX);
        let listed = u64::try_from(shown.len()).unwrap_or(u64::MAX);
        let more = total.unwrap_or(here).max(here).saturating_sub(listed);
        self.push(&format!("{label}:"));
        for item in shown {
            self.push(&format!("  • {item}"));
        }
        if more > 0 {
            self.push(&format!("  • … and {more} more"));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text, without a trailing line break.
    pub(crate) fn finish(self) -> String {
        clean::cut(self.text, MAX_SUMMARY_CHARS)
    }

    /// Ignores further lines when the text is long enough to be truncated.
    fn push(&mut self, line: &str) {
        if self.text.len() > MAX_SUMMARY_CHARS * 4 {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }
}

/// Formats a value on one line: text, a number with its original spelling, yes or no.
pub(crate) fn word(node: Node<'_>) -> Option<String> {
    match node.kind() {
        Kind::String => clean::line(&node.as_str()?, MAX_LINE_CHARS),
        Kind::Number => clean::line(node.raw(), MAX_LINE_CHARS),
        Kind::Bool => Some(if node.as_bool()? { "yes" } else { "no" }.to_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

pub(crate) fn at(node: Node<'_>, path: &str) -> Option<String> {
    word(node.at(path)?)
}

/// Formats the first path that has a value with [`at`].
pub(crate) fn first(node: Node<'_>, paths: &[&str]) -> Option<String> {
    paths.iter().find_map(|path| at(node, path))
}

pub(crate) fn number(node: Node<'_>, path: &str) -> Option<u64> {
    node.at(path)?.as_u64()
}

pub(crate) fn is_true(node: Node<'_>, path: &str) -> bool {
    node.at(path).and_then(Node::as_bool) == Some(true)
}

/// Formats a count: `1 file`, `2 files`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
