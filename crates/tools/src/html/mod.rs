//! Converts hostile HTML to Markdown. Uses no network.
//!
//! Tree-building parsers can be made to overflow the stack or to use unlimited memory. So the input first
//! passes through a tokenizer, which has neither problem. The tree builders only see its output: well-formed
//! HTML of limited depth and size.

mod bound;
mod links;
mod markdown;
mod readable;
mod tags;

pub(crate) use bound::bound;
pub(crate) use readable::{Article, Reader};

/// The text of a small HTML fragment, on one line of at most `max` characters.
pub(crate) fn one_line(html: &str, max: usize) -> String {
    crate::text::one_line(
        &bound(html, None, std::time::Duration::from_secs(1)).text,
        max,
    )
}
