//! The session cookie: parses its values from a request and builds the Set-Cookie lines of a response. Does not check
//! whether a value belongs to a live session.

use crate::host::HostFinding;
use http::header::{COOKIE, InvalidHeaderValue};
use http::{HeaderMap, HeaderValue};
use std::time::Duration;

/// The name of the session cookie.
pub const SESSION_COOKIE: &str = "service_session";
/// The maximum length of a value. Gatehouse's own values have 43 characters.
const MAX_VALUE_BYTES: usize = 128;
/// A session's lifetime from login, regardless of use. The cookie expires with the session.
pub(crate) const LIFETIME: Duration = Duration::from_hours(30 * 24);

/// Returns all session values of a request, in order. A sibling host or another port may have set its own cookie
/// before ours, so callers must check all of them. Only the header size limit bounds their number.
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

    /// Returns the values, in order.
    pub fn values(self) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flat_map(session_values)
    }
}

/// Returns whether the request has a session cookie.
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
    /// Returns the attributes for a response to a request for this host.
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

/// Returns the Set-Cookie value for this session. Fails only if the token contains bytes that are not allowed in a
/// header. Gatehouse's own tokens are base64url.
pub fn set_session(token: &str, form: CookieForm) -> Result<HeaderValue, InvalidHeaderValue> {
    line(token, LIFETIME.as_secs(), form)
}

/// Returns the two Set-Cookie values that delete the session cookie: one is host-only, the other is for all of
/// `localhost`. The browser may have either cookie, from a login at another loopback name.
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

fn line(token: &str, max_age: u64, form: CookieForm) -> Result<HeaderValue, InvalidHeaderValue> {
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
mod tests;
