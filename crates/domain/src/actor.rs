//! The identity recorded in audit rows and used for per-client limits.

use crate::ClientKey;
use std::net::{IpAddr, Ipv4Addr};

/// The identity behind an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Such as `session as_…`, `api_key key_…`, `loopback`, `anonymous`, `cli`, `system`.
    pub name: String,
    /// `None` when the action did not come over the network.
    pub client_ip: Option<IpAddr>,
    /// The key of per-client limits.
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

    /// Gatehouse itself, for example during an automatic unseal.
    pub fn system() -> Self {
        Self::inside("system")
    }

    /// Returns the actor for a user at this machine's command line while the server is stopped.
    pub fn cli() -> Self {
        Self::inside("cli")
    }
}
