//! People who may write to an agent through a channel. A person who is not paired gets a code with the first message,
//! at most once an hour. The owner approves the code.

mod ask;

use crate::error::ChannelsError;
use crate::handle::Channels;
use crate::session_keys::withdraw_allowed;
pub use ask::PairingRequest;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{ChannelPairingRow, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// The lifetime of a code. A person may get another code after this time.
const VALID: Duration = Duration::from_hours(1);
/// The maximum number of people who wait for approval per account. Other people get no code until a
/// code expires.
const MAX_WAITING: i64 = 100;
/// Letters and digits without characters that are easily confused.
const ALPHABET: &[u8; 31] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const HALF: usize = 4;
/// The subject of new pairing requests and of changed receiving errors. Unlike the subject `channels`, it does not
/// clear the account caches of the nodes.
pub(crate) const CHANGED: &str = "pairings";

/// A person who is paired with a channel, or waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ChannelPairing")]
pub struct Pairing {
    pub id: String,
    /// The channel account that the person writes to.
    pub account: String,
    /// The vendor's ID of the person.
    pub person: String,
    /// The person's name at the vendor, which the person chose.
    pub name: String,
    /// Whether the person's messages count as the owner's.
    pub trusted: bool,
    /// The code that waits for approval; absent when the person is paired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// When the code expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the pairing was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Timestamp>,
}

impl From<ChannelPairingRow> for Pairing {
    fn from(row: ChannelPairingRow) -> Self {
        Self {
            id: row.id,
            account: row.account_id,
            person: row.person,
            name: row.name,
            trusted: row.trusted,
            expires_at: row.code.is_some().then(|| row.asked_at.after(VALID)),
            code: row.code,
            approved_at: row.approved_at,
        }
    }
}

fn is_expired(row: &ChannelPairingRow, now: Timestamp) -> bool {
    row.approved_at.is_none() && row.asked_at.after(VALID) <= now
}

/// Returns whether a person who is not paired may get a code now.
pub(crate) fn may_ask(row: Option<&ChannelPairingRow>, now: Timestamp) -> bool {
    row.is_none_or(|row| is_expired(row, now))
}

/// Returns a code in its stored form, independent of how it was typed.
fn normalize(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric);
    let mut code: String = letters.map(|c| c.to_ascii_uppercase()).collect();
    if code.len() > HALF {
        code.insert(HALF, '-');
    }
    code
}

impl Channels {
    /// Returns the paired people and those who wait for approval, ordered by ID.
    pub async fn list_pairings(&self) -> Result<Vec<Pairing>, ChannelsError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { conn.list_channel_pairings().await }));
        let mut rows: Vec<ChannelPairingRow> = read.await?;
        let now = self.0.clock.now();
        let is_refused = |row: &ChannelPairingRow| row.code.is_none() && row.approved_at.is_none();
        rows.retain(|row| !is_expired(row, now) && !is_refused(row));
        Ok(rows.into_iter().map(Pairing::from).collect())
    }

    /// Finds the pairing of a person whose messages are answered.
    pub async fn find_pairing(
        &self,
        account_id: &str,
        person: &str,
    ) -> Result<Option<Pairing>, StoreError> {
        let (account, person) = (account_id.to_owned(), person.to_owned());
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.find_channel_pairing_of(&account, &person).await })
        });
        let row = read.await?.filter(|row| row.approved_at.is_some());
        Ok(row.map(Pairing::from))
    }

    /// Pairs the person who got this code. Only a caller with `operator.admin` may set `trusted`.
    pub async fn approve_pairing(
        &self,
        actor: &Actor,
        code: &str,
        trusted: bool,
    ) -> Result<Pairing, ChannelsError> {
        let (inner, actor, code) = (Arc::clone(&self.0), actor.clone(), normalize(code));
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let now = inner.clock.now();
                let found = conn.find_channel_pairing_by_code(&code).await?;
                let mut row = found
                    .filter(|row| !is_expired(row, now))
                    .ok_or(ChannelsError::NotFound("pairing code"))?;
                row.code = None;
                row.trusted = trusted;
                row.approved_at = Some(now);
                conn.update_channel_pairing(&row).await?;
                inner
                    .note_pairing(conn, "channel.paired", &actor, &row)
                    .await?;
                Ok::<_, ChannelsError>(Pairing::from(row))
            })
        });
        write.await
    }

    /// Sets whether a paired person's messages count as the owner's. Only a caller with `operator.admin` may set it.
    /// When the trust ends, the approvals for later calls in the person's sessions are withdrawn.
    pub async fn trust_pairing(
        &self,
        actor: &Actor,
        id: &str,
        trusted: bool,
    ) -> Result<Pairing, ChannelsError> {
        let (inner, actor, id) = (Arc::clone(&self.0), actor.clone(), id.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = conn.find_channel_pairing(&id).await?;
                let mut row = found
                    .filter(|row| row.approved_at.is_some())
                    .ok_or(ChannelsError::NotFound("pairing"))?;
                row.trusted = trusted;
                conn.update_channel_pairing(&row).await?;
                if !trusted {
                    withdraw_allowed(conn, &row.account_id, Some(&row.person)).await?;
                }
                inner
                    .note_pairing(conn, "channel.trusted", &actor, &row)
                    .await?;
                Ok::<_, ChannelsError>(Pairing::from(row))
            })
        });
        write.await
    }

    /// Withdraws the approvals for later calls in the sessions of a person, or given by that
    /// person.
    pub async fn withdraw_allowed(&self, account_id: &str, person: &str) -> Result<(), StoreError> {
        let (account, person) = (account_id.to_owned(), person.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move { withdraw_allowed(conn, &account, Some(&person)).await })
        });
        write.await
    }

    /// Ends a pairing, or refuses a request for one. Waiting messages of the person are not answered.
    pub async fn unpair(&self, actor: &Actor, id: &str) -> Result<(), ChannelsError> {
        let (inner, actor, id) = (Arc::clone(&self.0), actor.clone(), id.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = conn.find_channel_pairing(&id).await?;
                let row = found.ok_or(ChannelsError::NotFound("pairing"))?;
                if row.approved_at.is_some() {
                    conn.delete_channel_pairing(&id).await?;
                    withdraw_allowed(conn, &row.account_id, Some(&row.person)).await?;
                } else {
                    // The row is kept until it expires. The person gets no new code until then.
                    let refused = ChannelPairingRow {
                        code: None,
                        ..row.clone()
                    };
                    conn.update_channel_pairing(&refused).await?;
                }
                inner
                    .note_pairing(conn, "channel.unpaired", &actor, &row)
                    .await
            })
        });
        write.await
    }
}

#[cfg(test)]
mod tests;
