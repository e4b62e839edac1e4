//! Anything that can send an HTTP request: a script, a device, a vendor without a profile.

use super::{EventSource, KeySource, Profile};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
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
        detail: &[],
    },
    delivery_key: &[
        KeySource::Header("x-delivery-id"),
        KeySource::Header("x-request-id"),
        KeySource::BodyHash,
    ],
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
