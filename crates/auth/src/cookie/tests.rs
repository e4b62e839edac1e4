//! Tests of the parent module.

use super::*;
use crate::host::Authority;
use proptest::prelude::*;

fn values(lines: &[&str]) -> Vec<String> {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
    }
    assert_eq!(
        has_session_cookie(&headers),
        session_values(&headers).next().is_some()
    );
    session_values(&headers).map(str::to_owned).collect()
}

#[test]
fn values_are_found_among_other_cookies() {
    assert_eq!(values(&["service_session=a-Z_9"]), ["a-Z_9"]);
    assert_eq!(
        values(&["x=1; service_session=a; y=2;service_session=b"]),
        ["a", "b"]
    );
    assert_eq!(values(&["x=\u{e9}; service_session=a"]), ["a"]);
    assert_eq!(values(&["service_session=\"a\""]), ["a"]);
    assert_eq!(
        values(&["service_session=a", "service_session=b"]),
        ["a", "b"]
    );
}

#[test]
fn what_is_no_session_value_is_passed_over() {
    for line in [
        "",
        ";",
        "service_session",
        "service_session=",
        "service_session=\"\"",
        "Service_Session=a",
        "xservice_session=a",
        "service_sessionx=a",
        "service_session = a",
        "service_session=a b",
        "service_session=a=b",
        "service_session=\"a",
        "service_session=\u{e9}",
        "__Host-service_session=a",
    ] {
        assert_eq!(values(&[line]), [""; 0], "{line}");
    }
    let sized = |length| format!("service_session={}", "a".repeat(length));
    assert_eq!(values(&[&sized(MAX_VALUE_BYTES)]).len(), 1);
    assert_eq!(values(&[&sized(MAX_VALUE_BYTES + 1)]).len(), 0);
}

#[test]
fn every_value_is_read() {
    let planted: Vec<_> = (0..1000).map(|n| format!("service_session=v{n}")).collect();
    let planted = planted.join(";");
    let found = values(&[&planted, "service_session=ours"]);
    assert_eq!(found.len(), 1001);
    assert_eq!(found.last().map(String::as_str), Some("ours"));
}

fn form(host: &str, https: bool) -> CookieForm {
    CookieForm::of(
        &HostFinding::Found(Authority::parse(host.as_bytes()).unwrap()),
        https,
    )
}

#[test]
fn the_set_cookie_line_is_exactly_this() {
    let set = |host, https| {
        let value = set_session("tok", form(host, https)).unwrap();
        assert!(value.is_sensitive());
        value.to_str().unwrap().to_owned()
    };
    let plain = "service_session=tok; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000";
    for host in [
        "localhost:8420",
        "127.0.0.1",
        "[::1]",
        "example.com",
        "notlocalhost",
    ] {
        assert_eq!(set(host, false), plain, "{host}");
        assert_eq!(set(host, true), format!("{plain}; Secure"));
    }
    assert_eq!(
        set("gate.LOCALHOST.:8420", false),
        format!("{plain}; Domain=localhost")
    );
    assert_eq!(
        set("gate.localhost", true),
        format!("{plain}; Secure; Domain=localhost")
    );
    for finding in [HostFinding::Absent, HostFinding::Unparsable] {
        assert!(!CookieForm::of(&finding, false).domain_localhost);
    }
    assert!(set_session("a\r\nb", form("localhost", false)).is_err());
}

#[test]
fn clearing_clears_both_forms() {
    for secure in [false, true] {
        let expected = [false, true].map(|domain_localhost| {
            line(
                "",
                0,
                CookieForm {
                    secure,
                    domain_localhost,
                },
            )
            .unwrap()
        });
        assert_eq!(clear_session(secure), expected);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let joined = [b"service_session=", &bytes[..]].concat();
        if let Ok(value) = HeaderValue::from_bytes(&joined) {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, value);
            for found in session_values(&headers) {
                prop_assert!(joined.windows(found.len()).any(|w| w == found.as_bytes()));
            }
        }
    }
}
