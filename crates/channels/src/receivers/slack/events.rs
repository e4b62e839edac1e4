//! Reads Slack's events: `message` in direct messages
//! (<https://docs.slack.dev/reference/events/message.im>) and `app_mention` elsewhere
//! (<https://docs.slack.dev/reference/events/app_mention>).

use super::super::{at_most_files, file_name};
use crate::receive::{ReceivedFile, ReceivedMessage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub(super) struct Envelope {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) envelope_id: Option<String>,
    pub(super) reason: Option<String>,
    payload: Option<Box<RawValue>>,
}

impl Envelope {
    /// Reads the payload. Returns `None` if it has a different form.
    pub(super) fn payload<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.payload.as_ref()?.get()).ok()
    }
}

#[derive(Debug, Deserialize)]
struct Payload {
    event: Box<RawValue>,
}

/// An edit of a direct message (<https://docs.slack.dev/reference/events/message/message_changed>).
#[derive(Debug, Deserialize)]
struct Edit {
    subtype: String,
    channel: String,
    channel_type: String,
    message: EditedMessage,
    previous_message: Before,
}

#[derive(Debug, Deserialize)]
struct EditedMessage {
    user: String,
    bot_id: Option<String>,
    #[serde(default)]
    text: String,
    ts: String,
    thread_ts: Option<String>,
    edited: EditedAt,
}

#[derive(Debug, Deserialize)]
struct EditedAt {
    ts: String,
}

#[derive(Debug, Deserialize)]
struct Before {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    channel: String,
    channel_type: Option<String>,
    user: Option<String>,
    /// Set if a program wrote the message.
    bot_id: Option<String>,
    #[serde(default)]
    text: String,
    ts: String,
    thread_ts: Option<String>,
    #[serde(default)]
    files: Vec<File>,
}

/// A file (<https://docs.slack.dev/reference/objects/file-object>).
#[derive(Debug, Deserialize)]
struct File {
    id: String,
    /// Absent if the app may not read files.
    name: Option<String>,
    subtype: Option<String>,
    /// The user who uploaded the file.
    user: Option<String>,
}

/// Returns the message of an envelope if it is from a person and meant for the bot.
pub(super) fn message_of(envelope: &Envelope, me: &str) -> Option<ReceivedMessage> {
    if envelope.kind != "events_api" {
        return None;
    }
    let Payload { event } = envelope.payload()?;
    if let Ok(edit) = serde_json::from_str::<Edit>(event.get()) {
        return edited_message(edit, me);
    }
    let event: Event = serde_json::from_str(event.get()).ok()?;
    let is_group = match (event.kind.as_str(), event.channel_type.as_deref()) {
        ("message", Some("im")) => false,
        ("app_mention", _) => true,
        _ => return None,
    };
    // Other subtypes are deletions and reports about the channel.
    if !matches!(
        event.subtype.as_deref(),
        None | Some("file_share" | "thread_broadcast")
    ) {
        return None;
    }
    let person = event
        .user
        .filter(|user| user != me && event.bot_id.is_none())?;
    let text = plain(&event.text, me);
    // Another person made this recording, and it was shared again.
    let mut uploaders = event.files.iter().filter_map(|file| file.user.as_ref());
    let is_own = uploaders.all(|user| *user == person);
    let files = event.files.into_iter().map(|file| ReceivedFile {
        name: file_name(file.name.as_deref().unwrap_or_default()),
        // A recording made in Slack.
        is_voice: file.subtype.as_deref() == Some("slack_audio"),
        id: file.id,
    });
    let (text, files) = at_most_files(text, files.collect());
    let thread = match event.thread_ts {
        None if is_group => Some(event.ts.clone()),
        thread => thread,
    };
    Some(ReceivedMessage {
        // The same message may arrive as two kinds of events, so its ID does not depend on the
        // kind.
        message_id: format!("{}:{}", event.channel, event.ts),
        person,
        chat: event.channel,
        thread,
        is_group,
        is_own,
        text: (!text.is_empty()).then_some(text),
        files,
        ..ReceivedMessage::default()
    })
}

/// Returns the new message of an edit, if the edit changed the text. Slack also reports link previews as edits. In
/// channels, edits have no event that names the bot.
fn edited_message(edit: Edit, me: &str) -> Option<ReceivedMessage> {
    let message = edit.message;
    let is_edit = edit.subtype == "message_changed" && edit.channel_type == "im";
    let is_person = message.user != me && message.bot_id.is_none();
    let text = plain(&message.text, me);
    let is_other = message.text != edit.previous_message.text && !text.is_empty();
    (is_edit && is_person && is_other).then(|| ReceivedMessage {
        message_id: format!("{}:{}:{}", edit.channel, message.ts, message.edited.ts),
        person: message.user,
        chat: edit.channel,
        thread: message.thread_ts,
        is_own: true,
        text: Some(text),
        ..ReceivedMessage::default()
    })
}

/// Returns the text that the person typed, without the bot's name and without Slack's escapes
/// (<https://docs.slack.dev/messaging/formatting-message-text#escaping>).
fn plain(text: &str, me: &str) -> String {
    let text = text.replace(&format!("<@{me}>"), "");
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&").trim().to_owned()
}

#[cfg(test)]
mod tests;
