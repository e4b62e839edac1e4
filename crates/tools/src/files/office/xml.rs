//! Walks through an XML part without keeping it in memory.

use super::OfficeError;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::io::{BufRead, ErrorKind};

/// A part of an XML document. Names are without prefix.
pub(super) enum Piece<'a> {
    Start(&'a str, &'a BytesStart<'a>),
    End(&'a str),
    Text(&'a str),
}

/// Passes each piece to `each` until `each` returns `false`.
pub(super) fn walk(
    part: impl BufRead,
    mut each: impl FnMut(Piece<'_>) -> bool,
) -> Result<(), OfficeError> {
    let mut reader = Reader::from_reader(part);
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    let mut goes_on = true;
    while goes_on {
        buffer.clear();
        goes_on = match reader
            .read_event_into(&mut buffer)
            .map_err(|e| failed(&e))?
        {
            Event::Start(start) => each(Piece::Start(start.local_name().as_ref(), &start)),
            Event::End(end) => each(Piece::End(end.local_name().as_ref())),
            Event::Text(text) => each(Piece::Text(&text.xml10_content())),
            Event::CData(text) => each(Piece::Text(&text.xml10_content())),
            Event::GeneralRef(reference) => match character(&reference) {
                Some(c) => each(Piece::Text(c.encode_utf8(&mut [0; 4]))),
                None => true,
            },
            // ECMA-376, part 2, does not allow document types. Without a document type, there are
            // no entities to expand.
            Event::DocType(_) => return Err(OfficeError::Unreadable),
            Event::Eof => false,
            _ => true,
        };
    }
    Ok(())
}

fn failed(error: &quick_xml::Error) -> OfficeError {
    tracing::debug!(%error, "a part of a document cannot be read");
    match error {
        quick_xml::Error::Io(error) if error.kind() == ErrorKind::FileTooLarge => {
            OfficeError::TooLarge
        }
        _ => OfficeError::Unreadable,
    }
}

fn character(reference: &BytesRef<'_>) -> Option<char> {
    match &*reference.xml10_content() {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => reference.resolve_char_ref().ok().flatten(),
    }
}

/// Returns the value of an attribute. `name` is without prefix.
pub(super) fn attribute(of: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = of.attributes();
    let mut all = attributes.with_checks(false).flatten();
    let found = all.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value = quick_xml::escape::unescape(&found.value).ok()?;
    Some(value.into_owned())
}
