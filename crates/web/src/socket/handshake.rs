//! The opening handshake of a WebSocket (RFC 6455, section 4.2).

use axum::body::Body;
use axum::response::Response;
use gatehouse_domain::{ErrorCode, Problem};
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

fn has_word(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    headers.get_all(name).iter().any(|line| {
        line.to_str().is_ok_and(|line| {
            line.split(',')
                .any(|part| part.trim().eq_ignore_ascii_case(word))
        })
    })
}

/// Returns the 101 response, or the reason for a refusal.
pub(super) fn answer(method: &Method, headers: &HeaderMap) -> Result<Response, Problem> {
    let invalid = |message: &str| Problem::new(ErrorCode::InvalidRequest, message);
    let is_upgrade = method == Method::GET
        && has_word(headers, CONNECTION, "upgrade")
        && has_word(headers, UPGRADE, "websocket");
    if !is_upgrade {
        return Err(invalid(
            "This is a WebSocket endpoint; connect with a WebSocket client.",
        ));
    }
    if headers
        .get(SEC_WEBSOCKET_VERSION)
        .is_none_or(|version| version.as_bytes() != b"13")
    {
        return Err(invalid(
            "Only version 13 of the WebSocket protocol is supported.",
        ));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    let key = key.ok_or_else(|| invalid("The header Sec-WebSocket-Key is missing or invalid."))?;
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()))
        .map_err(|_| Problem::internal())?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response
        .headers_mut()
        .insert(UPGRADE, HeaderValue::from_static("websocket"));
    response.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    const GOOD: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    #[test]
    fn the_accept_key_is_that_of_the_standard_s_example() {
        // The example is from RFC 6455, section 1.3.
        let response = answer(&Method::GET, &headers(&GOOD)).unwrap();
        assert_eq!(
            response.headers()["sec-websocket-accept"],
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
    }

    #[test]
    fn each_header_is_needed() {
        for missing in GOOD {
            let some: Vec<_> = GOOD.into_iter().filter(|pair| *pair != missing).collect();
            assert!(
                answer(&Method::GET, &headers(&some)).is_err(),
                "without {missing:?}"
            );
        }
        assert!(answer(&Method::POST, &headers(&GOOD)).is_err());
    }
}
