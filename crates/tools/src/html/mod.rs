//! Converts hostile HTML to Markdown. Uses no network.
//!
//! Hostile input can make tree-building parsers overflow the stack or use unlimited memory. Therefore the input first
//! passes through a tokenizer, which has neither problem. The tree builders get only its output: well-formed HTML of
//! limited depth and size.

mod bound;
mod links;
mod markdown;
mod readable;
mod tags;

pub(crate) use bound::bound;
pub(crate) use readable::{Article, Reader};

/// Returns the text of a small HTML fragment, on one line of at most `max` characters.
pub(crate) fn one_line(html: &str, max: usize) -> String {
    crate::text::one_line(
        &bound(html, None, std::time::Duration::from_secs(1)).text,
        max,
    )
}
