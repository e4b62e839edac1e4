//! Decodes bytes to text. The encoding comes from the first of these sources: a byte order mark, the response header,
//! the page's own declaration, UTF-8 if the bytes are valid, and windows-1252, the legacy default (Encoding Standard,
//! WHATWG).

use super::kind::Kind;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The number of bytes in which a page's declaration is searched, as in browsers.
const PRESCAN_BYTES: usize = 1024;

/// Decodes a body. Invalid bytes become U+FFFD.
pub(super) fn decode(body: &[u8], header: Option<&str>, kind: Kind) -> String {
    let named = header.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = named
        .or_else(|| own_word(body, kind))
        .unwrap_or_else(|| guess(body));
    // `decode` itself checks for a byte order mark first.
    encoding.decode(body).0.into_owned()
}

fn own_word(body: &[u8], kind: Kind) -> Option<&'static Encoding> {
    if kind == Kind::Text {
        return None;
    }
    let head = body.get(..body.len().min(PRESCAN_BYTES))?;
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let marker = if head.trim_start().starts_with("<?xml") {
        "encoding"
    } else {
        "charset"
    };
    let (_, after) = head.split_once(marker)?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    let label = value.get(..end.unwrap_or(value.len()))?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A declaration that is readable as ASCII cannot be encoded in UTF-16.
    Some(if encoding.is_ascii_compatible() {
        encoding
    } else {
        UTF_8
    })
}

fn guess(body: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(body) {
        Ok(_) => UTF_8,
        // Valid UTF-8, cut in the middle of a character.
        Err(error) if error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_what_the_bytes_mean() {
        let html = |body: &[u8], header| decode(body, header, Kind::Html);
        assert_eq!(html(b"caf\xe9", Some("iso-8859-1")), "café");
        assert_eq!(html(b"\x8f\xac", Some("shift_jis")), "小");
        assert_eq!(html("\u{feff}é".as_bytes(), Some("koi8-r")), "é");
        assert_eq!(html(b"\xff\xfeh\0i\0", None), "hi");
        assert_eq!(
            html(b"<meta charset=koi8-r>\xf0", None),
            "<meta charset=koi8-r>П"
        );
        let old = b"<meta http-equiv=x content='text/html; charset=\"windows-1251\"'>\xcf";
        assert!(html(old, None).ends_with('П'));
        assert!(html(b"<meta charset=utf-16>\xc3\xa9", None).ends_with('é'));
        let xml = b"<?xml version='1.0' encoding='ISO-8859-2'?>\xb1";
        assert!(decode(xml, None, Kind::Data).ends_with('ą'));
        assert_eq!(html("é".as_bytes(), Some("no-such-set")), "é");
    }

    #[test]
    fn without_a_word_utf_8_where_it_is_valid() {
        let text = |body: &[u8]| decode(body, None, Kind::Text);
        assert_eq!(text("grüß".as_bytes()), "grüß");
        assert_eq!(text(b"gr\xfc\xdf"), "grüß");
        assert_eq!(text(b"ab\xc3"), "ab\u{fffd}");
        assert_eq!(text(b"charset=koi8-r \xc3\xa9"), "charset=koi8-r é");
    }
}
