//! The authority of a request.

use super::Authority;
use http::{HeaderMap, Uri, header};

/// The host that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostFinding<'a> {
    /// Neither a Host header nor `:authority`.
    Absent,
    /// Several Host headers, or a Host that differs from `:authority`: 400 `INVALID_REQUEST`.
    Conflict,
    /// The value is not a valid host. The request counts as remote.
    Unparsable,
    Found(Authority<'a>),
}

impl HostFinding<'_> {
    /// Returns the authority, if one was found.
    pub fn authority(&self) -> Option<&Authority<'_>> {
        match self {
            Self::Found(authority) => Some(authority),
            Self::Absent | Self::Conflict | Self::Unparsable => None,
        }
    }
}

/// Finds the host of a request, in its Host header or its target (HTTP/2 or absolute form).
pub fn request_authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> HostFinding<'a> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map(http::HeaderValue::as_bytes);
    if hosts.next().is_some() {
        return HostFinding::Conflict;
    }
    let target = uri
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    match (target, host) {
        (None, None) => HostFinding::Absent,
        (Some(bytes), None) | (None, Some(bytes)) => {
            Authority::parse(bytes).map_or(HostFinding::Unparsable, HostFinding::Found)
        }
        (Some(target), Some(host)) => agree(target, host, default_port(uri.scheme_str())),
    }
}

fn agree<'a>(target: &'a [u8], host: &'a [u8], default: Option<u16>) -> HostFinding<'a> {
    match (Authority::parse(target), Authority::parse(host)) {
        (Ok(a), Ok(b)) if a.host == b.host && a.port_or(default) == b.port_or(default) => {
            HostFinding::Found(a)
        }
        (Err(_), Err(_)) if target.eq_ignore_ascii_case(host) => HostFinding::Unparsable,
        _ => HostFinding::Conflict,
    }
}

pub(crate) fn default_port(scheme: Option<&str>) -> Option<u16> {
    let scheme = scheme?;
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    if is("http") || is("ws") {
        Some(80)
    } else if is("https") || is("wss") {
        Some(443)
    } else {
        None
    }
}
