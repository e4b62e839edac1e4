//! Peers whose connections are shared by many clients.

use crate::app::App;
use gatehouse_domain::{Cidr, canonical_ip};
use std::net::IpAddr;

/// Addresses that many clients share: proxies, and other programs on this machine.
#[derive(Clone, Debug)]
pub struct SharedPeers {
    trusted: Vec<Cidr>,
    /// Whether there is a proxy whose address is unknown.
    is_unnamed: bool,
    with_loopback: bool,
}

impl SharedPeers {
    /// Creates the set. `behind_proxy` is the setting of the process.
    pub fn new(trusted: &[Cidr], behind_proxy: bool) -> Self {
        Self {
            is_unnamed: behind_proxy && trusted.is_empty(),
            trusted: trusted.to_vec(),
            with_loopback: true,
        }
    }

    #[cfg(test)]
    pub(crate) const fn none() -> Self {
        Self {
            trusted: Vec::new(),
            is_unnamed: false,
            with_loopback: false,
        }
    }

    #[cfg(test)]
    pub(crate) fn all() -> Self {
        Self::new(&[], true)
    }

    pub(crate) fn contains(&self, peer: IpAddr) -> bool {
        let peer = canonical_ip(peer);
        self.is_unnamed
            || self.with_loopback && peer.is_loopback()
            || self.trusted.iter().any(|cidr| cidr.contains(peer))
    }
}

pub(super) fn is_shared(app: &App, peer: IpAddr) -> bool {
    let config = &app.services().config;
    let trusted = &config.resolved().settings.proxy.trusted_cidrs;
    SharedPeers::new(trusted, config.layers().process().behind_proxy).contains(peer)
}
