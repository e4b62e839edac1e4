//! Client addresses: canonical form, the key for per-client limits, and CIDR lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// Converts an IPv4-mapped IPv6 address to its IPv4 address, so that each address has one form.
pub fn canonical_ip(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

/// The key of per-client limits: an IPv4 address, or the /64 of an IPv6 address. One household or attacker usually
/// controls a whole /64. `::1` keeps its full address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(IpAddr);

impl ClientKey {
    /// Returns the key for an address.
    pub fn of(ip: IpAddr) -> Self {
        match canonical_ip(ip) {
            IpAddr::V6(v6) if v6 != Ipv6Addr::LOCALHOST => {
                let [a, b, c, d, ..] = v6.segments();
                Self(IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
            }
            other => Self(other),
        }
    }

    /// Returns whether the client is on the same machine.
    pub const fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }

    /// Returns the surrounding network that one owner usually controls: a /48 for IPv6, a /24 for IPv4. Used to
    /// find the heaviest user of a resource, not for limits.
    pub fn network(self) -> String {
        match self.0 {
            IpAddr::V4(v4) => {
                let [a, b, c, _] = v4.octets();
                format!("{a}.{b}.{c}.0/24")
            }
            IpAddr::V6(v6) => {
                let [a, b, c, ..] = v6.segments();
                format!("{}/48", Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
            }
        }
    }
}

impl fmt::Display for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V6(v6) if v6 != Ipv6Addr::LOCALHOST => write!(f, "{v6}/64"),
            other => write!(f, "{other}"),
        }
    }
}

/// A network such as `10.0.0.0/8`. A single address is a network with one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cidr(ipnet::IpNet);

/// The text is not an address or a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an IP address or a network such as 10.0.0.0/8")]
pub struct InvalidCidr(pub String);

impl Cidr {
    /// Returns whether the network contains the address. IPv4-mapped addresses count as IPv4.
    pub fn contains(self, ip: IpAddr) -> bool {
        self.0.contains(&canonical_ip(ip))
    }

    /// Returns whether the network contains every address of `other`.
    pub fn covers(self, other: Self) -> bool {
        self.0.contains(&other.0)
    }
}

impl FromStr for Cidr {
    type Err = InvalidCidr;

    fn from_str(text: &str) -> Result<Self, InvalidCidr> {
        let net = text
            .parse::<ipnet::IpNet>()
            .or_else(|_| text.parse::<IpAddr>().map(ipnet::IpNet::from))
            .map_err(|_| InvalidCidr(text.to_owned()))?;
        Ok(Self(unmapped(net).trunc()))
    }
}

/// Converts `::ffff:10.0.0.0/104` to `10.0.0.0/8`.
fn unmapped(net: ipnet::IpNet) -> ipnet::IpNet {
    let (IpAddr::V6(v6), Some(prefix)) = (net.addr(), net.prefix_len().checked_sub(96)) else {
        return net;
    };
    v6.to_ipv4_mapped()
        .and_then(|v4| ipnet::IpNet::new(IpAddr::V4(v4), prefix).ok())
        .unwrap_or(net)
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Cidr {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Cidr {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cidr".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "examples": ["10.0.0.0/8", "2001:db8::/32"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_covers_itself_and_what_is_narrower() {
        let covers = |a: &str, b: &str| a.parse::<Cidr>().unwrap().covers(b.parse().unwrap());
        assert!(covers("10.0.0.0/8", "10.0.0.0/8"));
        assert!(covers("10.0.0.0/8", "10.1.0.0/16"));
        assert!(covers("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(!covers("10.0.0.0/8", "10.0.0.0/7"));
        assert!(!covers("10.0.0.0/8", "11.0.0.0/8"));
        assert!(!covers("0.0.0.0/0", "::/0") && !covers("::/0", "0.0.0.0/0"));
    }

    #[test]
    fn ipv6_clients_share_their_64_and_loopback_stands_alone() {
        let key = |text| ClientKey::of(ip(text));
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_ne!(key("::1"), key("::2"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_eq!(key("2001:db8:1:2::1").to_string(), "2001:db8:1:2::/64");
    }

    #[test]
    fn a_network_is_wider_than_a_client() {
        let network = |text| ClientKey::of(ip(text)).network();
        assert_eq!(network("2001:db8:1:2::1"), "2001:db8:1::/48");
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.0/24");
    }

    #[test]
    fn networks_contain_mapped_spellings() {
        let net: Cidr = "10.0.0.0/8".parse().unwrap();
        assert!(net.contains(ip("::ffff:10.1.2.3")));
        assert!(!net.contains(ip("11.0.0.1")));
        assert_eq!("::ffff:10.0.0.0/104".parse::<Cidr>().unwrap(), net);
        assert_eq!(
            "192.0.2.7".parse::<Cidr>().unwrap().to_string(),
            "192.0.2.7/32"
        );
        assert!("10.0.0.0/33".parse::<Cidr>().is_err());
    }
}
