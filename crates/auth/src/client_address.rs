//! Which client a request counts against, and whether it came over TLS. Believes a proxy's header
//! only where the operator said so. Knows nothing of credentials or of what is counted.

use gatehouse_domain::{Cidr, ClientKey, canonical_ip};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How many times the limit one proxy gets whose clients cannot be told apart for certain.
const PROXY_LIMIT_FACTOR: u32 = 10;
const X_FORWARDED_FOR: &str = "x-forwarded-for";
const X_FORWARDED_PROTO: &str = "x-forwarded-proto";

/// What the operator says about proxies in front of this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyTrust {
    /// `SERVICE_BEHIND_PROXY`.
    pub behind_proxy: bool,
    /// `proxy.trusted_cidrs`: peers whose header is believed.
    pub trusted_cidrs: Vec<Cidr>,
    /// `proxy.header`: the one header they tell the client in.
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
    fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted_cidrs.iter().any(|cidr| cidr.contains(ip))
    }
}

/// Whom a request counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The address, for limits, the audit log and sessions. Behind a proxy that is not named, the client
    /// may have written it.
    pub ip: IpAddr,
    /// The address that a connection or a trusted proxy vouches for: the one that rules about networks
    /// (`allowed_cidrs`) look at.
    pub vouched_ip: IpAddr,
    /// What its limits count by.
    pub key: ClientKey,
    /// How many times the limit it gets: 1, or 10 for a proxy that names no client.
    pub limit_factor: u32,
    /// The proxy in front, counted too at [`Self::PEER_LIMIT_FACTOR`] times the limit, because the
    /// address it told could not be checked and must not make requests unlimited.
    pub peer_bucket: Option<ClientKey>,
}

impl Client {
    /// How many times the limit a `peer_bucket` gets.
    pub const PEER_LIMIT_FACTOR: u32 = PROXY_LIMIT_FACTOR;

    /// A client that this address stands for.
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

/// The client of a request: the TCP peer, or whom a believed header names.
///
/// From a peer in `trusted_cidrs` that is the right-most address in `header` outside the list.
/// Behind a proxy without a list it is the right-most X-Forwarded-For address, which counts for
/// limits only: nobody vouches for it. Whatever stands
/// left of that address was written by the client and is never read.
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

/// Whether the browser spoke TLS: to us, or to a proxy that says so and may be believed.
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
    // Of a list the first is the scheme the browser used; a forger only spoils its own cookie.
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

/// Walks from the right past trusted proxies. What cannot be read ends the walk with `None`:
/// further left only the client's own words remain.
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

/// The addresses of one header line from the right; `None` for what is no address. Reading from
/// the right keeps quotes that a client left open from swallowing what the proxy appended.
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

/// The `for` of one Forwarded element (RFC 7239 section 4).
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

/// An address with an optional port; `unknown` and obfuscated names are none.
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

/// RFC 7239 section 6: up to five digits, or an obfuscated port.
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
