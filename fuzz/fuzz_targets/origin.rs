//! The cross-site check: a WebSocket upgrade or an unsafe method with an Origin passes only if a host that it
//! may equal was sent too.
#![no_main]

use gatehouse_auth::cross_site::{
    CrossSiteRequest, OriginSettings, check, loopback_or_known_origin,
};
use http::{Method, Uri};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (choice, rest) = gatehouse_fuzz::split(bytes);
    let names = ["origin", "host", "x-forwarded-host", "sec-fetch-site"];
    let headers = gatehouse_fuzz::headers(rest, &names);
    let settings = OriginSettings {
        allowed_origins: match choice & 1 {
            0 => Vec::new(),
            _ => vec!["https://chat.example.com".parse().expect("an origin")],
        },
        external_url: None,
    };
    let method = if choice & 2 == 0 {
        Method::POST
    } else {
        Method::GET
    };
    let request = CrossSiteRequest {
        method: &method,
        uri: &Uri::from_static("/api/auth/logout"),
        headers: &headers,
        is_upgrade: choice & 4 != 0,
        is_https: choice & 32 != 0,
        has_bearer: choice & 8 != 0,
        has_session_cookie: choice & 16 != 0,
    };
    let passed = check(&request, &settings).is_ok();
    let is_safe = method.is_safe() && !request.is_upgrade;
    let is_exempt = request.has_bearer && !request.has_session_cookie;
    if is_safe || is_exempt {
        assert!(passed);
    } else if let Some(origin) = headers.get("origin") {
        let compared = headers.contains_key("host")
            || headers.contains_key("x-forwarded-host")
            || !settings.allowed_origins.is_empty();
        assert!(!passed || (compared && origin.as_bytes() != b"null"));
    }
    let _ = loopback_or_known_origin(&headers, &settings);
});
