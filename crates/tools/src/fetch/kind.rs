//! Detects the kind of a response from its content type, or from its first bytes if there is none.

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
}

/// Whether a content type is unspecific.
pub(super) fn is_unspecific(header: &str) -> bool {
    let essence = header.split(';').next().unwrap_or_default().trim();
    ["application/octet-stream", "binary/octet-stream"]
        .iter()
        .any(|unspecific| essence.eq_ignore_ascii_case(unspecific))
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

/// Guesses the kind of bytes without a content type.
pub(super) fn of_bytes(body: &[u8]) -> Option<Kind> {
    let head = body.get(..body.len().min(1024)).unwrap_or_default();
    if head.starts_with(b"%PDF-") {
        return Some(Kind::Pdf);
    }
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
        assert_eq!(of_bytes(b" \n<!DOCTYPE html><p>"), Some(Kind::Html));
        assert_eq!(of_bytes(b"hello"), Some(Kind::Text));
        assert_eq!(of_bytes(b""), Some(Kind::Text));
        assert_eq!(of_bytes(b"\x89PNG\0\0"), None);
        assert_eq!(of_bytes(b"%PDF-1.7\n%\0"), Some(Kind::Pdf));
    }
}
