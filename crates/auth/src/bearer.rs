//! Extracts a request's Bearer token without validating it.

use http::{HeaderMap, HeaderValue, header};

/// The maximum length of a token. Gatehouse's own tokens have 46 characters.
const MAX_TOKEN_BYTES: usize = 512;

/// Returns the token of a single `Authorization: Bearer <token>` header (RFC 6750). Returns `None`
/// for several Authorization headers, another scheme or a malformed token.
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let bytes = all.next().map(HeaderValue::as_bytes)?;
    if all.next().is_some() {
        return None;
    }
    let (scheme, rest) = bytes.split_at_checked(b"Bearer ".len())?;
    if !scheme.eq_ignore_ascii_case(b"Bearer ") {
        return None;
    }
    let token = std::str::from_utf8(rest).ok()?.trim_matches(' ');
    let fits = (1..=MAX_TOKEN_BYTES).contains(&token.len());
    (fits && token.bytes().all(is_token68)).then_some(token)
}

fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                "authorization",
                HeaderValue::from_bytes(line.as_bytes()).unwrap(),
            );
        }
        bearer_token(&headers).map(str::to_owned)
    }

    #[test]
    fn one_token_after_the_scheme_in_any_case() {
        for line in [
            "Bearer mk_a-Z_9",
            "bearer mk_a-Z_9",
            "BEARER   mk_a-Z_9",
            "Bearer mk_a-Z_9 ",
        ] {
            assert_eq!(found(&[line]).as_deref(), Some("mk_a-Z_9"), "{line}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for line in [
            "",
            "Bearer",
            "Bearer ",
            "Bearermk_a",
            "Basic bWs=",
            "Token mk_a",
            "mk_a",
            "Bearer mk_a mk_b",
            "Bearer mk_a,mk_b",
            "Bearer\tmk_a",
            "Bearer \"mk_a\"",
            "Bearer mk_é",
            "Bearer, Bearer mk_a",
        ] {
            assert_eq!(found(&[line]), None, "{line}");
        }
        assert_eq!(found(&[]), None);
        assert_eq!(found(&["Bearer mk_a", "Bearer mk_a"]), None);
        assert_eq!(found(&["Basic bWs=", "Bearer mk_a"]), None);
    }

    #[test]
    fn the_longest_token_fits_and_one_more_does_not() {
        let line = |length| format!("Bearer {}", "a".repeat(length));
        assert!(found(&[&line(MAX_TOKEN_BYTES)]).is_some());
        assert!(found(&[&line(MAX_TOKEN_BYTES + 1)]).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            if let Ok(value) = HeaderValue::from_bytes(&[b"Bearer ", &bytes[..]].concat()) {
                let mut headers = HeaderMap::new();
                headers.insert("authorization", value);
                let token = bearer_token(&headers);
                prop_assert!(token.is_none_or(|t| !t.is_empty() && t.bytes().all(is_token68)));
            }
        }
    }
}
