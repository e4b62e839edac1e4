//! `[voice.wyoming]`: speech and transcription for programs such as Home Assistant.

use super::keys::{unset, with_default};
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use gatehouse_domain::Cidr;
use std::net::SocketAddr;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        change: Change::Restart,
        ..unset(
            Kind::Text(Rule::Address),
            "\"127.0.0.1:10300\"",
            "Speak and transcribe for Wyoming clients at this address and port. The protocol has no encryption and no \
             authentication.",
        )
        .guarded(Guard::StepUp)
        .at("voice.wyoming.bind")
    },
    KeySpec {
        change: Change::Restart,
        ..with_default(
            Kind::List(Rule::Network),
            Initial::Empty,
            "Networks of Wyoming clients. Programs on this machine may always connect.",
        )
        .guarded(Guard::StepUp)
        .at("voice.wyoming.allowed_cidrs")
    },
];

/// The section `[voice.wyoming]`.
#[derive(Clone, Debug)]
pub struct Wyoming {
    /// The address to listen on; `None` to not listen.
    pub bind: Option<SocketAddr>,
    /// The networks from which programs may connect. This machine may always connect.
    pub allowed_cidrs: Vec<Cidr>,
}

impl Wyoming {
    pub(super) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            bind: reader.optional("voice.wyoming.bind")?,
            allowed_cidrs: reader.list("voice.wyoming.allowed_cidrs")?,
        })
    }
}
