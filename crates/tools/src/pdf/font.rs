//! A font of a document: the meaning and the width of its codes.

use super::load::MAX_STREAM_BYTES;
use super::unicode_map::{UnicodeMap, number};
use lopdf::{Dictionary, Document, Encoding, Object};
use std::collections::BTreeMap;

/// The largest mapping to Unicode, decompressed.
const MAX_MAP_BYTES: usize = MAX_STREAM_BYTES / 4;
/// The width of a character of unknown width, in em.
const USUAL_WIDTH: f32 = 0.5;
/// The largest code whose width is used.
const MAX_CODE: u32 = 1 << 24;
/// Widths in a document are in thousandths of an em.
const PER_EM: f32 = 1000.0;

pub(super) struct Font<'d> {
    meaning: Meaning<'d>,
    widths: Widths,
    /// Whether its codes can have several bytes.
    is_composite: bool,
}

enum Meaning<'d> {
    Map(UnicodeMap),
    Encoding(Encoding<'d>),
    Unknown,
}

/// The widths in em.
struct Widths {
    /// Ranges of codes. The key is the first code; the value is the last code and the width.
    ranges: BTreeMap<u32, (u32, f32)>,
    other: f32,
}

/// The space that a string takes on the page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Shown {
    /// The width in em.
    pub(super) width: f32,
    pub(super) codes: f32,
    /// The number of codes that are a single byte 32. Word spacing applies to these.
    pub(super) spaces: f32,
}

impl<'d> Font<'d> {
    pub(super) fn read(document: &'d Document, font: &'d Dictionary) -> Self {
        let is_composite = name(font, b"Subtype") == Some(b"Type0");
        Self {
            meaning: Meaning::read(document, font, is_composite),
            widths: if is_composite {
                Widths::of_composite(document, font)
            } else {
                Widths::of_simple(document, font)
            },
            is_composite,
        }
    }

    /// Appends the text of a string.
    pub(super) fn write(&self, mut string: &[u8], out: &mut String) -> Shown {
        if let Meaning::Encoding(encoding) = &self.meaning
            && let Err(error) = encoding.write_to_string(string, out)
        {
            tracing::trace!(%error, "a string of a PDF cannot be decoded");
        }
        let mut shown = Shown::default();
        while !string.is_empty() {
            let length = self.code_length(string).clamp(1, string.len());
            let (code, rest) = string.split_at(length);
            string = rest;
            if let Meaning::Map(map) = &self.meaning {
                map.write(code, out);
            }
            shown.width += self.widths.of(number(code));
            shown.codes += 1.0;
            shown.spaces += if code == b" " { 1.0 } else { 0.0 };
        }
        shown
    }

    fn code_length(&self, string: &[u8]) -> usize {
        match &self.meaning {
            _ if !self.is_composite => 1,
            Meaning::Map(map) => map.code_length(string).unwrap_or(2),
            _ => 2,
        }
    }
}

impl<'d> Meaning<'d> {
    /// Reads the mapping to Unicode, or else the encoding. The mapping is parsed here, because the library expands
    /// every range into single codes.
    fn read(document: &'d Document, font: &'d Dictionary, is_composite: bool) -> Self {
        if let Ok(map) = font.get_deref(b"ToUnicode", document) {
            let source = map.as_stream().ok();
            let source =
                source.and_then(|map| map.get_plain_content_with_limit(MAX_MAP_BYTES).ok());
            return source.map_or(Self::Unknown, |source| {
                Self::Map(UnicodeMap::parse(&source))
            });
        }
        if is_composite
            && !matches!(name(font, b"Encoding"), Some(name) if name.starts_with(b"Uni"))
        {
            return Self::Unknown;
        }
        let encoding = font.get_font_encoding_with_limit(document, MAX_MAP_BYTES);
        encoding.map_or(Self::Unknown, Self::Encoding)
    }
}

impl Widths {
    fn of(&self, code: u32) -> f32 {
        let found = self.ranges.range(..=code).next_back();
        found
            .filter(|(_, (last, _))| code <= *last)
            .map_or(self.other, |(_, (_, width))| *width)
    }

    fn of_simple(document: &Document, font: &Dictionary) -> Self {
        let first = font.get(b"FirstChar").ok();
        let first = first.and_then(|first| code(document, first));
        let mut codes = first.unwrap_or(0)..;
        let list = font
            .get_deref(b"Widths", document)
            .and_then(Object::as_array);
        let widths = list.map(Vec::as_slice).unwrap_or_default().iter();
        let ranges = widths.filter_map(|width| {
            let code = codes.next()?;
            Some((code, (code, float(document, width)? / PER_EM)))
        });
        Self {
            ranges: ranges.collect(),
            other: USUAL_WIDTH,
        }
    }

    /// Reads the widths of a composite font from its only descendant (ISO 32000-1, 9.7.4.3).
    fn of_composite(document: &Document, font: &Dictionary) -> Self {
        let descendants = font.get_deref(b"DescendantFonts", document);
        let descendant = descendants
            .and_then(Object::as_array)
            .ok()
            .and_then(|list| document.dereference(list.first()?).ok())
            .and_then(|(_, descendant)| descendant.as_dict().ok());
        let mut widths = Self {
            ranges: BTreeMap::new(),
            other: 1.0,
        };
        let Some(descendant) = descendant else {
            return widths;
        };
        if let Ok(other) = descendant.get_deref(b"DW", document)
            && let Some(other) = float(document, other)
        {
            widths.other = other / PER_EM;
        }
        if let Ok(list) = descendant.get_deref(b"W", document)
            && let Ok(list) = list.as_array()
        {
            widths.add(document, list);
        }
        widths
    }

    /// Adds `first [width …]` and `first last width`.
    fn add(&mut self, document: &Document, list: &[Object]) {
        let mut items = list.iter();
        while let (Some(first), Some(next)) = (items.next(), items.next()) {
            let Some(first) = code(document, first) else {
                return;
            };
            if let Ok((_, Object::Array(each))) = document.dereference(next) {
                for (code, width) in (first..).zip(each) {
                    if let Some(width) = float(document, width) {
                        self.ranges.insert(code, (code, width / PER_EM));
                    }
                }
                continue;
            }
            let end = code(document, next);
            let width = items.next().and_then(|width| float(document, width));
            let (Some(end), Some(width)) = (end, width) else {
                return;
            };
            self.ranges.insert(first, (end, width / PER_EM));
        }
    }
}

fn code(document: &Document, object: &Object) -> Option<u32> {
    let (_, object) = document.dereference(object).ok()?;
    let number = u32::try_from(object.as_i64().ok()?).ok();
    number.filter(|number| *number <= MAX_CODE)
}

/// Returns a number, which may be in a separate object.
pub(super) fn float(document: &Document, object: &Object) -> Option<f32> {
    let (_, object) = document.dereference(object).ok()?;
    object.as_float().ok().filter(|number| number.is_finite())
}

fn name<'d>(dictionary: &'d Dictionary, key: &[u8]) -> Option<&'d [u8]> {
    dictionary.get(key).and_then(Object::as_name).ok()
}
