//! Detects the kind of a response. Images and archives are detected by their first bytes. Other kinds are detected by
//! the content type, or by the first bytes if there is none.

use crate::files;

/// The supported kinds of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// HTML, which is converted to text.
    Html,
    /// Any other text.
    Text,
    /// JSON or XML, returned unchanged.
    Data,
    /// PDF, whose text is extracted.
    Pdf,
    /// An image, which becomes a file of the answer.
    Image,
    /// A ZIP archive, whose text is extracted if it is an office document.
    Archive,
}

impl Kind {
    /// Returns whether a body of this kind is useless without its end.
    pub(super) fn is_file(self) -> bool {
        matches!(self, Self::Pdf | Self::Image | Self::Archive)
    }
}

/// Returns whether a body with this content type may be an image or a document. Servers use various types for
/// documents.
pub(super) fn may_be_file(header: &str) -> bool {
    let essence = header.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    let (kind, _) = essence.split_once('/').unwrap_or_default();
    matches!(kind, "image" | "application") || essence == "binary/octet-stream"
}

/// Parses a content type into its kind, if supported, and its character set.
pub(super) fn of_content_type(header: &str) -> (Option<Kind>, Option<String>) {
    let (essence, parameters) = header.split_once(';').unwrap_or((header, ""));
    let essence = essence.trim().to_ascii_lowercase();
    let kind = match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Some(Kind::Html),
        "application/json" | "application/xml" | "text/xml" | "application/x-ndjson" => {
            Some(Kind::Data)
        }
        "application/pdf" | "application/x-pdf" => Some(Kind::Pdf),
        other if other.ends_with("+json") || other.ends_with("+xml") => Some(Kind::Data),
        other if other.starts_with("text/") => Some(Kind::Text),
        _ => None,
    };
    let charset = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.to_owned())
    });
    (kind, charset)
}

/// Returns the kind of a file by its first bytes, independent of the content type.
pub(super) fn of_file(body: &[u8]) -> Option<Kind> {
    if body.starts_with(b"%PDF-") {
        Some(Kind::Pdf)
    } else if files::is_image(body) {
        Some(Kind::Image)
    } else if files::is_archive(body) {
        Some(Kind::Archive)
    } else {
        None
    }
}

/// Guesses the kind of text without a content type.
pub(super) fn of_text(body: &[u8]) -> Option<Kind> {
    let head = body.get(..body.len().min(1024)).unwrap_or_default();
    if head.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(head)
        .trim_start()
        .to_ascii_lowercase();
    let html = text.starts_with("<!doctype html") || text.starts_with("<html");
    Some(if html { Kind::Html } else { Kind::Text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types() {
        for (header, kind, charset) in [
            ("text/html", Some(Kind::Html), None),
            (
                "Text/HTML; Charset=\"ISO-8859-1\"",
                Some(Kind::Html),
                Some("ISO-8859-1"),
            ),
            (
                "application/xhtml+xml;a=b; charset = utf-8",
                Some(Kind::Html),
                Some("utf-8"),
            ),
            (
                "text/plain; charset=koi8-r",
                Some(Kind::Text),
                Some("koi8-r"),
            ),
            ("text/markdown", Some(Kind::Text), None),
            ("application/ld+json", Some(Kind::Data), None),
            ("image/svg+xml", Some(Kind::Data), None),
            ("application/json", Some(Kind::Data), None),
            ("image/png", None, None),
            ("application/octet-stream", None, None),
            ("application/pdf", Some(Kind::Pdf), None),
            ("", None, None),
        ] {
            let (got, set) = of_content_type(header);
            assert_eq!((got, set.as_deref()), (kind, charset), "{header}");
        }
    }

    #[test]
    fn bytes_without_a_type() {
        assert_eq!(of_text(b" \n<!DOCTYPE html><p>"), Some(Kind::Html));
        assert_eq!(of_text(b"hello"), Some(Kind::Text));
        assert_eq!(of_text(b""), Some(Kind::Text));
        assert_eq!(of_text(b"\x7fELF\0\0"), None);
    }

    #[test]
    fn files_by_their_first_bytes() {
        for (body, kind) in [
            (&b"%PDF-1.7\n%\0"[..], Some(Kind::Pdf)),
            (b"\x89PNG\r\n\x1a\n\0", Some(Kind::Image)),
            (b"\xff\xd8\xff\xe0", Some(Kind::Image)),
            (b"RIFF\x04\0\0\0WEBP", Some(Kind::Image)),
            // GIF images are not read, but the error names the format.
            (b"GIF89a", Some(Kind::Image)),
            (b"PK\x03\x04", Some(Kind::Archive)),
            (b"<html>", None),
            (b"PNG", None),
            (b"", None),
        ] {
            assert_eq!(of_file(body), kind, "{body:?}");
        }
    }

    #[test]
    fn types_of_bodies_that_may_be_files() {
        for (header, may) in [
            ("image/png", true),
            ("Image/WebP; q=1", true),
            ("application/octet-stream", true),
            ("binary/octet-stream", true),
            ("application/msword", true),
            ("application/vnd.oasis.opendocument.text", true),
            ("application", false),
            ("video/mp4", false),
            ("font/woff2", false),
            ("", false),
        ] {
            assert_eq!(may_be_file(header), may, "{header}");
        }
    }
}
