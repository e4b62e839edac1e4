//! Texts before they are spoken: what markup asks for, what can be said of Markdown, and how a long text
//! is cut. Pure; knows no provider.

pub(crate) mod markup;
mod speakable;
mod split;

pub(crate) use speakable::speakable;
pub(crate) use split::pieces;
