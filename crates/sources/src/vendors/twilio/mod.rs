//! The profile of Twilio: messages and calls. Parameters: twilio.com/docs, "Twilio's request to your
//! incoming message Webhook URL", "Status callbacks" and "Webhooks: connection overrides" (the idempotency
//! token).

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay,
    ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "twilio",
    alias: None,
    name: "Twilio",
    about: "Text messages and calls",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Form,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &[],
        body: &[
            BodyEvent {
                prefix: "recording.",
                path: "RecordingStatus",
            },
            BodyEvent {
                prefix: "message.",
                path: "MessageStatus",
            },
            BodyEvent {
                prefix: "message.",
                path: "SmsStatus",
            },
            BodyEvent {
                prefix: "call.",
                path: "CallStatus",
            },
        ],
        names: None,
        detail_header: None,
        detail: &[],
    },
    delivery_key: &[
        KeySource::Header("i-twilio-idempotency-token"),
        KeySource::BodyHash,
    ],
    // The signature covers the URL and the form fields, but no headers:
    // <https://www.twilio.com/docs/usage/security#validating-requests>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "The signature covers the URL and the form and not I-Twilio-Idempotency-Token: with `key`, a \
            captured delivery can be sent again under a new token.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &["i-twilio-idempotency-token"],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

/// Messages between two numbers are one conversation in both directions.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[],
        key: "twilio:call:{CallSid}",
    },
    EntityRule {
        when: &[Condition::Event("message.received")],
        key: "twilio:{To}:{From}",
    },
    EntityRule {
        when: &[Condition::Event("message")],
        key: "twilio:{From}:{To}",
    },
];

const EVENTS: &[EventType] = &[
    event("message.received", "A message was received"),
    event("message.queued", "A message waits to be sent"),
    event("message.sent", "A message was handed to the carrier"),
    event("message.delivered", "A message arrived"),
    event("message.undelivered", "A message did not arrive"),
    event("message.failed", "A message could not be sent"),
    event("message.read", "A message was read"),
    event("call.ringing", "A call rings"),
    event("call.in-progress", "A call was answered"),
    event("call.completed", "A call ended"),
    event("call.busy", "The number called was busy"),
    event("call.no-answer", "Nobody answered a call"),
    event("call.failed", "A call could not be made"),
    event("recording.completed", "A recording is ready"),
];
