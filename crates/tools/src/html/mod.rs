//! Hostile HTML to readable text. Knows no network.
//!
//! Parsers that build trees can be made to overflow the stack or to grow without measure. So the text
//! first goes through a tokenizer, which does neither, and what comes out of it is well-formed HTML of
//! bounded depth and size; only that meets the tree builders.

mod bound;
mod links;
mod readable;
mod tags;

pub(crate) use bound::bound;
pub(crate) use readable::{Article, Reader};

/// The text of a small piece of HTML, on one line of at most `max` characters.
pub(crate) fn one_line(html: &str, max: usize) -> String {
    crate::text::one_line(
        &bound(html, None, std::time::Duration::from_secs(1)).text,
        max,
    )
}
