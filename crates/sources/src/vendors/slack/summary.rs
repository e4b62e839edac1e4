//! Summaries of Slack events.

use crate::summary::{Field, Section, Summary};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &[],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

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
        "{event.user|'Someone'} removed the reaction {event.reaction}.",
    ),
    (
        "app_home_opened",
        "{event.user|'Someone'} opened the app's page.",
    ),
    (
        "channel_created",
        "The channel {event.channel.name} was created.",
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
    ("", "Slack reports: {event.type|type}."),
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
