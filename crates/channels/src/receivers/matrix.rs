//! `matrix`: long polling with `sync` (<https://spec.matrix.org/latest/client-server-api/#syncing>). Encrypted rooms
//! cannot be read (decision 30).
//!
//! A room is private while the person and the bot are its only members. Every member can invite others, so
//! this is checked before each answer.

mod buttons;
mod client_api;
mod events;
mod files;
mod gap;
mod invitations;
mod members;
mod quotes;
mod rooms;

use super::buttons::Buttons;
use super::{Inbox, MAX_MEDIA, PlaceKeys, Receiver, Receiving, Source, VoiceFormat};
use crate::error::Failure;
use crate::media::Media;
use crate::quotes::Quote;
use crate::receive::{ReceiveError, Received};
use crate::vendor::Limits;
use buttons::MatrixButtons;
use client_api::{ask, check, not_matrix, own_id, request, send, whoami};
pub(crate) use events::replied_event;
use events::{Joined, Synced};
use futures_util::future::BoxFuture;
use invitations::Invitations;
use reqwest::Method;
use rooms::{Lookups, Meant};
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
/// Events of a room per request, and after an answer that was too large.
const EVENTS: (u32, u32) = (50, 1);
/// How often the members of a room are requested before its messages are skipped.
const TRIES: u32 = 3;
/// The longest position that is stored, in bytes.
const MAX_POSITION: usize = 4096;
/// Shown on the account for a while after a member of an encrypted group has written in it.
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
    /// Returns the bot's user ID. Requests it only once.
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
    /// Number of failures in a row to read the members of a room.
    failures: u32,
    invitations: Invitations,
    /// When a member of an encrypted group last wrote in it, by the monotonic clock.
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

impl Syncing {
    async fn sync(
        &mut self,
        source: Source<'_>,
        position: Option<&str>,
    ) -> Result<Received, ReceiveError> {
        let me = match &self.user {
            Some(user) => user.clone(),
            None => own_id(source).await?,
        };
        self.user = Some(me.clone());
        // A token that belongs to another user is useless for this one.
        let since = position
            .and_then(|position| position.split_once(' '))
            .filter(|(user, _)| *user == me)
            .map(|(_, since)| since);
        self.invitations.retry(source).await;
        let events = if self.is_too_large {
            EVENTS.1
        } else {
            EVENTS.0
        };
        let mut since = since;
        let poll_ms = self.invitations.poll_ms();
        let mut answer = ask(source, since, (events, poll_ms)).await?;
        if answer.status == 400 && since.is_some() {
            // The server no longer accepts the token.
            since = None;
            answer = ask(source, since, (events, poll_ms)).await?;
        }
        check(&answer)?;
        let synced: Option<Synced> = answer.parse();
        self.is_too_large = synced.is_none();
        let synced = synced.ok_or_else(not_matrix)?;
        if synced.next_batch.len() > MAX_POSITION {
            return Err(not_matrix().into());
        }
        let mut all = Meant {
            messages: synced.invitations(&me),
            ..Meant::default()
        };
        self.invitations.receive(&all.messages);
        // Without a token, the response contains messages from before the start of receiving.
        if let Some(since) = since {
            let mut lookups = Lookups::default();
            for (room, joined) in synced.joined() {
                match new_messages(source, (&room, &joined), since, &me, &mut lookups).await {
                    Ok(found) => all.extend(found),
                    Err(error) if self.failures < TRIES => {
                        self.failures += 1;
                        return Err(error);
                    }
                    // One room must not block the others forever.
                    Err(error) => {
                        tracing::warn!(?error, "older messages of a Matrix room are skipped");
                        let new = joined.room_events(&me);
                        match rooms::meant(source, &room, new, &me, &mut lookups).await {
                            Ok(found) => all.extend(found),
                            Err(error) => {
                                tracing::warn!(?error, "messages of a Matrix room are skipped");
                            }
                        }
                    }
                }
            }
        }
        self.failures = 0;
        Ok(Received {
            position: Some(format!("{me} {}", synced.next_batch)),
            is_new_position: since.is_none(),
            messages: all.messages,
            presses: all.presses,
            warning: self.warning(all.is_encrypted, source.inner.clock.monotonic_ms()),
            ..Received::default()
        })
    }

    /// Returns the problem that the account shows. `is_unread` is whether encrypted messages have arrived now.
    fn warning(&mut self, is_unread: bool, now_ms: u64) -> Option<&'static str> {
        let is_recent = |at: &u64| now_ms.saturating_sub(*at) < UNREAD_MS;
        self.unread_at_ms = self.unread_at_ms.filter(is_recent);
        if is_unread {
            if self.unread_at_ms.is_none() {
                tracing::warn!("messages of an encrypted Matrix group cannot be read");
            }
            self.unread_at_ms = Some(now_ms);
        }
        self.unread_at_ms.map(|_| UNREAD)
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

/// Returns the messages for the bot in a room, including those that the response leaves out.
async fn new_messages(
    source: Source<'_>,
    (room, joined): (&str, &Joined),
    since: &str,
    me: &str,
    lookups: &mut Lookups,
) -> Result<Meant, ReceiveError> {
    let mut new = match joined.gap() {
        Some(gap) => gap::missed_events(source, room, gap, since, me).await?,
        None => Vec::new(),
    };
    new.extend(joined.room_events(me));
    if new.is_empty() {
        return Ok(Meant::default());
    }
    Ok(rooms::meant(source, room, new, me, lookups).await?)
}

#[cfg(test)]
mod tests;
