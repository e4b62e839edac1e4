//! Parses a document within a memory budget.

use super::PdfError;
use lopdf::{Document, LoadOptions, Object, ObjectId};
use std::cell::Cell;
use std::panic::resume_unwind;

/// The maximum decompressed size of a stream, in bytes.
pub(super) const MAX_STREAM_BYTES: usize = 4 << 20;
/// The approximate maximum memory of a document's objects, in bytes.
const MAX_OBJECTS_BYTES: usize = 128 << 20;
/// The memory of an object without its content, in bytes: its fixed size and its map entry.
const OBJECT_BYTES: usize = size_of::<Object>() + 32;

thread_local! {
    /// The unused part of [`MAX_OBJECTS_BYTES`]. It is a static, because the library accepts only a plain function as a
    /// filter.
    static LEFT_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Parses a document. Unwinds the thread if it needs too much memory.
pub(super) fn document(bytes: &[u8]) -> Result<Document, PdfError> {
    // The library loads encrypted documents without the filter, so they are refused.
    if has_name(bytes, b"Encrypt") {
        return Err(PdfError::Encrypted);
    }
    LEFT_BYTES.set(MAX_OBJECTS_BYTES);
    let options = LoadOptions {
        filter: Some(keep),
        max_decompressed_size: Some(MAX_STREAM_BYTES),
        ..LoadOptions::default()
    };
    Document::load_mem_with_options(bytes, options).map_err(|error| {
        tracing::debug!(%error, "a PDF cannot be read");
        PdfError::Unreadable
    })
}

/// Returns whether a name occurs in the plain bytes. Each byte of a name may be written as `#` and two digits.
fn has_name(bytes: &[u8], name: &[u8]) -> bool {
    let mut starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    starts.any(|(at, _)| {
        let mut rest = bytes.get(at + 1..).unwrap_or_default();
        name.iter().all(|expected| match rest {
            [b'#', high, low, after @ ..] => {
                rest = after;
                hex(*high, *low) == Some(*expected)
            }
            [byte, after @ ..] => {
                rest = after;
                byte == expected
            }
            [] => false,
        }) && !rest.first().is_some_and(u8::is_ascii_alphanumeric)
    })
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Filters objects for the library: counts each object, and omits images. The library keeps the original of a stream, and
/// the returned copy of any other object.
fn keep(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let left = LEFT_BYTES.get().checked_sub(weight(object));
    let Some(left) = left else {
        // Unwinding is the only way to stop the library. `resume_unwind` prints no message.
        resume_unwind(Box::new(PdfError::Unreadable));
    };
    LEFT_BYTES.set(left);
    match object {
        Object::Stream(stream) if is_image(&stream.dict) => None,
        Object::Stream(_) => Some((id, Object::Null)),
        other => Some((id, other.clone())),
    }
}

fn is_image(dictionary: &lopdf::Dictionary) -> bool {
    let kind = dictionary.get(b"Subtype").and_then(Object::as_name);
    kind.is_ok_and(|kind| kind == b"Image")
}

/// Returns the memory of an object. The library limits how deep objects are nested.
fn weight(object: &Object) -> usize {
    let of_dictionary = |dictionary: &lopdf::Dictionary| -> usize {
        let members = dictionary.iter();
        members
            .map(|(name, value)| OBJECT_BYTES + name.len() + weight(value))
            .sum()
    };
    OBJECT_BYTES
        + match object {
            Object::Name(text) | Object::String(text, _) => text.len(),
            Object::Array(items) => items.iter().map(weight).sum(),
            Object::Dictionary(dictionary) => of_dictionary(dictionary),
            Object::Stream(stream) => of_dictionary(&stream.dict) + stream.content.len(),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_every_spelling() {
        for text in ["<</Encrypt 1 0 R>>", "/Enc#72ypt", "a/#45ncrypt<<"] {
            assert!(has_name(text.as_bytes(), b"Encrypt"), "{text}");
        }
        for text in ["Encrypt", "/EncryptMetadata true", "/Encryp", "/Enc#7", ""] {
            assert!(!has_name(text.as_bytes(), b"Encrypt"), "{text}");
        }
    }
}
