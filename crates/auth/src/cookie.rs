//! The session cookie: parses its values from a request and builds the Set-Cookie lines of a
//! response. Does not know whether a value is a live session.

use crate::host::HostFinding;
use http::header::{COOKIE, InvalidHeaderValue};
use http::{HeaderMap, HeaderValue};

/// The name of the session cookie.
pub const SESSION_COOKIE: &str = "service_session";
/// The maximum length of a value. Gatehouse's own have 43 characters.
const MAX_VALUE_BYTES: usize = 128;
/// Thirty days, the lifetime of a session.
const MAX_AGE_SECONDS: u32 = 2_592_000;

/// All session values of a request, in order. A sibling host or another port may have planted its
/// own before ours, so callers must check all of them. Only the header size limit bounds their
/// number.
pub fn session_values(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(COOKIE)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b';'))
        .filter_map(session_value)
}

/// The unparsed session cookies of a request.
#[derive(Clone, Copy, Debug)]
pub struct SessionCookies<'a>(Option<&'a HeaderMap>);

impl<'a> SessionCookies<'a> {
    pub const fn of(headers: &'a HeaderMap) -> Self {
        Self(Some(headers))
    }

    pub const fn none() -> Self {
        Self(None)
    }

    /// The values, in order.
    pub fn values(self) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flat_map(session_values)
    }
}

/// Whether the request has a session cookie.
pub fn has_session_cookie(headers: &HeaderMap) -> bool {
    session_values(headers).next().is_some()
}

fn session_value(pair: &[u8]) -> Option<&str> {
    let value = pair
        .trim_ascii()
        .strip_prefix(SESSION_COOKIE.as_bytes())?
        .strip_prefix(b"=")?;
    let bare = value
        .strip_prefix(b"\"")
        .and_then(|v| v.strip_suffix(b"\""))
        .unwrap_or(value);
    let fits = (1..=MAX_VALUE_BYTES).contains(&bare.len());
    let ours = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    (fits && bare.iter().all(ours))
        .then(|| std::str::from_utf8(bare).ok())
        .flatten()
}

/// The cookie attributes that depend on the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieForm {
    /// Whether the request used TLS, directly or through a trusted proxy.
    pub secure: bool,
    /// Whether the host is a name below `localhost`. All loopback names share the cookie.
    pub domain_localhost: bool,
}

impl CookieForm {
    /// The attributes for a response to a request for this host.
    pub fn of(host: &HostFinding<'_>, is_https: bool) -> Self {
        let under = host
            .authority()
            .is_some_and(|authority| authority.host.is_under_localhost());
        Self {
            secure: is_https,
            domain_localhost: under,
        }
    }
}

/// The Set-Cookie value for this session. Fails only if the token contains bytes that are not
/// allowed in a header; Gatehouse's own are base64url.
pub fn set_session(token: &str, form: CookieForm) -> Result<HeaderValue, InvalidHeaderValue> {
    line(token, MAX_AGE_SECONDS, form)
}

/// The two Set-Cookie values that delete the session cookie: one host-only and one for all of
/// `localhost`. The browser may have either, from a login at another loopback name.
pub fn clear_session(is_https: bool) -> [HeaderValue; 2] {
    if is_https {
        [
            HeaderValue::from_static(
                "service_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure",
            ),
            HeaderValue::from_static(
                "service_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure; Domain=localhost",
            ),
        ]
    } else {
        [
            HeaderValue::from_static(
                "service_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0",
            ),
            HeaderValue::from_static(
                "service_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Domain=localhost",
            ),
        ]
    }
}

fn line(token: &str, max_age: u32, form: CookieForm) -> Result<HeaderValue, InvalidHeaderValue> {
    let secure = if form.secure { "; Secure" } else { "" };
    let domain = if form.domain_localhost {
        "; Domain=localhost"
    } else {
        ""
    };
    let text = format!(
        "{SESSION_COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age={max_age}{secure}{domain}"
    );
    let mut value = HeaderValue::try_from(text)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
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
    fn every_value_is_looked_at() {
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
}
