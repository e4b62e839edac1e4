//! Prepares texts for speech: parses markers, reduces Markdown to speakable text, and splits long texts. This module
//! does not depend on providers.

pub(crate) mod markup;
mod sentences;
mod speakable;
mod split;

pub(crate) use sentences::{Piece, Sentences};
pub(crate) use speakable::{speakable, speakable_part};
pub(crate) use split::{pieces, sentence_ends};
