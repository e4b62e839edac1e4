//! Finds the type of a file from its content.

use encoding_rs::{UTF_16BE, UTF_16LE};
use image::ImageFormat;
use std::borrow::Cow;

/// The maximum distance of a PDF's mark from the beginning of the file. PDF readers accept the same
/// distance.
const PDF_WITHIN: usize = 1024;

/// The type of a file.
#[derive(Debug, PartialEq)]
pub(super) enum Kind<'a> {
    Empty,
    /// JPEG, PNG or WebP.
    Image(ImageFormat),
    /// The name of the format.
    OtherImage(&'static str),
    Pdf,
    /// Text, including source code, HTML and SVG.
    Text(Cow<'a, str>),
    /// A ZIP archive, including office documents.
    Zip,
    Other,
}

pub(super) fn kind_of(data: &[u8]) -> Kind<'_> {
    if data.is_empty() {
        return Kind::Empty;
    }
    if let Some(image) = image_of(data) {
        return image;
    }
    let beginning = data.get(..PDF_WITHIN.min(data.len())).unwrap_or_default();
    if beginning.windows(5).any(|part| part == b"%PDF-") {
        return Kind::Pdf;
    }
    if is_zip(data) {
        return Kind::Zip;
    }
    text_of(data).map_or(Kind::Other, Kind::Text)
}

/// Returns [`Kind::Image`] or [`Kind::OtherImage`] if the data begins like an image.
pub(super) fn image_of(data: &[u8]) -> Option<Kind<'static>> {
    let starts = |with: &[u8]| data.starts_with(with);
    let at = |place: usize, is: &[u8]| data.get(place..).is_some_and(|rest| rest.starts_with(is));
    if starts(b"\x89PNG\r\n\x1a\n") {
        return Some(Kind::Image(ImageFormat::Png));
    }
    if starts(b"\xff\xd8\xff") {
        return Some(Kind::Image(ImageFormat::Jpeg));
    }
    if starts(b"RIFF") && at(8, b"WEBP") {
        return Some(Kind::Image(ImageFormat::WebP));
    }
    other_image(data).map(Kind::OtherImage)
}

pub(super) fn is_zip(data: &[u8]) -> bool {
    data.starts_with(b"PK\x03\x04")
}

/// Returns the name of an image format that is recognized but not read. Text formats are not
/// included.
fn other_image(data: &[u8]) -> Option<&'static str> {
    if data.starts_with(b"GIF87a") || data.starts_with(b"GIF89a") {
        return Some("GIF");
    }
    if data.starts_with(b"II*\0") || data.starts_with(b"MM\0*") {
        return Some("TIFF");
    }
    // In every version of BMP, the size of the next header is small.
    if data.starts_with(b"BM") && data.get(15..18) == Some(&[0, 0, 0]) {
        return Some("BMP");
    }
    // ISO base media file format: the brand follows `ftyp`.
    if data.get(4..8) == Some(b"ftyp") {
        return match data.get(8..12)? {
            b"avif" | b"avis" => Some("AVIF"),
            b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => {
                Some("HEIC")
            }
            _ => None,
        };
    }
    None
}

/// Returns the text if the data is UTF-8, or UTF-16 with a byte order mark, without control
/// characters of binary files.
fn text_of(data: &[u8]) -> Option<Cow<'_, str>> {
    let text = if data.starts_with(b"\xff\xfe") {
        UTF_16LE.decode_without_bom_handling_and_without_replacement(data.get(2..)?)?
    } else if data.starts_with(b"\xfe\xff") {
        UTF_16BE.decode_without_bom_handling_and_without_replacement(data.get(2..)?)?
    } else {
        let text = str::from_utf8(data).ok()?;
        Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text))
    };
    // Terminal escapes and form feeds occur in logs and source code.
    let is_binary = |c: char| {
        c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}' | '\u{8}')
    };
    (!text.contains(is_binary)).then_some(text)
}
