//! Negotiates the compression: `Accept-Encoding` as defined in RFC 9110 (12.5.3).

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// The encodings of precompressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    /// The encodings, smallest result first.
    pub(super) const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// Returns the name in headers.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the suffix of the file name.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }
}

/// Returns the encodings that the caller prefers to the plain file or accepts equally, best first. A caller that
/// accepts no available encoding gets the plain file.
pub(super) fn preferred(headers: &HeaderMap) -> impl Iterator<Item = Encoding> {
    let wishes = wishes(headers);
    let plain = weight(&wishes, "identity").unwrap_or_default();
    let mut found = Encoding::ALL.map(|encoding| {
        let wanted = weight(&wishes, encoding.name()).unwrap_or_default();
        (wanted, encoding)
    });
    // The sort is stable, so the smaller encoding comes first among equals.
    found.sort_by_key(|(wanted, _)| std::cmp::Reverse(*wanted));
    found
        .into_iter()
        .filter(move |(wanted, _)| *wanted > 0 && *wanted >= plain)
        .map(|(_, encoding)| encoding)
}

/// Returns the requested encodings in lower case, with their weights in thousandths.
fn wishes(headers: &HeaderMap) -> Vec<(String, u16)> {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .filter_map(|wish| {
            let mut parts = wish.split(';').map(str::trim);
            let coding = parts.next().filter(|coding| !coding.is_empty())?;
            let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
            let weight = weight.map_or(Some(1000), thousandths)?;
            Some((coding.to_ascii_lowercase(), weight))
        })
        .collect()
}

fn weight(wishes: &[(String, u16)], name: &str) -> Option<u16> {
    let find = |name: &str| wishes.iter().find(|(coding, _)| coding == name);
    find(name).or_else(|| find("*")).map(|(_, weight)| *weight)
}

/// Parses a weight: `0.5` is 500. An invalid weight is `None`, and its encoding is ignored.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_short = whole.len() == 1 && fraction.len() <= 3;
    if !is_short || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u16 = whole.parse().ok()?;
    let fraction: u16 = format!("{fraction:0<3}").parse().ok()?;
    Some(whole * 1000 + fraction).filter(|weight| *weight <= 1000)
}

#[cfg(test)]
mod tests {
    use super::Encoding::{Brotli, Gzip};
    use super::*;
    use http::HeaderValue;

    fn of(value: &'static str) -> Vec<Encoding> {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        preferred(&headers).collect()
    }

    #[test]
    fn what_browsers_and_programs_send() {
        assert_eq!(of("gzip, deflate, br, zstd"), [Brotli, Gzip]);
        assert_eq!(of("gzip"), [Gzip]);
        assert_eq!(of("deflate"), []);
        assert_eq!(of("identity"), []);
        assert_eq!(of("*"), [Brotli, Gzip]);
        assert_eq!(of(""), []);
        assert_eq!(preferred(&HeaderMap::new()).count(), 0);
    }

    #[test]
    fn weights() {
        assert_eq!(of("br;q=0.5, gzip;q=0.8"), [Gzip, Brotli]);
        assert_eq!(of("br;q=0, *"), [Gzip]);
        assert_eq!(of("BR ; Q=1.000"), [Brotli]);
        assert_eq!(of("gzip;q=0.5, identity"), []);
        assert_eq!(of("gzip;q=0.5, identity;q=0.5"), [Gzip]);
        assert_eq!(of("gzip, identity;q=0, *;q=0"), [Gzip]);
        assert_eq!(of("br;q=0.0, gzip;q=0"), []);
    }

    #[test]
    fn nonsense_names_nothing() {
        for value in [
            "br;q=2",
            "br;q=",
            "br;q=x",
            "br;q=0.1234",
            "br;q=+1",
            "br;q=-1",
            ";;,",
            "brr",
        ] {
            assert_eq!(of(value), [], "{value}");
        }
        assert_eq!(of("br;q=x, gzip"), [Gzip]);
    }

    #[test]
    fn several_lines_are_one_list() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("gzip;q=0.1"));
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("br;q=0.2"));
        assert_eq!(preferred(&headers).collect::<Vec<_>>(), [Brotli, Gzip]);
    }
}
