//! Determines the client that a request counts against, and whether it used TLS. Trusts a proxy's header only if
//! the operator configured it. Does not depend on credentials or on the purpose of the count.

use gatehouse_domain::{Cidr, ClientKey, canonical_ip};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The factor of limits for a proxy whose clients cannot be distinguished reliably.
const PROXY_LIMIT_FACTOR: u32 = 10;
const X_FORWARDED_FOR: &str = "x-forwarded-for";
const X_FORWARDED_PROTO: &str = "x-forwarded-proto";

/// The operator's configuration of proxies in front of this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyTrust {
    /// `SERVICE_BEHIND_PROXY`.
    pub behind_proxy: bool,
    /// `proxy.trusted_cidrs`: the peers whose header is trusted.
    pub trusted_cidrs: Vec<Cidr>,
    /// `proxy.header`: the header with the client's address.
    pub header: HeaderName,
}

impl Default for ProxyTrust {
    fn default() -> Self {
        Self {
            behind_proxy: false,
            trusted_cidrs: Vec::new(),
            header: HeaderName::from_static(X_FORWARDED_FOR),
        }
    }
}

impl ProxyTrust {
    /// Returns whether the operator has configured a proxy in front of this server.
    pub(crate) fn is_configured(&self) -> bool {
        self.behind_proxy || !self.trusted_cidrs.is_empty()
    }

    fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted_cidrs.iter().any(|cidr| cidr.contains(ip))
    }
}

/// The client that a request counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The address for limits, the audit log and sessions. Behind an unlisted proxy, the client can
    /// forge it.
    pub ip: IpAddr,
    /// The address confirmed by the connection or by a trusted proxy. Network rules
    /// (`allowed_cidrs`) use this one.
    pub vouched_ip: IpAddr,
    /// The key for rate limits.
    pub key: ClientKey,
    /// The factor for the client's limits: 1, or 10 for a proxy that names no client.
    pub limit_factor: u32,
    /// The proxy in front of the client. It is counted separately, with [`Self::PEER_LIMIT_FACTOR`] times the
    /// limit, because the addresses of its clients are unverified and must not allow unlimited requests.
    pub peer_bucket: Option<ClientKey>,
}

impl Client {
    /// The limit factor of a `peer_bucket`.
    pub const PEER_LIMIT_FACTOR: u32 = PROXY_LIMIT_FACTOR;

    /// Returns a client that is identified only by this address.
    pub fn at(ip: IpAddr) -> Self {
        let ip = canonical_ip(ip);
        Self {
            ip,
            vouched_ip: ip,
            key: ClientKey::of(ip),
            limit_factor: 1,
            peer_bucket: None,
        }
    }
}

/// Determines the client of a request: the TCP peer, or the address in a trusted header.
///
/// For a peer in `trusted_cidrs`, the client is the right-most address in `header` that is not in the list. With
/// `behind_proxy` and no list, it is the right-most X-Forwarded-For address. That address is unverified, so
/// [`Client::vouched_ip`] stays the peer. Addresses further left are controlled by the client and never read.
pub fn client(trust: &ProxyTrust, peer: IpAddr, headers: &HeaderMap) -> Client {
    let peer = canonical_ip(peer);
    if trust.trusts(peer) {
        return Client::at(nearest_untrusted(trust, headers).unwrap_or(peer));
    }
    if !trust.behind_proxy || !trust.trusted_cidrs.is_empty() {
        return Client::at(peer);
    }
    let last_line = headers.get_all(X_FORWARDED_FOR).iter().next_back();
    match last_line.and_then(|line| nodes(line, false).next().flatten()) {
        Some(ip) => Client {
            vouched_ip: peer,
            peer_bucket: Some(ClientKey::of(peer)),
            ..Client::at(ip)
        },
        None => Client {
            limit_factor: PROXY_LIMIT_FACTOR,
            ..Client::at(peer)
        },
    }
}

/// Returns whether the browser used TLS, either directly or to a trusted proxy that reports it.
pub fn request_is_https(
    own_tls: bool,
    trust: &ProxyTrust,
    peer: IpAddr,
    headers: &HeaderMap,
) -> bool {
    if own_tls {
        return true;
    }
    if !trust.behind_proxy && !trust.trusts(canonical_ip(peer)) {
        return false;
    }
    // The first entry of a list is the browser's scheme. A forged value affects only the client's
    // own cookie.
    let scheme = headers
        .get(X_FORWARDED_PROTO)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    let first = scheme
        .split(|b| *b == b',')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    first.eq_ignore_ascii_case(b"https")
}

/// Reads the addresses from right to left and skips trusted proxies. Returns `None` at an unparsable entry, because
/// the client controls everything further left.
fn nearest_untrusted(trust: &ProxyTrust, headers: &HeaderMap) -> Option<IpAddr> {
    let forwarded = trust.header == http::header::FORWARDED;
    for line in headers.get_all(&trust.header).iter().rev() {
        for node in nodes(line, forwarded) {
            let ip = node?;
            if !trust.trusts(ip) {
                return Some(ip);
            }
        }
    }
    None
}

/// Returns the addresses of one header line from right to left; `None` for an entry that is not an address. Reading
/// from the right prevents that an open quote from the client swallows the text that the proxy appended.
fn nodes(line: &HeaderValue, forwarded: bool) -> impl Iterator<Item = Option<IpAddr>> {
    let mut quoted = false;
    line.as_bytes()
        .rsplit(move |byte| {
            quoted ^= forwarded && *byte == b'"';
            *byte == b',' && !quoted
        })
        .map(move |element| {
            let text = std::str::from_utf8(element).ok()?.trim_matches([' ', '\t']);
            if forwarded {
                forwarded_for(text)
            } else {
                parse_node(text)
            }
        })
}

/// Parses the `for` parameter of one Forwarded element (RFC 7239 section 4).
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut quoted = false;
    let pairs = element.split(move |c: char| {
        quoted ^= c == '"';
        c == ';' && !quoted
    });
    let mut found = None;
    for pair in pairs
        .map(|pair| pair.trim_matches([' ', '\t']))
        .filter(|pair| !pair.is_empty())
    {
        let (name, value) = pair.split_once('=')?;
        if name.eq_ignore_ascii_case("for") && found.replace(value).is_some() {
            return None;
        }
    }
    parse_node(unquoted(found?)?)
}

fn unquoted(value: &str) -> Option<&str> {
    let inside = match value.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => value,
    };
    (!inside.contains(['"', '\\'])).then_some(inside)
}

/// Parses an address with an optional port. Returns `None` for `unknown` and obfuscated names.
fn parse_node(text: &str) -> Option<IpAddr> {
    let ip = if let Some(rest) = text.strip_prefix('[') {
        let (inside, after) = rest.split_once(']')?;
        if !after.is_empty() && !after.strip_prefix(':').is_some_and(is_node_port) {
            return None;
        }
        IpAddr::V6(inside.parse::<Ipv6Addr>().ok()?)
    } else {
        match text.split_once(':') {
            Some((v4, port)) if !port.contains(':') => {
                IpAddr::V4(v4.parse::<Ipv4Addr>().ok().filter(|_| is_node_port(port))?)
            }
            _ => text.parse().ok()?,
        }
    };
    Some(canonical_ip(ip))
}

/// Returns whether the text is a port by RFC 7239, section 6: up to five digits, or an obfuscated port.
fn is_node_port(text: &str) -> bool {
    match text.strip_prefix('_') {
        Some(rest) => rest
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
        None => (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests;
