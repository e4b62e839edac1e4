//! The path check. Refuses every path that the gate and the router could interpret differently, before any
//! other check.

use gatehouse_domain::{ErrorCode, Problem};
use http::Uri;

/// The path of a model. Its ID contains slashes, which `OpenAI`'s clients encode.
const MODEL: &str = "/v1/models/";

/// Refuses doubled slashes, dot segments, `;`, `\`, NUL, encoded `.`, `/` and `\`, and invalid UTF-8. Encoded slashes
/// of a model's ID count as slashes.
pub(super) fn check(uri: &Uri) -> Result<(), Problem> {
    let path = uri.path();
    let is_plain = match path.strip_prefix(MODEL) {
        Some(id) if id.contains('%') => {
            let id = id.replace("%2F", "/").replace("%2f", "/");
            is_plain(&format!("{MODEL}{id}"))
        }
        _ => is_plain(path),
    };
    if is_plain {
        return Ok(());
    }
    let message = "The path is ambiguous: doubled slashes, dot segments and their encodings, `;`, \
                   `\\`, NUL and bytes that are not UTF-8 are refused.";
    Err(Problem::new(ErrorCode::InvalidRequest, message))
}

fn is_plain(path: &str) -> bool {
    let has_odd_byte = path.bytes().any(|byte| matches!(byte, b';' | b'\\' | 0));
    if has_odd_byte || path.contains("//") {
        return false;
    }
    if path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return false;
    }
    !path.contains('%') || decodes_plainly(path)
}

/// Percent-decodes the path. Returns `false` for an invalid escape, a forbidden encoded byte, or invalid
/// UTF-8.
fn decodes_plainly(path: &str) -> bool {
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(bytes.next()), digit(bytes.next())) else {
            return false;
        };
        let Ok(value) = u8::try_from(high * 16 + low) else {
            return false;
        };
        if matches!(value, b'.' | b'/' | b'\\' | b';' | 0) {
            return false;
        }
        decoded.push(value);
    }
    String::from_utf8(decoded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{check, is_plain};

    #[test]
    fn ambiguous_paths_are_refused() {
        for path in [
            "//health",
            "/api//rpc",
            "/./api",
            "/api/../health",
            "/..",
            "/.",
            "/api/%2e%2e/x",
            "/api/%2Fauth",
            "/api%5cauth",
            "/a;b",
            "/a\\b",
            "/%00",
            "/%",
            "/%zz",
            "/%ff",
            "/%e2%82",
            "/%3b",
        ] {
            assert!(!is_plain(path), "{path}");
        }
    }

    #[test]
    fn plain_paths_pass() {
        for path in [
            "/",
            "/api/rpc",
            "/a.b",
            "/...",
            "/.well-known",
            "/%20",
            "/%e2%82%ac",
            "/api/",
        ] {
            assert!(is_plain(path), "{path}");
        }
    }

    #[test]
    fn only_the_id_of_a_model_may_have_encoded_slashes() {
        let is_taken = |path: &str| check(&path.parse().unwrap()).is_ok();
        for path in [
            "/v1/models/agent%2Fdefault",
            "/v1/models/fake%2flab%2Fm2",
            "/v1/models/a/b",
            "/v1/models/caf%C3%A9",
        ] {
            assert!(is_taken(path), "{path}");
        }
        for path in [
            "/v1/models/%2Fx",
            "/v1/models/a%2F%2Fb",
            "/v1/models/a%2F/b",
            "/v1/models/..%2Fx",
            "/v1/models/a%2F..%2F..%2Fapi",
            "/v1/models/a%2F.",
            "/v1/models/a%2F%2E%2E",
            "/v1/models/a%5Cb",
            "/v1/models/a%00",
            "/v1/models%2Fx",
            "/v1/chat%2Fcompletions",
            "/api/%2Fauth",
        ] {
            assert!(!is_taken(path), "{path}");
        }
    }
}
