//! The profile of GitHub. Events and headers: docs.github.com, "Webhook events and payloads".

mod events;
mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    Condition, Detail, EntityRule, EventSource, KeySource, Profile, Replay, ReplayGuard,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "codehost_a",
    alias: Some("github"),
    name: "Code host A (GitHub)",
    about: "Pushes, pull requests, issues, releases",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::JsonOrFormPayload,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &["x-codehost-a-event", "x-github-event"],
        body: &[],
        names: None,
        detail_header: None,
        detail: &[Detail {
            of: &[],
            path: "action",
        }],
    },
    delivery_key: &[
        KeySource::Header("x-codehost-a-delivery"),
        KeySource::Header("x-github-delivery"),
    ],
    // The signature is "generated using your webhook's secret token and the payload contents":
    // <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "The signature covers the body and not X-GitHub-Delivery: with `key`, a captured delivery can be sent \
            again under a new ID.",
    },
    entities: ENTITIES,
    events: events::EVENTS,
    more_events: events::MORE_EVENTS,
    headers: &[
        "x-codehost-a-event",
        "x-github-event",
        "x-codehost-a-delivery",
        "x-github-delivery",
    ],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    // Sent when a webhook is created: docs.github.com, "Webhook events and payloads", `ping`.
    test_events: &["ping"],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

/// A comment on a pull request arrives as a comment on an issue with a `pull_request` member.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[Condition::Object("issue.pull_request")],
        key: "codehost_a:{repository.full_name}:pr:{issue.number}",
    },
    EntityRule {
        when: &[],
        key: "codehost_a:{repository.full_name}:pr:{pull_request.number}",
    },
    EntityRule {
        when: &[],
        key: "codehost_a:{repository.full_name}:issue:{issue.number}",
    },
];
