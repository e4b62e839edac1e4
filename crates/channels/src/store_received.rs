//! Stores received messages of paired people. For a message of any other person, stores at most a pairing request.

use crate::files::store_files;
use crate::handle::{Channels, Inner};
use crate::pairings::may_ask;
use crate::quotes::stored_quote;
use crate::receive::{Received, ReceivedMessage, StoredMessages};
use gatehouse_domain::Timestamp;
use gatehouse_store::{ChannelPollRow, Conn, ReceivedMessageRow, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of waiting messages per person. Further messages are dropped.
const MAX_WAITING: i64 = 50;
/// The answer to a message without text or file.
const NO_TEXT: &str = "Only text, voice messages, pictures and files can be received here.";
/// How long the ID of an answered message is kept, in milliseconds. Vendors do not deliver a message again later than
/// this. A repeated email is refused after four days: when it is answered, its date may be two days ahead, and an email
/// is refused when its date is two days old.
const KEPT_MS: i64 = 5 * 24 * 3_600_000;
/// How often a changed position is stored if no message is stored, in milliseconds.
const SAVE_MS: i64 = 5 * 60_000;
/// The longest accepted ID from a vendor, in bytes. Matrix has the longest IDs.
const MAX_ID: usize = 255;
/// The longest thread, in bytes. For mail, a thread contains all fields that an answer repeats.
const MAX_THREAD: usize = 4096;

/// The decision about a message, made before anything is written.
struct Decided {
    wanted: Vec<ReceivedMessage>,
    position: Option<String>,
    is_position_due: bool,
    at_most: &'static [(Duration, i64)],
}

impl Channels {
    /// Stores the messages of paired people, the pairing requests of others, and the position where receiving
    /// continues, in one transaction. Stores nothing if another node is the receiver. Writes nothing if there is
    /// nothing to store.
    pub async fn store_received(
        &self,
        account_id: &str,
        node: &str,
        received: Received,
    ) -> Result<StoredMessages, StoreError> {
        let (inner, id) = (Arc::clone(&self.0), account_id.to_owned());
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { inner.decide(conn, &id, received).await }));
        let decided: Decided = read.await?;
        if decided.wanted.is_empty() && !decided.is_position_due {
            return Ok(StoredMessages::default());
        }
        let swept_at = self
            .0
            .sweep_clock
            .now(&self.0.store, &*self.0.clock)
            .await?;
        let before = Timestamp::from_millis(swept_at.as_millis().saturating_sub(KEPT_MS));
        let is_shared = self.0.store.engine().is_shared();
        let (inner, id, node) = (Arc::clone(&self.0), account_id.to_owned(), node.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let mut stored = StoredMessages::default();
                let poll = conn.find_channel_poll(&id).await?;
                if is_shared && poll.is_none_or(|row| row.node != node) {
                    stored.is_lease_lost = true;
                    return Ok(stored);
                }
                let now = inner.clock.now();
                let mut at = now;
                for message in decided.wanted {
                    let person = &message.person;
                    if is_over(conn, (&id, person), decided.at_most, now).await? {
                        tracing::warn!(
                            account_id = id,
                            "a person sent too many messages; some are dropped"
                        );
                        continue;
                    }
                    inner
                        .store_message(conn, &id, message, at, &mut stored)
                        .await?;
                    // The time distinguishes answers with the same text.
                    at = Timestamp::from_millis(at.as_millis().saturating_add(1));
                }
                let position = decided.position.as_deref();
                conn.update_channel_poll_position(&id, position, now)
                    .await?;
                conn.delete_ended_messages(before).await?;
                Ok::<_, StoreError>(stored)
            })
        });
        write.await
    }
}

impl Inner {
    async fn decide(
        &self,
        conn: &mut Conn,
        account_id: &str,
        received: Received,
    ) -> Result<Decided, StoreError> {
        let mut wanted = Vec::new();
        for message in received.messages {
            if has_plain_ids(&message) && self.is_wanted(conn, account_id, &message).await? {
                wanted.push(message);
            }
        }
        let poll = conn.find_channel_poll(account_id).await?;
        let is_due = |poll: &ChannelPollRow| {
            let age = self.clock.now().as_millis() - poll.received_at.as_millis();
            poll.position != received.position && (received.is_new_position || age >= SAVE_MS)
        };
        Ok(Decided {
            wanted,
            is_position_due: poll.as_ref().is_some_and(is_due),
            position: received.position,
            at_most: received.at_most,
        })
    }

    /// Returns whether the person is paired, or may receive a code.
    async fn is_wanted(
        &self,
        conn: &mut Conn,
        account_id: &str,
        message: &ReceivedMessage,
    ) -> Result<bool, StoreError> {
        let pairing = conn
            .find_channel_pairing_of(account_id, &message.person)
            .await?;
        let is_paired = pairing.as_ref().is_some_and(|it| it.approved_at.is_some());
        Ok(is_paired || (!message.is_group && may_ask(pairing.as_ref(), self.clock.now())))
    }

    async fn store_message(
        &self,
        conn: &mut Conn,
        account_id: &str,
        message: ReceivedMessage,
        at: Timestamp,
        stored: &mut StoredMessages,
    ) -> Result<(), StoreError> {
        let person = &message.person;
        let pairing = conn.find_channel_pairing_of(account_id, person).await?;
        if pairing.as_ref().is_none_or(|it| it.approved_at.is_none()) {
            let is_invitation = message.is_invitation;
            let request = self.ask_to_pair(conn, account_id, pairing, message).await?;
            let invited_to = request.as_ref().filter(|_| is_invitation);
            stored
                .accepted
                .extend(invited_to.map(|request| request.chat.clone()));
            stored.requests.extend(request);
            return Ok(());
        }
        if message.is_invitation {
            stored.accepted.push(message.chat);
            return Ok(());
        }
        if conn.count_received_messages(account_id, person).await? >= MAX_WAITING {
            tracing::warn!(
                account_id,
                "a person has too many messages without an answer"
            );
            return Ok(());
        }
        let is_empty = message.text.is_none() && message.files.is_empty();
        let answer = message.answer.or(is_empty.then_some(NO_TEXT));
        // PostgreSQL cannot store NUL characters.
        let storable = |text: &str| text.replace('\0', "\u{fffd}");
        let mut row = ReceivedMessageRow {
            account_id: account_id.to_owned(),
            message_id: message.message_id.clone(),
            person: message.person.clone(),
            chat: message.chat.clone(),
            thread: message.thread.clone(),
            is_group: message.is_group,
            is_own: message.is_own,
            text: message.text.as_deref().map(storable).unwrap_or_default(),
            file_id: None,
            file_name: None,
            is_voice: false,
            more_files: None,
            quote: stored_quote(&message),
            answer: answer.map(str::to_owned),
            received_at: at,
        };
        store_files(&mut row, &message);
        if !conn.insert_received_message(&row).await? {
            tracing::info!(account_id, "a message that was received before is ignored");
        }
        stored.has_messages = true;
        Ok(())
    }
}

/// Returns whether the vendor's IDs have a plausible form. IDs become parts of keys and requests.
fn has_plain_ids(message: &ReceivedMessage) -> bool {
    let is_plain = |id: &String, max: usize| {
        (1..=max).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let ids = [&message.message_id, &message.person, &message.chat];
    let mut thread = message.thread.iter();
    ids.into_iter().all(|id| is_plain(id, MAX_ID)) && thread.all(|id| is_plain(id, MAX_THREAD))
}

/// Returns whether a person has reached the maximum number of messages in a period.
async fn is_over(
    conn: &mut Conn,
    (account_id, person): (&str, &str),
    at_most: &[(Duration, i64)],
    now: Timestamp,
) -> Result<bool, StoreError> {
    for (time, limit) in at_most {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let since = Timestamp::from_millis(now.as_millis().saturating_sub(ms));
        let count = conn.count_messages_since(account_id, person, since).await?;
        if count >= *limit {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
