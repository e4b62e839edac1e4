//! Determines whether a connection is local, by the four checks of the specification. Uses no credentials, and only
//! its own two settings.

use crate::host::{HostFinding, request_authority};
use gatehouse_domain::canonical_ip;
use http::{HeaderMap, HeaderName, Uri};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Headers that proxies add. Any of them, even empty, makes a connection remote.
pub const FORWARDING_HEADERS: [&str; 4] = [
    "x-forwarded-for",
    "x-real-ip",
    "cf-connecting-ip",
    "forwarded",
];

/// The parsed names. They are parsed once, because each request looks up all four.
static FORWARDING_NAMES: [HeaderName; 4] = [
    HeaderName::from_static(FORWARDING_HEADERS[0]),
    HeaderName::from_static(FORWARDING_HEADERS[1]),
    HeaderName::from_static(FORWARDING_HEADERS[2]),
    HeaderName::from_static(FORWARDING_HEADERS[3]),
];

/// The operator's settings for locality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalitySettings {
    /// `SERVICE_BEHIND_PROXY`: treat every connection as remote.
    pub behind_proxy: bool,
    /// `SERVICE_TRUST_DOCKER_LOOPBACK`: skip check 4.
    pub trust_docker_loopback: bool,
}

/// The first of the four checks that a remote connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailedCheck {
    /// Check 1: `SERVICE_BEHIND_PROXY` is set.
    BehindProxy,
    /// Check 2: a forwarding header is present.
    ForwardingHeader,
    /// Check 3: the Host is not a loopback host.
    Host,
    /// Check 4: the TCP peer is not a loopback address.
    PeerAddress,
}

impl FailedCheck {
    /// Returns the check's number in the specification, 1 to 4.
    pub const fn number(self) -> u8 {
        match self {
            Self::BehindProxy => 1,
            Self::ForwardingHeader => 2,
            Self::Host => 3,
            Self::PeerAddress => 4,
        }
    }
}

/// The origin of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// From this machine.
    Local,
    /// From another machine, or unknown.
    Remote { failed_check: FailedCheck },
}

impl Locality {
    /// Returns whether the connection is local.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Local)
    }
}

/// A [`Locality`] as callers see it: `{local, failed_check?}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalityReport {
    /// Whether the connection is local.
    pub local: bool,
    /// The first check that failed; absent for a local connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_check: Option<FailedCheck>,
}

impl From<Locality> for LocalityReport {
    fn from(locality: Locality) -> Self {
        match locality {
            Locality::Local => Self {
                local: true,
                failed_check: None,
            },
            Locality::Remote { failed_check } => Self {
                local: false,
                failed_check: Some(failed_check),
            },
        }
    }
}

/// Runs the four checks in order. `peer` is the TCP source address.
pub fn locality(
    settings: &LocalitySettings,
    peer: IpAddr,
    headers: &HeaderMap,
    uri: &Uri,
) -> Locality {
    locality_at(*settings, peer, headers, &request_authority(headers, uri))
}

/// Like [`locality()`], for a parsed host.
pub(crate) fn locality_at(
    settings: LocalitySettings,
    peer: IpAddr,
    headers: &HeaderMap,
    host: &HostFinding<'_>,
) -> Locality {
    let failed_check = if settings.behind_proxy {
        FailedCheck::BehindProxy
    } else if FORWARDING_NAMES
        .iter()
        .any(|name| headers.contains_key(name))
    {
        FailedCheck::ForwardingHeader
    } else if !is_loopback(host) {
        FailedCheck::Host
    } else if !settings.trust_docker_loopback && !canonical_ip(peer).is_loopback() {
        FailedCheck::PeerAddress
    } else {
        return Locality::Local;
    };
    Locality::Remote { failed_check }
}

fn is_loopback(host: &HostFinding<'_>) -> bool {
    match host {
        HostFinding::Absent => true,
        HostFinding::Found(authority) => authority.host.is_loopback(),
        HostFinding::Conflict | HostFinding::Unparsable => false,
    }
}

#[cfg(test)]
mod tests;
