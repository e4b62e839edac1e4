//! Parses the host that a request names. Uses only the text: no DNS, no identity of the caller, no
//! policy.

mod request;

pub(crate) use request::default_port;
pub use request::{HostFinding, request_authority};
use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The maximum length of a DNS name (RFC 1035), without the trailing dot.
const MAX_NAME_BYTES: usize = 253;
/// The maximum length of a DNS label (RFC 1035).
const MAX_LABEL_BYTES: usize = 63;

/// A parsed host; borrowed if the text is already in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host<'a> {
    /// A DNS name in lower case, without the trailing dot.
    Name(Cow<'a, str>),
    /// An IPv4 literal, or an IPv4-mapped IPv6 literal.
    V4(Ipv4Addr),
    /// An IPv6 literal that is not IPv4-mapped.
    V6(Ipv6Addr),
}

/// A host with an optional port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority<'a> {
    pub host: Host<'a>,
    pub port: Option<u16>,
}

/// The text is not a valid `host[:port]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a host with an optional port")]
pub struct InvalidAuthority;

impl<'a> Host<'a> {
    /// Returns whether the text names this machine: `localhost`, `*.localhost`, 127.0.0.0/8, `::1`. A name that DNS
    /// resolves to 127.0.0.1 does not count.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost" || self.is_under_localhost(),
            Self::V4(v4) => v4.is_loopback(),
            Self::V6(v6) => v6.is_loopback(),
        }
    }

    /// Returns whether this is a name below `localhost`, such as `gate.localhost`.
    pub fn is_under_localhost(&self) -> bool {
        self.name().is_some_and(|name| name.ends_with(".localhost"))
    }

    /// Returns whether this is an IP address.
    pub fn is_ip(&self) -> bool {
        self.name().is_none()
    }

    /// Returns the DNS name, in lower case and without a trailing dot; `None` for an address.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::V4(_) | Self::V6(_) => None,
        }
    }

    /// Converts to an owned host.
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

    /// Parses a name or an IPv4 literal. If the last label is a number, browsers read the whole
    /// text as an IPv4 address (`127.1`, `0x7f.1`); only the standard spelling is accepted here.
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
    /// Parses `host[:port]`, as in a Host header, `:authority`, or an Origin after its scheme.
    /// Refuses user information, white space, percent signs, and an empty or invalid port.
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

    /// Returns the port, or `default` if there is none.
    pub fn port_or(&self, default: Option<u16>) -> Option<u16> {
        self.port.or(default)
    }

    /// Converts to an owned authority.
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

fn parse_v6(text: &str) -> Result<Host<'static>, InvalidAuthority> {
    text.parse()
        .map(Host::from_v6)
        .map_err(|_| InvalidAuthority)
}

fn parse_port(text: &str) -> Result<u16, InvalidAuthority> {
    // `parse` alone would accept `+80`.
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
