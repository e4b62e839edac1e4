//! The addresses and names that may be called. Pure: uses no sockets, no resolver and no settings.
//!
//! Sources: the IANA registries of special-purpose IPv4 and IPv6 addresses (RFC 6890 and later), RFC 6052 and 8215
//! (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo), and the cloud vendors' documentation of their instance metadata
//! services.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses are permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Only addresses on the public internet.
    PublicOnly,
    /// Everything except cloud metadata services.
    NoMetadata,
}

/// Host names of cloud metadata services.
const METADATA_NAMES: [&str; 7] = [
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "instance-data",
    "instance-data.ec2.internal",
];

impl Policy {
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::PublicOnly => is_public(address) && !is_metadata(address),
            Self::NoMetadata => !is_metadata(address),
        }
    }

    /// Returns whether this name may be called. Its resolved addresses are checked separately.
    pub fn allows_name(self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name);
        !METADATA_NAMES
            .iter()
            .any(|metadata| name.eq_ignore_ascii_case(metadata))
    }
}

/// Returns whether the address belongs to a cloud metadata service, in any IPv4 or IPv6 form.
pub fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_metadata_v4(v4),
        IpAddr::V6(v6) => is_metadata_v6(v6) || embedded_v4(v6).is_some_and(is_metadata_v4),
    }
}

/// Returns whether the address is link-local. The whole range is covered, because metadata and credential services
/// use several of its addresses (169.254.169.254, 169.254.170.2, 169.254.170.23, 169.254.0.23), and ordinary
/// servers use none.
fn is_metadata_v4(address: Ipv4Addr) -> bool {
    address.is_link_local()
        || matches!(
            address.octets(),
            [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192]
        )
}

fn is_metadata_v6(address: Ipv6Addr) -> bool {
    let [a, b, .., g, h] = address.segments();
    let middle_is_zero = address
        .octets()
        .iter()
        .skip(4)
        .take(8)
        .all(|byte| *byte == 0);
    let link_local = a & 0xffc0 == 0xfe80;
    let unique_local = middle_is_zero
        && g == 0
        && matches!(
            (a, b, h),
            (0xfd00, 0x0ec2, 0x0254 | 0x0023) | (0xfd20, 0x00ce, 0x0254)
        );
    link_local || unique_local
}

/// Returns whether the address is reachable over the public internet, and only there.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        // this network, private, loopback, multicast, reserved and broadcast
        [0 | 10 | 127 | 224..=255, ..]
            // shared by carriers (CGNAT)
            | [100, 64..=127, ..]
            // link-local
            | [169, 254, ..]
            // private
            | [172, 16..=31, ..]
            | [192, 168, ..]
            // protocol assignments, documentation
            | [192, 0, 0 | 2, _]
            // 6to4 relays, withdrawn
            | [192, 88, 99, _]
            // benchmarking
            | [198, 18..=19, ..]
            // documentation
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    )
}

/// Returns whether an IPv6 address is public. Global unicast is `2000::/3`. The only other public prefix is that of
/// NAT64.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(v4) = address.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    let [a, b, ..] = address.segments();
    match (a, b) {
        // A NAT64 address is public if its IPv4 address is. `64:ff9b:1::/48` is for local use, so it does not
        // count.
        (0x0064, 0xff9b) => nat64(address).is_some_and(is_public_v4),
        // protocol assignments with Teredo and ORCHID (2001::/23), documentation, 6to4
        (0x2001, 0x0000..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0x0000..=0x0fff) => false,
        _ => a & 0xe000 == 0x2000,
    }
}

/// Returns the IPv4 address that an IPv6 address maps or tunnels to.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    if let Some(v4) = address.to_ipv4() {
        return Some(v4); // mapped, and the old "compatible" form
    }
    let [first, second, third, _, fifth, sixth, high, low] = address.segments();
    match (first, second) {
        (0x0064, 0xff9b) => Some(joined(high, low)),
        (0x2002, _) => Some(joined(second, third)),
        (0x2001, 0) => Some(joined(!high, !low)), // Teredo writes the client's address inverted
        _ if matches!((fifth, sixth), (0 | 0x0200, 0x5efe)) => Some(joined(high, low)), // ISATAP
        _ => None,
    }
}

/// Returns the IPv4 address behind NAT64's well-known prefix.
fn nat64(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x0064, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        _ => None,
    }
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
