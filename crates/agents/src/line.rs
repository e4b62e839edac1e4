//! One line of text.

/// Returns whether `text` is a single non-blank line of at most `most` characters.
pub(crate) fn is_line(text: &str, most: usize) -> bool {
    let length = text.chars().count();
    (1..=most).contains(&length) && !text.trim().is_empty() && !text.contains(char::is_control)
}
