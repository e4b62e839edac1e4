//! The profile for any other sender: a script, a device, a vendor without a profile.

pub(crate) mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{EventSource, KeySource, Profile, Replay, ReplayGuard};
use crate::summary::Summary;

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[
        &verification::NONE,
        &verification::STATIC_HEADER,
        &verification::BEARER,
    ],
};

pub(crate) static PROFILE: Profile = Profile {
    id: "generic",
    alias: None,
    name: "Generic",
    about: "A script, a device or any other service",
    default_auth_mode: AuthMode::STATIC_HEADER,
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: true,
        headers: &["x-event-type", "x-webhook-event"],
        body: &[],
        names: None,
        detail_header: None,
        detail: &[],
    },
    delivery_key: &[
        KeySource::Header("x-delivery-id"),
        KeySource::Header("x-request-id"),
        KeySource::BodyHash,
    ],
    // `X-Delivery-Id` and `X-Request-Id` are conventions. Only the auth mode `standard_webhooks` signs an ID.
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "No signature covers X-Delivery-Id or X-Request-Id: with `key`, a captured delivery can be sent again \
            under a new ID. Choose `key` if the sender sends equal bodies on purpose.",
    },
    entities: &[],
    events: &[],
    more_events: &[],
    headers: &[
        "x-event-type",
        "x-webhook-event",
        "x-delivery-id",
        "x-request-id",
    ],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: Summary {
        sentences: &[],
        titles: &[],
        sections: &[],
    },
    sample: include_str!("sample.json"),
};
