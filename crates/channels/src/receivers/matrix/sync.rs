//! The loop that requests new events.

use super::client_api::{ask, check, not_matrix, own_id};
use super::events::{Joined, Synced};
use super::rooms::{Lookups, Meant};
use super::{EVENTS, MAX_POSITION, Syncing, TRIES, UNREAD, UNREAD_MS, gap, rooms};
use crate::receive::{ReceiveError, Received};
use crate::receivers::Source;

impl Syncing {
    pub(super) async fn sync(
        &mut self,
        source: Source<'_>,
        position: Option<&str>,
    ) -> Result<Received, ReceiveError> {
        let me = match &self.user {
            Some(user) => user.clone(),
            None => own_id(source).await?,
        };
        self.user = Some(me.clone());
        // A token that belongs to another user cannot be used.
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
        // Without a token, the response contains messages from before receiving started.
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

    /// Returns the problem that the account shows. `is_unread` is true if encrypted messages have just arrived.
    pub(super) fn warning(&mut self, is_unread: bool, now_ms: u64) -> Option<&'static str> {
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

/// Returns the messages for the bot in a room, including messages that the response omits.
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
