//! Prepares texts for speech: parses markers, reduces Markdown to speakable text, and splits long texts. It
//! does not know about providers.

pub(crate) mod markup;
mod speakable;
mod split;

pub(crate) use speakable::speakable;
pub(crate) use split::pieces;
