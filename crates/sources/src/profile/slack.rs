//! The profile of Slack's Events API. Bodies and the endpoint handshake: docs.slack.dev, "Events API" and
//! `url_verification`. Slash commands and interactive messages are not events and are not supported.

use super::{
    BodyEvent, Condition, Detail, EntityRule, EventSource, EventType, Handshake, KeySource,
    Profile, Replay, event,
};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::{SampleKind, talk as samples};
use crate::summary::{Field, Section, Summary};

pub(super) static PROFILE: Profile = Profile {
    id: "slack",
    alias: None,
    name: "Slack",
    default_auth_mode: AuthMode::SlackSignature,
    body: BodyKind::Json,
    event: EventSource {
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
        // Appending the subtype keeps edits and bot messages out of a filter on `message`.
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
        note: "The signature covers the id, which is in the body, and the time.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &[],
    guide: "\
1. At api.slack.com/apps open your app (or make one From scratch), then Basic Information, and store its \
Signing Secret in this webhook: here Slack makes the secret, so the one made by us is replaced.
2. Open Event Subscriptions, turn Enable Events on. Request URL: {url} (Slack checks it at once).
3. Under Subscribe to bot events add the events to send, for example app_mention or message.channels, and \
save.
4. Under Install App install the app into the workspace, and invite it into the channels it should hear.",
    handshake: Some(Handshake {
        when: ("type", "url_verification"),
        echo: "challenge",
    }),
    summary: Summary {
        sentences: &[SENTENCES],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: SampleKind::Json(samples::slack),
};

/// A thread is one conversation. A message outside a thread starts one.
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

const SENTENCES: &[(&str, &str)] = &[
    ("app_mention", "{event.user|'Someone'} mentioned the app."),
    (
        "message",
        "{event.user|event.bot_id|'Someone'} wrote a message.",
    ),
    (
        "message.bot_message",
        "The bot {event.username|event.bot_id|'(unknown)'} wrote a message.",
    ),
    ("message.message_changed", "A message was changed."),
    ("message.message_deleted", "A message was deleted."),
    (
        "reaction_added",
        "{event.user|'Someone'} reacted with {event.reaction}.",
    ),
    (
        "reaction_removed",
        "{event.user|'Someone'} took back the reaction {event.reaction}.",
    ),
    (
        "app_home_opened",
        "{event.user|'Someone'} opened the app's page.",
    ),
    (
        "channel_created",
        "The channel {event.channel.name} was made.",
    ),
    (
        "channel_archive",
        "{event.user|'Someone'} archived a channel.",
    ),
    ("file_shared", "{event.user_id|'Someone'} shared a file."),
    ("pin_added", "{event.user|'Someone'} pinned something."),
    ("link_shared", "{event.user|'Someone'} shared a link."),
    (
        "channel_rename",
        "A channel is now called {event.channel.name}.",
    ),
    (
        "member_joined_channel",
        "{event.user|'Someone'} joined a channel.",
    ),
    (
        "member_left_channel",
        "{event.user|'Someone'} left a channel.",
    ),
    (
        "team_join",
        "{event.user.real_name|event.user.name|event.user.id|'Someone'} joined the workspace.",
    ),
    ("", "Slack tells: {event.type|type}."),
];

const FIELDS: &[Field] = &[
    Field::line("Workspace", &["team_id"]),
    Field::line(
        "Channel",
        &[
            "event.channel",
            "event.channel.name",
            "event.channel.id",
            "event.item.channel",
            "event.channel_id",
        ],
    ),
    Field::line(
        "From",
        &[
            "event.user",
            "event.user.real_name",
            "event.user.name",
            "event.user.id",
            "event.message.user",
            "event.user_id",
            "event.username",
            "event.bot_id",
        ],
    ),
    Field::line("Reaction", &["event.reaction"]),
    Field::line("On a message of", &["event.item_user"]),
    Field::line("File", &["event.file_id", "event.file.id"]),
    Field::list("Files", "event.files", "name"),
    Field::list("Links", "event.links", "url"),
    Field::line("Message", &["event.ts", "event.item.ts"]),
    Field::line("Thread", &["event.thread_ts"]),
    Field::block("Text", &["event.text", "event.message.text"]),
    Field::block("Before", &["event.previous_message.text"]),
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
    event("reaction_removed", "Someone took a reaction back"),
    event("app_home_opened", "Someone opened the app's page"),
    event("channel_created", "A channel was made"),
    event("channel_archive", "A channel was archived"),
    event("channel_rename", "A channel was renamed"),
    event("member_joined_channel", "Someone joined a channel"),
    event("member_left_channel", "Someone left a channel"),
    event("team_join", "Someone joined the workspace"),
    event("file_shared", "A file was shared"),
    event("pin_added", "Something was pinned"),
    event("link_shared", "A link of the app's domain was shared"),
];
