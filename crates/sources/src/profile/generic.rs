//! The profile for any other sender: a script, a device, a vendor without a profile.

use super::{EventSource, KeySource, Profile, Replay};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::SampleKind;
use crate::summary::Summary;

pub(super) static PROFILE: Profile = Profile {
    id: "generic",
    alias: None,
    name: "Generic",
    default_auth_mode: AuthMode::StaticHeader,
    body: BodyKind::Json,
    event: EventSource {
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
    // `X-Delivery-Id` and `X-Request-Id` are conventions that no auth mode except `standard_webhooks`
    // signs.
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "No signature covers X-Delivery-Id or X-Request-Id: with `key`, a captured delivery can be sent \
            again under a new id. Choose `key` if the sender sends equal bodies on purpose.",
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
    guide: "\
1. In the sending service or script, make it send an HTTP POST with a JSON body to {url}.
2. Add the header X-Webhook-Secret (or the one you chose) with the value {secret}.
3. Optional: name the event in the header X-Event-Type, so that it can be filtered, and give each \
delivery its own id in X-Delivery-Id, so that a repeated one is recognised.

To try it: curl -X POST {url} -H 'X-Webhook-Secret: {secret}' -H 'X-Event-Type: test' \
-H 'Content-Type: application/json' -d '{\"hello\": \"world\"}'",
    handshake: None,
    summary: Summary {
        sentences: &[],
        sections: &[],
    },
    sample: SampleKind::Generic,
};
