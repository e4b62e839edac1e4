//! The profile of Twilio: messages and calls. Parameters: twilio.com/docs, "Twilio's request to your
//! incoming message Webhook URL", "Status callbacks" and "Webhooks: connection overrides" (the idempotency
//! token).

use super::{
    BodyEvent, Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay, event,
};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::{SampleKind, talk as samples};
use crate::summary::{Field, Section, Summary};

pub(super) static PROFILE: Profile = Profile {
    id: "twilio",
    alias: None,
    name: "Twilio",
    default_auth_mode: AuthMode::TwilioSignature,
    body: BodyKind::Form,
    event: EventSource {
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
    guide: "\
1. In the console open Phone Numbers, Manage, Active numbers, and choose the number.
2. Under Messaging Configuration, A message comes in: Webhook, {url}, HTTP POST. Save it. (For calls: \
Voice Configuration, Call status changes.)
3. Store the account's Auth Token (console, Account Info) as this webhook's secret: here the vendor makes \
the secret, so the one made by us is replaced.

The signature covers the address exactly as the vendor calls it: server.external_url must be that address.",
    handshake: None,
    summary: Summary {
        sentences: &[SENTENCES],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: SampleKind::Form(samples::twilio),
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

const SENTENCES: &[(&str, &str)] = &[
    ("message.received", "A message from {From} came in."),
    (
        "message",
        "The message to {To} is {MessageStatus|SmsStatus}.",
    ),
    ("message.undelivered", "The message to {To} did not arrive."),
    ("message.failed", "The message to {To} could not be sent."),
    ("message.delivered", "The message to {To} arrived."),
    ("call", "The call from {From} to {To} is {CallStatus}."),
    ("call.completed", "The call from {From} to {To} ended."),
    ("recording", "A recording is {RecordingStatus}."),
];

const FIELDS: &[Field] = &[
    Field::line("From", &["From", "Caller"]),
    Field::line("To", &["To", "Called"]),
    Field::line(
        "Status",
        &[
            "RecordingStatus",
            "MessageStatus",
            "SmsStatus",
            "CallStatus",
        ],
    ),
    Field::line("Direction", &["Direction"]),
    Field::line("Name", &["ProfileName", "CallerName"]),
    Field::line("City", &["FromCity"]),
    Field::line("Country", &["FromCountry"]),
    Field::line("Seconds", &["RecordingDuration", "CallDuration"]),
    Field::line("Digits", &["Digits"]),
    Field::line("Media", &["NumMedia"]),
    Field::line("First media", &["MediaUrl0"]),
    Field::line("Recording", &["RecordingUrl"]),
    Field::line("Error", &["ErrorCode"]),
    Field::line("Error text", &["ErrorMessage"]),
    Field::line("Message id", &["MessageSid", "SmsSid"]),
    Field::line("Call id", &["CallSid"]),
    Field::block("Text", &["Body", "SpeechResult", "TranscriptionText"]),
];

const EVENTS: &[EventType] = &[
    event("message.received", "A message came in"),
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
