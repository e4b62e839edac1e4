//! The host a request names, read from its text alone. Knows nothing of DNS, of who the caller is,
//! or of what a host may do.

use http::{HeaderMap, Uri, header};
use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name DNS can carry (RFC 1035), without the trailing dot.
const MAX_NAME_BYTES: usize = 253;
/// The longest part of a name between two dots (RFC 1035).
const MAX_LABEL_BYTES: usize = 63;

/// A host as text names it; borrowed while it is already in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host<'a> {
    /// A DNS name in lower case, without the trailing dot.
    Name(Cow<'a, str>),
    /// An IPv4 literal, or one mapped into IPv6.
    V4(Ipv4Addr),
    /// An IPv6 literal that is no mapped IPv4 address.
    V6(Ipv6Addr),
}

/// A host and the port written beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The port, where one was written.
    pub port: Option<u16>,
}

/// The text names no host, or is more than `host[:port]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a host with an optional port")]
pub struct InvalidAuthority;

impl<'a> Host<'a> {
    /// Whether this is the machine itself, by the text: `localhost`, `*.localhost`, 127.0.0.0/8,
    /// `::1`. A name that DNS happens to resolve to 127.0.0.1 is not.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost" || self.is_under_localhost(),
            Self::V4(v4) => v4.is_loopback(),
            Self::V6(v6) => v6.is_loopback(),
        }
    }

    /// Whether this is a name below `localhost`, such as `gate.localhost`.
    pub fn is_under_localhost(&self) -> bool {
        self.name().is_some_and(|name| name.ends_with(".localhost"))
    }

    /// Whether this is an address rather than a name.
    pub fn is_ip(&self) -> bool {
        self.name().is_none()
    }

    /// The DNS name, in lower case and without a trailing dot.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::V4(_) | Self::V6(_) => None,
        }
    }

    /// The same host, owning its text.
    pub fn into_owned(self) -> Host<'static> {
        match self {
            Self::Name(name) => Host::Name(Cow::Owned(name.into_owned())),
            Self::V4(v4) => Host::V4(v4),
            Self::V6(v6) => Host::V6(v6),
        }
    }

    fn from_v6(v6: Ipv6Addr) -> Self {
        match IpAddr::V6(v6).to_canonical() {
            IpAddr::V4(v4) => Self::V4(v4),
            IpAddr::V6(v6) => Self::V6(v6),
        }
    }

    /// A name or an IPv4 literal. A last label that is a number makes a browser read the whole as
    /// an IPv4 address (`127.1`, `0x7f.1`); only the plain spelling of one is accepted here.
    fn parse_name(text: &'a str) -> Result<Self, InvalidAuthority> {
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.len() > MAX_NAME_BYTES || !name.split('.').all(is_label) {
            return Err(InvalidAuthority);
        }
        if name.rsplit('.').next().is_some_and(is_number) {
            return name.parse().map(Self::V4).map_err(|_| InvalidAuthority);
        }
        Ok(Self::Name(
            if name.bytes().any(|b| b.is_ascii_uppercase()) {
                Cow::Owned(name.to_ascii_lowercase())
            } else {
                Cow::Borrowed(name)
            },
        ))
    }
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::V4(v4) => v4.fmt(f),
            Self::V6(v6) => write!(f, "[{v6}]"),
        }
    }
}

impl<'a> Authority<'a> {
    /// Reads `host[:port]`: what a Host header, `:authority` or an Origin after its scheme holds.
    /// User information, white space, percent signs, an empty or impossible port are refused.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, InvalidAuthority> {
        let text = std::str::from_utf8(bytes).map_err(|_| InvalidAuthority)?;
        if let Some(rest) = text.strip_prefix('[') {
            let (inside, after) = rest.split_once(']').ok_or(InvalidAuthority)?;
            let host = parse_v6(inside)?;
            let port = match after.strip_prefix(':') {
                Some(port) => Some(parse_port(port)?),
                None if after.is_empty() => None,
                None => return Err(InvalidAuthority),
            };
            return Ok(Self { host, port });
        }
        match text.split_once(':') {
            None => Ok(Self {
                host: Host::parse_name(text)?,
                port: None,
            }),
            Some((_, after)) if after.contains(':') => Ok(Self {
                host: parse_v6(text)?,
                port: None,
            }),
            Some((name, port)) => Ok(Self {
                host: Host::parse_name(name)?,
                port: Some(parse_port(port)?),
            }),
        }
    }

    /// The port, or the one that `default` stands for when none was written.
    pub fn port_or(&self, default: Option<u16>) -> Option<u16> {
        self.port.or(default)
    }

    /// The same, owning its text.
    pub fn into_owned(self) -> Authority<'static> {
        Authority {
            host: self.host.into_owned(),
            port: self.port,
        }
    }
}

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => self.host.fmt(f),
        }
    }
}

/// What a request says about the host it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostFinding<'a> {
    /// Neither a Host header nor `:authority`.
    Absent,
    /// Several Host headers, or a Host that differs from `:authority`: 400 `INVALID_REQUEST`.
    Conflict,
    /// There is one, but it names no host; such a request is remote.
    Unparsable,
    /// The host.
    Found(Authority<'a>),
}

impl HostFinding<'_> {
    /// The authority, where one was found.
    pub fn authority(&self) -> Option<&Authority<'_>> {
        match self {
            Self::Found(authority) => Some(authority),
            Self::Absent | Self::Conflict | Self::Unparsable => None,
        }
    }
}

/// The one host that the request names, in its Host header or (HTTP/2, absolute form) its target.
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

/// The port that a scheme stands for.
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

fn parse_v6(text: &str) -> Result<Host<'static>, InvalidAuthority> {
    text.parse()
        .map(Host::from_v6)
        .map_err(|_| InvalidAuthority)
}

fn parse_port(text: &str) -> Result<u16, InvalidAuthority> {
    // `parse` alone would take `+80`.
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(InvalidAuthority);
    }
    text.parse()
        .ok()
        .filter(|port| *port != 0)
        .ok_or(InvalidAuthority)
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL_BYTES).contains(&label.len())
        && label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn is_number(label: &str) -> bool {
    let hex = label
        .strip_prefix("0x")
        .or_else(|| label.strip_prefix("0X"));
    label.bytes().all(|b| b.is_ascii_digit())
        || hex.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
