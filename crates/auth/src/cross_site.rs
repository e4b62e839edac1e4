//! Checks whether a request may come from the page that its headers name. Protects against requests that another
//! site makes a browser send, and against DNS rebinding. The check depends on whether credentials were sent, but
//! not on their values.

use crate::host::{Authority, HostFinding, InvalidAuthority, default_port, request_authority};
use crate::throttle::is_ingest;
use gatehouse_domain::{ErrorCode, Problem};
use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue, Method, Uri};

const SEC_FETCH_SITE: &str = "sec-fetch-site";
const X_FORWARDED_HOST: &str = "x-forwarded-host";

/// Why a request counts as sent by another site. The response is always 403 FORBIDDEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginRefusal {
    /// `Origin: null`, several Origin headers, or a malformed one.
    #[error("The request's Origin header does not name one valid origin.")]
    Opaque,
    /// The Origin is another site.
    #[error("The request came from a page of another site.")]
    Foreign,
    /// No Origin, but Sec-Fetch-Site reports another site.
    #[error("The browser reports that the request came from a page of another site.")]
    CrossSiteFetch,
}

impl From<OriginRefusal> for Problem {
    fn from(refusal: OriginRefusal) -> Self {
        Self::new(ErrorCode::Forbidden, refusal.to_string())
    }
}

/// Whether a request may proceed.
pub type OriginVerdict = Result<(), OriginRefusal>;

/// An entry of `server.allowed_origins`: `https://host[:port]`, or `host[:port]` for any scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin {
    scheme: Option<String>,
    authority: Authority<'static>,
}

impl AllowedOrigin {
    pub(crate) fn scheme(&self) -> Option<&str> {
        self.scheme.as_deref()
    }

    pub(crate) const fn authority(&self) -> &Authority<'static> {
        &self.authority
    }
}

impl std::str::FromStr for AllowedOrigin {
    type Err = InvalidAuthority;

    fn from_str(text: &str) -> Result<Self, InvalidAuthority> {
        let text = text.strip_suffix('/').unwrap_or(text);
        let (scheme, authority) = match text.split_once("://") {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme.to_ascii_lowercase()), rest),
            Some(_) => return Err(InvalidAuthority),
            None => (None, text),
        };
        Ok(Self {
            scheme,
            authority: Authority::parse(authority.as_bytes())?.into_owned(),
        })
    }
}

/// The configured origins of pages that may use this server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginSettings {
    /// `server.allowed_origins`.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// `server.external_url`.
    pub external_url: Option<AllowedOrigin>,
}

/// The parts of a request that the decision depends on.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a request"
)]
#[derive(Clone, Copy, Debug)]
pub struct CrossSiteRequest<'a> {
    pub method: &'a Method,
    /// The request target.
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
    /// Whether this is a WebSocket upgrade.
    pub is_upgrade: bool,
    /// Whether the browser used TLS, directly or to a trusted proxy.
    pub is_https: bool,
    /// Whether the request has a Bearer token. A page cannot make a browser add one automatically.
    pub has_bearer: bool,
    /// Whether the request has a session cookie. A browser adds it automatically.
    pub has_session_cookie: bool,
}

/// Refuses requests that another site's page makes a browser send. These are unsafe methods and upgrades whose
/// Origin does not match the Host, an X-Forwarded-Host or an allowed origin. A plain HTTP Origin counts as another
/// site if the request used TLS. A request without an Origin is not from a browser, unless Sec-Fetch-Site says
/// otherwise.
pub fn check(request: &CrossSiteRequest<'_>, settings: &OriginSettings) -> OriginVerdict {
    let path = request.uri.path();
    // MCP requires servers to check the Origin of every request, including those with a token
    // (<https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning>).
    let exempt = (request.has_bearer && !request.has_session_cookie && path != "/mcp")
        || is_ingest(request.method, path);
    if exempt || (request.method.is_safe() && !request.is_upgrade) {
        return Ok(());
    }
    let Some(origin) = find_origin(request.headers)? else {
        let site = request
            .headers
            .get(SEC_FETCH_SITE)
            .map(HeaderValue::as_bytes);
        return match site {
            Some(site) if site.eq_ignore_ascii_case(b"cross-site") => {
                Err(OriginRefusal::CrossSiteFetch)
            }
            _ => Ok(()),
        };
    };
    let is_host = match request_authority(request.headers, request.uri) {
        HostFinding::Found(host) => origin.is(&host),
        HostFinding::Absent | HostFinding::Conflict | HostFinding::Unparsable => false,
    };
    let is_forwarded = || forwarded_hosts(request.headers).any(|host| origin.is(&host));
    let scheme_fits = !request.is_https || origin.scheme.eq_ignore_ascii_case("https");
    let known = (scheme_fits && (is_host || is_forwarded()))
        || settings
            .allowed_origins
            .iter()
            .any(|allowed| origin.is_allowed_by(allowed));
    if known {
        Ok(())
    } else {
        Err(OriginRefusal::Foreign)
    }
}

/// Refuses pages under unknown names while `auth_disabled` admits every caller. An attacker's DNS name can point to
/// this machine, and then Host and Origin match. Applies to every method. A request without an Origin is allowed.
pub fn loopback_or_known_origin(headers: &HeaderMap, settings: &OriginSettings) -> OriginVerdict {
    let Some(Origin { authority, .. }) = find_origin(headers)? else {
        return Ok(());
    };
    let mut ours = settings
        .allowed_origins
        .iter()
        .chain(&settings.external_url);
    let known = authority.host.is_loopback()
        || authority.host.is_ip()
        || ours.any(|entry| entry.authority.host == authority.host);
    if known {
        Ok(())
    } else {
        Err(OriginRefusal::Foreign)
    }
}

/// The Origin of a request (RFC 6454 section 7).
#[derive(Debug)]
struct Origin<'a> {
    scheme: &'a str,
    authority: Authority<'a>,
}

impl Origin<'_> {
    /// Returns whether `host` is the same host and port. A missing port is the default of the Origin's scheme. All
    /// loopback names count as one host.
    fn is(&self, host: &Authority<'_>) -> bool {
        let (a, b) = (&self.authority.host, &host.host);
        let default = default_port(Some(self.scheme));
        (a == b || (a.is_loopback() && b.is_loopback()))
            && self.authority.port_or(default) == host.port_or(default)
    }

    fn is_allowed_by(&self, entry: &AllowedOrigin) -> bool {
        let scheme = entry.scheme.as_deref();
        scheme.is_none_or(|scheme| scheme.eq_ignore_ascii_case(self.scheme))
            && self.is(&entry.authority)
    }
}

fn find_origin(headers: &HeaderMap) -> Result<Option<Origin<'_>>, OriginRefusal> {
    let mut all = headers.get_all(ORIGIN).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    let parsed = parse_origin(first).filter(|_| all.next().is_none());
    parsed.map(Some).ok_or(OriginRefusal::Opaque)
}

fn parse_origin(value: &HeaderValue) -> Option<Origin<'_>> {
    let (scheme, rest) = value.to_str().ok()?.split_once("://")?;
    let authority = Authority::parse(rest.as_bytes()).ok()?;
    is_scheme(scheme).then_some(Origin { scheme, authority })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

fn forwarded_hosts(headers: &HeaderMap) -> impl Iterator<Item = Authority<'_>> {
    headers
        .get_all(X_FORWARDED_HOST)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .filter_map(|host| Authority::parse(host.trim_ascii()).ok())
}

#[cfg(test)]
mod tests;
