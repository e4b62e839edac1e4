//! `[network]`: the addresses to which the service may connect.

use crate::key::{Change, Guard, Initial, KeySpec, Kind};
use crate::merge::{Bad, Reader};

pub(crate) const KEYS: &[KeySpec] = &[KeySpec {
    key: "network.allow_private",
    kind: Kind::Flag,
    default: Initial::Flag(false),
    doc: "Let tools fetch from private and loopback addresses.",
    example: "",
    guard: Guard::StepUp,
    change: Change::Live,
}];

/// `[network]`
#[derive(Clone, Debug)]
pub struct Network {
    /// Whether tools may fetch from private and loopback addresses.
    pub allow_private: bool,
}

impl Network {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            allow_private: reader.flag("network.allow_private")?,
        })
    }
}
