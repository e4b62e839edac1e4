//! The name under which this server introduces itself to mail servers.

use crate::fields::parse_host;
use crate::handle::Channels;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

impl Channels {
    /// Sets the public host name of this server.
    pub fn set_host(&self, host: Option<&str>) {
        self.0
            .host
            .store(host.map(|host| Arc::new(host.to_owned())));
    }
}

/// Returns a name or an address literal for EHLO (RFC 5321, section 4.1.1.1): the configured host, otherwise the name
/// of this machine. Returns `None` if neither can be used.
pub(crate) fn own_host(configured: Option<&str>) -> Option<String> {
    let system = rustix::system::uname();
    let machine = system.nodename().to_str().ok();
    configured
        .and_then(usable)
        .or_else(|| machine.and_then(usable))
}

fn usable(host: &str) -> Option<String> {
    let bare = host.trim_matches(['[', ']']);
    if let Ok(address) = bare.parse::<Ipv4Addr>() {
        return Some(format!("[{address}]"));
    }
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return Some(format!("[IPv6:{address}]"));
    }
    parse_host(host).map(|name| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sent_as_they_are_and_addresses_as_literals() {
        for (host, sent) in [
            ("gate.example.com", "gate.example.com"),
            ("192.0.2.7", "[192.0.2.7]"),
            ("[2001:db8::1]", "[IPv6:2001:db8::1]"),
        ] {
            assert_eq!(own_host(Some(host)).as_deref(), Some(sent));
        }
        assert_eq!(usable("no host"), None);
        assert_eq!(usable(""), None);
    }
}
