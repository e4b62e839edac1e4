//! The cross-site check, by origin and host.

use super::*;
use http::HeaderName;
use proptest::prelude::*;

fn map(headers: &[(&str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    map
}

fn settings() -> OriginSettings {
    OriginSettings {
        allowed_origins: ["https://app.example.com", "tools.example.com:8443"]
            .map(|text| text.parse().unwrap())
            .to_vec(),
        external_url: Some("https://gate.example.com/".parse().unwrap()),
    }
}

fn request<'a>(method: &'a Method, uri: &'a Uri, headers: &'a HeaderMap) -> CrossSiteRequest<'a> {
    let (has_bearer, has_session_cookie) = (false, false);
    CrossSiteRequest {
        method,
        uri,
        headers,
        is_upgrade: false,
        is_https: false,
        has_bearer,
        has_session_cookie,
    }
}

fn post(headers: &[(&str, &str)]) -> OriginVerdict {
    let uri = Uri::from_static("/api/auth/login");
    check(&request(&Method::POST, &uri, &map(headers)), &settings())
}

#[test]
fn the_same_host_and_port_may_post() {
    for (origin, host) in [
        ("http://gate.lan:8420", "gate.lan:8420"),
        ("http://GATE.lan:8420", "gate.LAN.:8420"),
        ("https://gate.lan", "gate.lan"),
        ("https://gate.lan", "gate.lan:443"),
        ("https://gate.lan:443", "gate.lan"),
        ("http://gate.lan", "gate.lan:80"),
        ("http://[2001:db8::1]:8420", "[2001:DB8:0::1]:8420"),
        ("http://localhost:8420", "127.0.0.1:8420"),
        ("http://127.0.0.1:8420", "[::1]:8420"),
        ("http://gate.localhost:8420", "localhost:8420"),
    ] {
        assert_eq!(
            post(&[("origin", origin), ("host", host)]),
            Ok(()),
            "{origin} {host}"
        );
    }
}

#[test]
fn another_host_or_port_may_not() {
    for (origin, host) in [
        ("https://evil.com", "gate.lan"),
        ("http://gate.lan:8421", "gate.lan:8420"),
        ("https://gate.lan", "gate.lan:80"),
        ("http://gate.lan", "gate.lan:443"),
        ("http://gate.lan", "gate.lan:8420"),
        ("http://localhost:3000", "localhost:8420"),
        ("http://localhost", "127.0.0.1:8420"),
        ("http://localhost.evil.com:8420", "localhost:8420"),
        ("http://evil.gate.lan", "gate.lan"),
        ("http://gate.lan", ""),
        ("app://gate.lan", "gate.lan:80"),
    ] {
        let refused = Err(OriginRefusal::Foreign);
        assert_eq!(
            post(&[("origin", origin), ("host", host)]),
            refused,
            "{origin} {host}"
        );
    }
    assert_eq!(
        post(&[("origin", "http://gate.lan")]),
        Err(OriginRefusal::Foreign),
        "no Host"
    );
}

#[test]
fn over_tls_a_page_without_it_is_another_site() {
    let uri = Uri::from_static("/api/auth/login");
    let over_tls = |headers: &[(&str, &str)]| {
        let headers = map(headers);
        let request = CrossSiteRequest {
            is_https: true,
            ..request(&Method::POST, &uri, &headers)
        };
        check(&request, &settings())
    };
    for (origin, host, passes) in [
        ("https://gate.lan", "gate.lan", true),
        ("HTTPS://gate.lan:8420", "gate.lan:8420", true),
        ("http://gate.lan", "gate.lan", false),
        ("http://gate.lan:8420", "gate.lan:8420", false),
        ("http://localhost:8420", "localhost:8420", false),
        ("https://localhost:8420", "127.0.0.1:8420", true),
        // An allowed origin specifies its own scheme.
        ("http://tools.example.com:8443", "gate.lan", true),
    ] {
        let verdict = over_tls(&[("origin", origin), ("host", host)]);
        assert_eq!(verdict.is_ok(), passes, "{origin} {host}");
    }
    let forwarded = [
        ("origin", "http://gate.lan"),
        ("host", "internal"),
        ("x-forwarded-host", "gate.lan"),
    ];
    assert_eq!(over_tls(&forwarded), Err(OriginRefusal::Foreign));
}

#[test]
fn an_origin_that_names_no_page_may_not() {
    for origin in [
        "null",
        "",
        "gate.lan",
        "http://",
        "http://gate.lan/",
        "http://gate.lan/x",
        "//gate.lan",
        "http://user@gate.lan",
        "http://gate.lan:99999",
        "http://gate.lan http://gate.lan",
        "1http://gate.lan",
        "http://\u{e9}",
    ] {
        let refused = Err(OriginRefusal::Opaque);
        assert_eq!(
            post(&[("origin", origin), ("host", "gate.lan")]),
            refused,
            "{origin}"
        );
    }
    let twice = [
        ("origin", "http://gate.lan"),
        ("origin", "http://gate.lan"),
        ("host", "gate.lan"),
    ];
    assert_eq!(post(&twice), Err(OriginRefusal::Opaque));
    assert_eq!(
        Problem::from(OriginRefusal::Opaque).code,
        ErrorCode::Forbidden
    );
}

#[test]
fn no_origin_is_no_browser_unless_it_says_otherwise() {
    assert_eq!(post(&[("host", "gate.lan")]), Ok(()));
    for (site, verdict) in [
        ("cross-site", Err(OriginRefusal::CrossSiteFetch)),
        ("Cross-Site", Err(OriginRefusal::CrossSiteFetch)),
        ("same-site", Ok(())),
        ("same-origin", Ok(())),
        ("none", Ok(())),
    ] {
        assert_eq!(
            post(&[("host", "gate.lan"), ("sec-fetch-site", site)]),
            verdict,
            "{site}"
        );
    }
    let allowed = [
        ("origin", "https://app.example.com"),
        ("sec-fetch-site", "cross-site"),
    ];
    assert_eq!(post(&allowed), Ok(()));
}

#[test]
fn a_forwarded_host_counts_as_host() {
    let behind = |origin, hosts: &[&str]| {
        let mut headers = vec![("origin", origin), ("host", "10.0.0.5:8420")];
        headers.extend(hosts.iter().map(|host| ("x-forwarded-host", *host)));
        post(&headers)
    };
    assert_eq!(behind("https://gate.io", &["gate.io"]), Ok(()));
    assert_eq!(
        behind("https://gate.io", &["other.io , gate.io:443"]),
        Ok(())
    );
    assert_eq!(behind("https://gate.io", &["other.io", "gate.io"]), Ok(()));
    assert_eq!(
        behind("https://gate.io", &["other.io", ""]),
        Err(OriginRefusal::Foreign)
    );
    assert_eq!(
        behind("https://gate.io", &["gate.io:80"]),
        Err(OriginRefusal::Foreign)
    );
}

#[test]
fn an_allowed_origin_needs_its_scheme_where_it_names_one() {
    let from = |origin| post(&[("origin", origin), ("host", "gate.lan")]);
    assert_eq!(from("https://app.example.com"), Ok(()));
    assert_eq!(from("https://app.example.com:443"), Ok(()));
    assert_eq!(
        from("http://app.example.com:443"),
        Err(OriginRefusal::Foreign)
    );
    assert_eq!(from("http://app.example.com"), Err(OriginRefusal::Foreign));
    assert_eq!(from("http://tools.example.com:8443"), Ok(()));
    assert_eq!(
        from("https://tools.example.com"),
        Err(OriginRefusal::Foreign)
    );
    assert_eq!(
        from("https://gate.example.com"),
        Err(OriginRefusal::Foreign),
        "external_url"
    );
    for bad in [
        "",
        "*",
        "https://",
        "https://a/b",
        "://a",
        "https://a@b",
        "null,x",
    ] {
        assert!(bad.parse::<AllowedOrigin>().is_err(), "{bad}");
    }
}

#[test]
fn safe_methods_pass_but_not_as_upgrades() {
    let headers = map(&[("origin", "https://evil.com"), ("host", "gate.lan")]);
    let uri = Uri::from_static("/ws");
    for (method, upgrade, passes) in [
        (Method::GET, false, true),
        (Method::HEAD, false, true),
        (Method::OPTIONS, false, true),
        (Method::GET, true, false),
        (Method::POST, false, false),
        (Method::PUT, false, false),
        (Method::PATCH, false, false),
        (Method::DELETE, false, false),
        (Method::CONNECT, false, false),
    ] {
        let request = CrossSiteRequest {
            is_upgrade: upgrade,
            ..request(&method, &uri, &headers)
        };
        assert_eq!(
            check(&request, &settings()).is_ok(),
            passes,
            "{method} {upgrade}"
        );
    }
}

#[test]
fn bearer_without_cookie_and_ingest_are_exempt() {
    let headers = map(&[("origin", "null"), ("host", "gate.lan")]);
    let uri = Uri::from_static("/api/auth/api-keys");
    for (has_bearer, has_session_cookie, passes) in [
        (true, false, true),
        (true, true, false),
        (false, true, false),
        (false, false, false),
    ] {
        let request = CrossSiteRequest {
            has_bearer,
            has_session_cookie,
            ..request(&Method::POST, &uri, &headers)
        };
        assert_eq!(check(&request, &settings()).is_ok(), passes, "{has_bearer}");
    }
    let ingest = Uri::from_static("/api/webhooks/ingest/wh_1?x=1");
    assert!(check(&request(&Method::POST, &ingest, &headers), &settings()).is_ok());
    assert!(check(&request(&Method::PUT, &ingest, &headers), &settings()).is_err());
}

#[test]
fn a_bearer_token_does_not_exempt_mcp() {
    let uri = Uri::from_static("/mcp");
    for (origin, passes) in [
        (None, true),
        (Some("http://gate.lan"), true),
        (Some("http://evil.example"), false),
        (Some("null"), false),
    ] {
        let origin = origin.map(|origin| ("origin", origin));
        let headers: Vec<_> = [("host", "gate.lan")].into_iter().chain(origin).collect();
        let headers = map(&headers);
        let request = CrossSiteRequest {
            has_bearer: true,
            ..request(&Method::POST, &uri, &headers)
        };
        assert_eq!(check(&request, &settings()).is_ok(), passes, "{origin:?}");
    }
}

#[test]
fn without_auth_only_known_names_may_be_the_page() {
    let from = |origin| loopback_or_known_origin(&map(&[("origin", origin)]), &settings());
    for origin in [
        "http://localhost:8420",
        "http://gate.localhost",
        "http://127.0.0.1:1",
        "http://192.168.1.5:8420",
        "http://[2001:db8::1]",
        "https://gate.example.com",
        "https://app.example.com",
        "http://tools.example.com:8443",
    ] {
        assert_eq!(from(origin), Ok(()), "{origin}");
    }
    for origin in [
        "http://evil.com:8420",
        "http://localhost.evil.com",
        "http://127.0.0.1.nip.io",
    ] {
        assert_eq!(from(origin), Err(OriginRefusal::Foreign), "{origin}");
    }
    assert_eq!(from("null"), Err(OriginRefusal::Opaque));
    assert_eq!(from("http://0x7f.1"), Err(OriginRefusal::Opaque));
    assert_eq!(
        loopback_or_known_origin(&HeaderMap::new(), &settings()),
        Ok(())
    );
}

proptest! {
    #[test]
    fn any_bytes_are_decided(
        origin in proptest::collection::vec(any::<u8>(), 0..30),
        host in proptest::collection::vec(any::<u8>(), 0..30),
    ) {
        let mut headers = HeaderMap::new();
        for (name, bytes) in [("origin", &origin), ("host", &host), ("x-forwarded-host", &host)] {
            if let Ok(value) = HeaderValue::from_bytes(bytes) {
                headers.insert(name, value);
            }
        }
        let uri = Uri::from_static("/x");
        let _ = check(&request(&Method::POST, &uri, &headers), &settings());
        let _ = loopback_or_known_origin(&headers, &settings());
    }

    #[test]
    fn an_origin_is_always_its_own_host(host in "[a-z]{1,8}(\\.[a-z]{1,8}){0,2}(:[1-9][0-9]{0,3})?") {
        let origin = format!("https://{host}");
        prop_assert_eq!(post(&[("origin", &origin), ("host", &host)]), Ok(()));
        let foreign = format!("https://x{host}");
        prop_assert_eq!(post(&[("origin", &foreign), ("host", &host)]), Err(OriginRefusal::Foreign));
    }
}
