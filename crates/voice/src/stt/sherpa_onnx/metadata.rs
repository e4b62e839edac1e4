//! Reads `model_type` from the metadata of an ONNX model.
//!
//! A model is a Protocol Buffers message (<https://protobuf.dev/programming-guides/encoding/>) in which field
//! 14 is `metadata_props`, repeated, with key (1) and value (2)
//! (<https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>). Everything else is skipped.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek};
use std::path::Path;

const METADATA: u64 = 14;
const KEY: u64 = 1;
const VALUE: u64 = 2;
/// The longest property to read.
const MAX_PROPERTY_BYTES: u64 = 1 << 16;
/// The maximum number of fields to examine. A real model has a few dozen at the top level.
const MAX_FIELDS: usize = 10_000;

/// Returns the model's type. Returns `None` if the file has no type or is not a model. Blocking.
pub(super) fn model_type(model: &Path) -> Option<String> {
    let file = File::open(model).ok()?;
    find(&mut BufReader::new(file), "model_type").ok()?
}

fn find(model: &mut (impl Read + Seek), wanted: &str) -> io::Result<Option<String>> {
    for _ in 0..MAX_FIELDS {
        let Some(tag) = varint(model)? else { break };
        match (tag >> 3, tag & 7) {
            (_, 0) => drop(some(varint(model)?)?),
            (_, 1) => model.seek_relative(8)?,
            (_, 5) => model.seek_relative(4)?,
            (field, 2) => {
                let length = some(varint(model)?)?;
                if field == METADATA && length <= MAX_PROPERTY_BYTES {
                    let mut property = Vec::new();
                    model.take(length).read_to_end(&mut property)?;
                    if let Some(value) = value(&property, wanted) {
                        return Ok(Some(value));
                    }
                } else {
                    model.seek_relative(length.try_into().map_err(|_| invalid())?)?;
                }
            }
            _ => return Err(invalid()),
        }
    }
    Ok(None)
}

/// Returns the value of a property, if it has this key.
fn value(property: &[u8], wanted: &str) -> Option<String> {
    let mut rest = property;
    let (mut key, mut value) = (None, None);
    while let Some(tag) = varint(&mut rest).ok()? {
        if tag & 7 != 2 {
            return None;
        }
        let length = usize::try_from(varint(&mut rest).ok()??).ok()?;
        let (text, after) = rest.split_at_checked(length)?;
        rest = after;
        match tag >> 3 {
            KEY => key = Some(text),
            VALUE => value = Some(text),
            _ => {}
        }
    }
    let value = value.filter(|_| key == Some(wanted.as_bytes()))?;
    String::from_utf8(value.to_vec()).ok()
}

/// Reads a varint: seven bits per byte, lowest first. Returns `None` at the end of the input.
fn varint(input: &mut impl Read) -> io::Result<Option<u64>> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0_u8];
        if input.read(&mut byte)? == 0 {
            return if shift == 0 { Ok(None) } else { Err(invalid()) };
        }
        let [byte] = byte;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(Some(number));
        }
    }
    Err(invalid())
}

fn some(number: Option<u64>) -> io::Result<u64> {
    number.ok_or_else(invalid)
}

fn invalid() -> io::Error {
    ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut field = vec![number << 3 | 2];
        let mut length = content.len();
        while length >= 0x80 {
            field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        field.push(u8::try_from(length).unwrap());
        field.extend_from_slice(content);
        field
    }

    fn property(key: &str, value: &str) -> Vec<u8> {
        field(
            14,
            &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat(),
        )
    }

    fn model() -> Vec<u8> {
        let graph = field(7, &vec![0xff; 100_000]);
        let version = vec![0x08, 0x88, 0x01];
        [
            version,
            graph,
            property("a", "model_type"),
            property("model_type", "tdnn_lstm"),
        ]
        .concat()
    }

    #[test]
    fn the_type_is_found_behind_the_graph() {
        let found = find(&mut Cursor::new(model()), "model_type");
        assert_eq!(found.unwrap().as_deref(), Some("tdnn_lstm"));
        assert_eq!(find(&mut Cursor::new(model()), "none").unwrap(), None);
        assert_eq!(find(&mut Cursor::new(b""), "model_type").unwrap(), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fall_over(bytes: Vec<u8>, cut in 99_990_usize..100_100) {
            let _ = find(&mut Cursor::new(bytes), "model_type");
            let mut model = model();
            model.truncate(cut);
            let whole = cut >= super::tests::model().len();
            let found = find(&mut Cursor::new(model), "model_type").ok().flatten();
            prop_assert_eq!(found.is_some(), whole);
        }
    }
}
