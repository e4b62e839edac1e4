//! Texts before they are spoken: what markup asks for, what can be said of Markdown, and how a long text
//! is cut. Pure; knows no provider.

mod split;

pub(crate) use split::pieces;

pub(crate) fn speakable(text: &str) -> String {
    text.to_owned()
}
