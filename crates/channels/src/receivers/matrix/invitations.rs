//! Accepts invitations to rooms. Requests that the server refuses are repeated later.

use super::super::Source;
use super::client_api::{request, send};
use super::{ENCRYPTED, NOUN, buttons};
use crate::error::Failure;
use crate::receive::ReceivedMessage;
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;

/// How long the server holds a request without events, in milliseconds: normally, and while refused requests are
/// repeated.
const POLL_MS: (&str, &str) = ("30000", "5000");
/// The maximum number of retries for joining a room or sending a notice while the server limits the bot. After other
/// failures, there are no retries.
const RETRIES: u32 = 10;

#[derive(Debug, Default)]
pub(super) struct Invitations {
    /// Rooms that could not be joined. The server reports an invitation only once.
    unjoined: Vec<RefusedRoom>,
    /// The encrypted groups to which the last answer invites the bot.
    encrypted_groups: BTreeSet<String>,
    /// The encrypted groups that have not received their notice.
    unnoted: Vec<RefusedRoom>,
}

#[derive(Debug)]
struct RefusedRoom {
    id: String,
    is_encrypted_group: bool,
    /// The remaining number of retries.
    retries: u32,
}

impl RefusedRoom {
    fn new(id: &str, is_encrypted_group: bool) -> Self {
        Self {
            id: id.to_owned(),
            is_encrypted_group,
            retries: RETRIES,
        }
    }

    /// Returns the room for a retry after this failure, or `None` if there is no retry. Only rate limits are
    /// retried, because each request that times out would delay messages.
    fn after(self, failure: &Failure) -> Option<Self> {
        let is_limited = matches!(failure, Failure::Later { after: Some(_), .. });
        let retries = self.retries.saturating_sub(1);
        (is_limited && retries > 0).then_some(Self { retries, ..self })
    }
}

impl Invitations {
    /// Records the invitations of an answer.
    pub(super) fn receive(&mut self, invitations: &[ReceivedMessage]) {
        let encrypted = invitations
            .iter()
            .filter(|it| it.is_group && it.code_note.is_some());
        self.encrypted_groups = encrypted.map(|it| it.chat.clone()).collect();
    }

    /// Joins rooms, and sends the notice to encrypted groups among them.
    pub(super) async fn accept(
        &mut self,
        source: Source<'_>,
        accepted: &[String],
    ) -> Result<(), Failure> {
        let mut joined = Ok(());
        for room in accepted {
            let is_encrypted_group = self.encrypted_groups.contains(room);
            if let Err(error) = join_room(source, room).await {
                let refused = RefusedRoom::new(room, is_encrypted_group);
                self.unjoined.push(refused);
                joined = Err(error);
            } else if is_encrypted_group
                && let Err(error) = buttons::send_notice(source, room, ENCRYPTED).await
            {
                tracing::warn!(?error, "an encrypted Matrix group got no notice");
                self.unnoted.push(RefusedRoom::new(room, true));
            }
        }
        joined
    }

    /// Repeats the requests to join rooms and to send notices that were refused.
    pub(super) async fn retry(&mut self, source: Source<'_>) {
        for room in std::mem::take(&mut self.unjoined) {
            match join_room(source, &room.id).await {
                Ok(()) if room.is_encrypted_group => {
                    self.unnoted.push(RefusedRoom::new(&room.id, true));
                }
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(?error, "an invitation to a Matrix room was not accepted");
                    self.unjoined.extend(room.after(&error));
                }
            }
        }
        for room in std::mem::take(&mut self.unnoted) {
            let sent = buttons::send_notice(source, &room.id, ENCRYPTED).await;
            if let Err(error) = sent {
                tracing::warn!(?error, "an encrypted Matrix group got no notice");
                self.unnoted.extend(room.after(&error));
            }
        }
    }

    /// Returns how long the server may hold the next request without events, in milliseconds.
    pub(super) fn poll_ms(&self) -> &'static str {
        if self.unjoined.is_empty() && self.unnoted.is_empty() {
            POLL_MS.0
        } else {
            POLL_MS.1
        }
    }
}

async fn join_room(source: Source<'_>, room: &str) -> Result<(), Failure> {
    let request = request(source, Method::POST, &["rooms", room, "join"])?;
    let answer = send(source, request.json(&json!({}))).await?;
    let after = answer.response_json().milliseconds("/retry_after_ms");
    answer.check(NOUN, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_room_is_retried_while_the_server_limits_the_bot() {
        let limited = Failure::Later {
            after: Some(Duration::from_secs(5)),
            why: String::new(),
        };
        let mut room = RefusedRoom::new("!r:a", false);
        for _ in 1..RETRIES {
            room = room.after(&limited).unwrap();
        }
        assert!(room.after(&limited).is_none());
        let room = RefusedRoom::new("!r:a", false);
        assert!(room.after(&Failure::later("It failed.")).is_none());
    }
}
