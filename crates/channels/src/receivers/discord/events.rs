//! Reads the gateway's payloads (<https://docs.discord.com/developers/events/gateway-events>).

use super::super::{at_most_files, display_name, file_name};
use crate::quotes::{Quote, QuotedAuthor, ReceivedQuote};
use crate::receive::{ReceivedFile, ReceivedMessage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The types of messages that a person writes: an ordinary message and a reply.
const WRITTEN: [u32; 2] = [0, 19];
/// The type of a reference to a forwarded message.
const FORWARD: u32 = 1;
/// The flag of a recording made in Discord (<https://docs.discord.com/developers/resources/message#message-object-message-flags>).
const IS_VOICE_MESSAGE: u64 = 1 << 13;

#[derive(Debug, Deserialize)]
pub(super) struct Payload {
    pub(super) op: u32,
    d: Option<Box<RawValue>>,
    #[serde(rename = "s")]
    pub(super) seq: Option<u64>,
    #[serde(rename = "t")]
    pub(super) event: Option<String>,
}

impl Payload {
    /// Parses the data separately. If the data has an unknown form, the event's number is still read.
    pub(super) fn data<T: DeserializeOwned>(&self) -> Option<T> {
        read(self.d.as_ref()?.get())
    }
}

pub(super) fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

#[derive(Debug, Deserialize)]
pub(super) struct Ready {
    pub(super) session_id: String,
    pub(super) resume_gateway_url: String,
    pub(super) user: User,
}

#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) id: String,
    #[serde(default)]
    bot: bool,
    global_name: Option<String>,
    #[serde(default)]
    username: String,
}

#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub(super) struct Message {
    id: String,
    channel_id: String,
    /// Absent in direct messages.
    guild_id: Option<String>,
    author: User,
    /// Set if a webhook wrote the message.
    webhook_id: Option<String>,
    #[serde(rename = "type")]
    kind: u32,
    #[serde(default)]
    content: String,
    #[serde(default)]
    mentions: Vec<User>,
    message_reference: Option<Reference>,
    /// The message that this one replies to. Absent if that message was deleted.
    referenced_message: Option<Box<Replied>>,
    /// Absent unless the person changed the text.
    edited_timestamp: Option<String>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    #[serde(default)]
    flags: u64,
}

#[derive(Debug, Deserialize)]
struct Attachment {
    #[serde(default)]
    filename: String,
    /// The URL, valid for about a day.
    url: String,
}

#[derive(Debug, Deserialize)]
struct Reference {
    #[serde(rename = "type", default)]
    kind: u32,
}

#[derive(Debug, Deserialize)]
struct Replied {
    author: User,
    webhook_id: Option<String>,
    #[serde(default)]
    content: String,
}

impl Message {
    /// Returns whether the person has changed the text.
    pub(super) const fn is_edited(&self) -> bool {
        self.edited_timestamp.is_some()
    }
}

/// Returns the message if it is from a person and meant for the bot.
pub(super) fn message_of(message: Message, me: &str) -> Option<ReceivedMessage> {
    let author = &message.author;
    let is_program = author.bot || author.id == me || message.webhook_id.is_some();
    if is_program || !WRITTEN.contains(&message.kind) {
        return None;
    }
    let is_group = message.guild_id.is_some();
    if is_group && !message.mentions.iter().any(|user| user.id == me) {
        return None;
    }
    let text = message.content.replace(&format!("<@{me}>"), "");
    let text = text.replace(&format!("<@!{me}>"), "").trim().to_owned();
    let is_voice = message.flags & IS_VOICE_MESSAGE != 0;
    let files = message.attachments.into_iter().map(|it| ReceivedFile {
        name: file_name(&it.filename),
        id: it.url,
        is_voice,
    });
    let (text, files) = at_most_files(text, files.collect());
    let reference = message.message_reference.as_ref();
    let replied = message.referenced_message.as_deref();
    let quote = replied.and_then(|it| quote_of(it, &author.id, me));
    let name = author.global_name.as_deref().unwrap_or(&author.username);
    Some(ReceivedMessage {
        name: display_name(name, &author.id),
        person: message.author.id,
        // An edit gets its own ID. Discord reports an edit again when it adds a link preview.
        message_id: match message.edited_timestamp {
            Some(at) => format!("{}:{at}", message.id),
            None => message.id,
        },
        chat: message.channel_id,
        is_group,
        is_own: reference.is_none_or(|it| it.kind != FORWARD),
        text: (!text.is_empty()).then_some(text),
        files,
        quote: quote.map(ReceivedQuote::Message),
        ..ReceivedMessage::default()
    })
}

fn quote_of(replied: &Replied, person: &str, me: &str) -> Option<Quote> {
    let author = &replied.author;
    let by = match author.id.as_str() {
        _ if replied.webhook_id.is_some() => QuotedAuthor::Other,
        id if id == me => QuotedAuthor::Bot,
        id if id == person => QuotedAuthor::Person,
        _ => QuotedAuthor::Other,
    };
    let name = author.global_name.as_deref().unwrap_or(&author.username);
    Quote::of(by, display_name(name, &author.id), &replied.content)
}

#[cfg(test)]
mod tests;
