//! The profile of Slack's Events API. Bodies and the endpoint handshake: docs.slack.dev, "Events API" and
//! `url_verification`. Slash commands and interactive messages are not events and are not supported.

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, Detail, Echo, EntityRule, EventSource, EventType, Handshake, KeySource,
    Profile, Replay, ReplayGuard, When, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "slack",
    alias: None,
    name: "Slack",
    about: "Mentions, messages, reactions",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &[],
        body: &[
            BodyEvent {
                prefix: "",
                path: "event.type",
            },
            BodyEvent {
                prefix: "",
                path: "type",
            },
        ],
        names: None,
        // The subtype is appended, so that a filter on `message` excludes edits and bot messages.
        detail_header: None,
        detail: &[Detail {
            of: &["message"],
            path: "event.subtype",
        }],
    },
    delivery_key: &[KeySource::Body("event_id")],
    // The signature covers the timestamp and the body, which contains the id:
    // <https://docs.slack.dev/authentication/verifying-requests-from-slack>
    replay: Replay {
        id_is_signed: true,
        guard: ReplayGuard::Key,
        note: "The signature covers the ID, which is in the body, and the time.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &[],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: Some(Handshake::Verified {
        when: When::Body("type", "url_verification"),
        answer: Echo::Json(r#"{"challenge":"{challenge}"}"#),
    }),
    test_events: &[],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

/// A thread is one conversation. A message outside a thread starts a conversation.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[],
        key: "slack:{team_id}:{event.channel}:{event.thread_ts}",
    },
    EntityRule {
        when: &[],
        key: "slack:{team_id}:{event.item.channel}:{event.item.ts}",
    },
    EntityRule {
        when: &[Condition::OneOf(&["app_mention", "message"])],
        key: "slack:{team_id}:{event.channel}:{event.ts}",
    },
    EntityRule {
        when: &[Condition::Event("message")],
        key: "slack:{team_id}:{event.channel}:{event.message.thread_ts}",
    },
    EntityRule {
        when: &[Condition::Event("message")],
        key: "slack:{team_id}:{event.channel}:{event.message.ts}",
    },
    EntityRule {
        when: &[Condition::Event("message")],
        key: "slack:{team_id}:{event.channel}:{event.ts}",
    },
];

const EVENTS: &[EventType] = &[
    event("app_mention", "Someone mentioned the app"),
    event("message", "Someone wrote a message"),
    event("message.bot_message", "A bot wrote a message"),
    event("message.file_share", "Someone shared a file"),
    event("message.message_changed", "A message was changed"),
    event("message.message_deleted", "A message was deleted"),
    event(
        "message.thread_broadcast",
        "An answer in a thread was shown in the channel",
    ),
    event("reaction_added", "Someone reacted with an emoji"),
    event("reaction_removed", "Someone removed a reaction"),
    event("app_home_opened", "Someone opened the app's page"),
    event("channel_created", "A channel was created"),
    event("channel_archive", "A channel was archived"),
    event("channel_rename", "A channel was renamed"),
    event("member_joined_channel", "Someone joined a channel"),
    event("member_left_channel", "Someone left a channel"),
    event("team_join", "Someone joined the workspace"),
    event("file_shared", "A file was shared"),
    event("pin_added", "Something was pinned"),
    event("link_shared", "A link of the app's domain was shared"),
];
