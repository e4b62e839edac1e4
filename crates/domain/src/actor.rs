//! Who does something, for audit rows and for limits per client.

use crate::ClientKey;
use std::net::{IpAddr, Ipv4Addr};

/// Who does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Such as `session as_…`, `api_key key_…`, `loopback`, `anonymous`, `cli`, `system`.
    pub name: String,
    /// From where, when it came over the network.
    pub client_ip: Option<IpAddr>,
    /// What limits count by.
    pub client: ClientKey,
}

impl Actor {
    fn inside(name: &str) -> Self {
        let client = ClientKey::of(IpAddr::V4(Ipv4Addr::LOCALHOST));
        Self {
            name: name.to_owned(),
            client_ip: None,
            client,
        }
    }

    /// Gatehouse itself, such as at an automatic unseal.
    pub fn system() -> Self {
        Self::inside("system")
    }

    /// Somebody at the command line of this machine, with the server stopped.
    pub fn cli() -> Self {
        Self::inside("cli")
    }
}
