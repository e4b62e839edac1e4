//! Entity tags.

use http::HeaderMap;
use http::header::IF_NONE_MATCH;

/// Returns whether `If-None-Match` contains the tag. Uses the weak comparison (RFC 9110, 13.1.2), because a proxy that
/// compresses a response weakens its tag.
pub(crate) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter();
    let mut known = known.filter_map(|value| value.to_str().ok());
    known.any(|tags| {
        let mut tags = tags.split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn one_of_several_weak_or_any() {
        let is_known = |value: &'static str| {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_static(value))]);
            is_known(&headers, "\"a\"")
        };
        for value in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"] {
            assert!(is_known(value), "{value}");
        }
        for value in ["", "a", "\"b\"", "\"ab\"", "w/\"a\""] {
            assert!(!is_known(value), "{value}");
        }
        assert!(!super::is_known(&HeaderMap::new(), "\"a\""));
    }
}
