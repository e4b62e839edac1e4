//! `matrix`: long polling with `sync` (<https://spec.matrix.org/latest/client-server-api/#syncing>). Encrypted rooms
//! cannot be read (decision 30).
//!
//! A room is private while the person and the bot are its only members. Every member can invite others, so privacy is
//! checked before each answer.

mod buttons;
mod client_api;
mod events;
mod files;
mod gap;
mod invitations;
mod members;
mod quotes;
mod rooms;
mod sync;

use super::buttons::Buttons;
use super::{Inbox, MAX_MEDIA, PlaceKeys, Receiver, Receiving, Source, VoiceFormat};
use crate::error::Failure;
use crate::media::Media;
use crate::quotes::Quote;
use crate::receive::{ReceiveError, Received};
use crate::vendor::Limits;
use buttons::MatrixButtons;
use client_api::{not_matrix, request, send, whoami};
pub(crate) use events::replied_event;
use futures_util::future::BoxFuture;
use invitations::Invitations;
use reqwest::Method;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const NOUN: &str = "Matrix";
const ENCRYPTED: &str = "Messages of encrypted rooms cannot be read here. Create a room without encryption, \
                         and invite the bot to it.";
/// An event has at most 64 KiB.
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(45),
    bytes: 16 * 1024 * 1024,
};
/// The types of events that are read.
const TIMELINE: [&str; 3] = ["m.room.message", "m.room.encrypted", "m.reaction"];
/// The number of events of a room per request: normally, and after an answer that was too large.
const EVENTS: (u32, u32) = (50, 1);
/// The number of requests for the members of a room before its messages are skipped.
const TRIES: u32 = 3;
/// The longest position that is stored, in bytes.
const MAX_POSITION: usize = 4096;
/// A warning on the account. It is shown for a while after a member of an encrypted group has
/// written in the group.
const UNREAD: &str = "Someone wrote in an encrypted Matrix group. Its messages cannot be read. Invite the bot to a room \
                      without encryption.";
const UNREAD_MS: u64 = 3_600_000;
/// How long the server shows that the bot is typing, in milliseconds.
const TYPING_MS: u32 = 8000;

/// The maximum number of bots whose user IDs are kept.
const MAX_USERS: usize = 256;

#[derive(Debug)]
pub(crate) struct MatrixReceiver {
    /// The user IDs of bots, by the hash of their homeserver and token.
    users: Mutex<BTreeMap<[u8; 32], String>>,
}

pub(crate) static RECEIVER: MatrixReceiver = MatrixReceiver {
    users: Mutex::new(BTreeMap::new()),
};

impl MatrixReceiver {
    /// Returns the bot's user ID. Requests it from the server only once.
    async fn own_id(&self, source: Source<'_>) -> Result<String, Failure> {
        let mut hash = Sha256::new();
        hash.update(source.field("homeserver").unwrap_or_default());
        hash.update([0]);
        hash.update(source.need_secret("access_token")?);
        let key: [u8; 32] = hash.finalize().into();
        let users = || self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(user) = users().get(&key) {
            return Ok(user.clone());
        }
        let answer = whoami(source).await?;
        answer.check(NOUN, None)?;
        let user = match answer.response_json().text("/user_id") {
            "" => return Err(not_matrix()),
            user => user.to_owned(),
        };
        let mut users = users();
        if users.len() >= MAX_USERS {
            users.clear();
        }
        users.insert(key, user.clone());
        Ok(user)
    }
}

#[derive(Debug, Default)]
struct Syncing {
    /// The bot's user ID, once it is known.
    user: Option<String>,
    /// Whether the last answer was too large to read.
    is_too_large: bool,
    /// The number of consecutive failures to read the members of a room.
    failures: u32,
    invitations: Invitations,
    /// When a member of an encrypted group last wrote in the group, by the monotonic clock.
    unread_at_ms: Option<u64>,
}

impl Receiving for Syncing {
    fn receive<'a>(
        &'a mut self,
        source: Source<'a>,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>> {
        Box::pin(self.sync(source, position))
    }

    fn confirm<'a>(
        &'a mut self,
        source: Source<'a>,
        accepted: &'a [String],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.invitations.accept(source, accepted))
    }
}

impl Receiver for MatrixReceiver {
    fn start(&self) -> Box<dyn Receiving> {
        Box::new(Syncing::default())
    }

    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>> {
        let token = source.need_secret("access_token").ok()?;
        Some(Inbox::of_token(source.field("homeserver")?, token))
    }

    fn place_keys(&self) -> PlaceKeys {
        PlaceKeys {
            chat: "room_id",
            thread: None,
        }
    }

    fn buttons(&self) -> Option<&'static dyn Buttons> {
        Some(&MatrixButtons)
    }

    fn fetch_file<'a>(
        &'a self,
        source: Source<'a>,
        file_id: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Failure>> {
        Box::pin(files::fetch(source, file_id, max_bytes))
    }

    fn fetch_quote<'a>(
        &'a self,
        source: Source<'a>,
        place: (&'a str, &'a str),
        message_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Quote>, Failure>> {
        Box::pin(quotes::fetch(source, place, message_id))
    }

    fn voice(&self) -> Option<VoiceFormat> {
        Some(VoiceFormat::opus(MAX_MEDIA))
    }

    fn max_picture_bytes(&self) -> Option<usize> {
        Some(MAX_MEDIA)
    }

    fn send_media<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        _thread: Option<&'a str>,
        media: &'a Media,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(files::send_media(source, chat, media))
    }

    fn show_typing<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        _thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let me = self.own_id(source).await?;
            let path = ["rooms", chat, "typing", me.as_str()];
            let body = json!({ "typing": true, "timeout": TYPING_MS });
            let answer = send(source, request(source, Method::PUT, &path)?.json(&body)).await?;
            answer.check(NOUN, None)
        })
    }

    fn is_private<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        person: &'a str,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(members::is_private(source, chat, person))
    }
}

#[cfg(test)]
mod tests;
