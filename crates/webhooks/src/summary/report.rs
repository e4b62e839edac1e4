//! The text of a summary while it is written: a sentence, lines with labels, lists, indented texts.
//! Bounded in all and in each part.

use crate::clean;
use crate::payload::{Kind, Node};

/// No summary is longer, in characters.
pub const MAX_SUMMARY_CHARS: usize = 8_000;
/// No value on a line is longer, in characters.
pub(crate) const MAX_LINE_CHARS: usize = 300;
/// No indented text is longer, in characters.
const MAX_BLOCK_CHARS: usize = 3_000;
/// No indented text has more lines.
const MAX_BLOCK_LINES: usize = 60;
/// No list shows more of its items.
const MAX_ITEMS: usize = 20;

/// A summary while it is written.
#[derive(Default)]
pub(crate) struct Report {
    text: String,
}

impl Report {
    /// What happened, on a line of its own.
    pub(crate) fn sentence(&mut self, text: &str) {
        if let Some(text) = clean::line(text, MAX_LINE_CHARS * 2) {
            self.push(&text);
        }
    }

    /// `label: value`, or nothing without a value.
    pub(crate) fn line(&mut self, label: &str, value: Option<String>) {
        if let Some(value) = value.and_then(|value| clean::line(&value, MAX_LINE_CHARS)) {
            self.push(&format!("{label}: {value}"));
        }
    }

    /// `label:`, and the text below it, indented.
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

    /// `label: a, b, c`, or nothing without an item.
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

    /// `label:`, and a line for each item, indented with a dot. `total` is how many there are at the
    /// sender, where more than it sent.
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

    /// The text, without a line break at its end.
    pub(crate) fn finish(self) -> String {
        clean::cut(self.text, MAX_SUMMARY_CHARS)
    }

    /// Once there is enough, more is not even collected.
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

/// What a value says on one line: text, a number as it was spelt, yes or no.
pub(crate) fn word(node: Node<'_>) -> Option<String> {
    match node.kind() {
        Kind::String => clean::line(&node.as_str()?, MAX_LINE_CHARS),
        Kind::Number => clean::line(node.raw(), MAX_LINE_CHARS),
        Kind::Bool => Some(if node.as_bool()? { "yes" } else { "no" }.to_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// [`word`] of the value at a path.
pub(crate) fn at(node: Node<'_>, path: &str) -> Option<String> {
    word(node.at(path)?)
}

/// [`at`] for the first of some paths that has something to say.
pub(crate) fn first(node: Node<'_>, paths: &[&str]) -> Option<String> {
    paths.iter().find_map(|path| at(node, path))
}

/// A whole number at a path.
pub(crate) fn number(node: Node<'_>, path: &str) -> Option<u64> {
    node.at(path)?.as_u64()
}

/// Whether there is `true` at a path.
pub(crate) fn is_true(node: Node<'_>, path: &str) -> bool {
    node.at(path).and_then(Node::as_bool) == Some(true)
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
