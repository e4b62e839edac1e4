//! Requests of people to be paired.

use super::{ALPHABET, CHANGED, HALF, MAX_WAITING, VALID, may_ask};
use crate::error::ChannelsError;
use crate::handle::Inner;
use crate::receive::ReceivedMessage;
use gatehouse_domain::id::PairingId;
use gatehouse_domain::{Actor, Random, Timestamp};
use gatehouse_store::{AuditEntry, ChannelPairingRow, Conn, StoreError};
use serde_json::json;

/// A code to send to the person who requested it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingRequest {
    /// The vendor's ID of the person.
    pub person: String,
    pub chat: String,
    pub thread: Option<String>,
    pub code: String,
    /// A sentence that follows the code.
    pub note: Option<&'static str>,
}

pub(super) fn new_code(random: &dyn Random) -> String {
    let bound = u32::try_from(ALPHABET.len()).unwrap_or(1);
    let letter = || {
        let place = usize::try_from(random.below(bound)).unwrap_or_default();
        char::from(ALPHABET.get(place).copied().unwrap_or(b'A'))
    };
    let half = || (0..HALF).map(|_| letter()).collect::<String>();
    format!("{}-{}", half(), half())
}

impl Inner {
    /// Stores a pairing request. Returns the code to send if the person may get one.
    pub(crate) async fn ask_to_pair(
        &self,
        conn: &mut Conn,
        account_id: &str,
        before: Option<ChannelPairingRow>,
        message: ReceivedMessage,
    ) -> Result<Option<PairingRequest>, StoreError> {
        let now = self.clock.now();
        if message.is_group || !may_ask(before.as_ref(), now) {
            return Ok(None);
        }
        let last = i64::try_from(VALID.as_millis()).unwrap_or(i64::MAX);
        let last = Timestamp::from_millis(now.as_millis().saturating_sub(last));
        conn.delete_expired_pairings(account_id, last).await?;
        if conn.count_waiting_pairings(account_id).await? >= MAX_WAITING {
            return Ok(None);
        }
        let code = new_code(&*self.random);
        let row = ChannelPairingRow {
            id: PairingId::generate(&*self.clock, &*self.random).to_string(),
            account_id: account_id.to_owned(),
            person: message.person.clone(),
            name: message.name,
            code: Some(code.clone()),
            trusted: false,
            asked_at: now,
            approved_at: None,
        };
        conn.update_channel_pairing(&row).await?;
        conn.insert_change(CHANGED, now).await?;
        Ok(Some(PairingRequest {
            person: message.person,
            chat: message.chat,
            thread: message.thread,
            code,
            note: message.code_note,
        }))
    }

    /// Records a change of a pairing.
    pub(super) async fn note_pairing(
        &self,
        conn: &mut Conn,
        kind: &str,
        actor: &Actor,
        row: &ChannelPairingRow,
    ) -> Result<(), ChannelsError> {
        let detail = json!({
            "id": row.id,
            "account": row.account_id,
            "person": row.person,
            "name": row.name,
            "trusted": row.trusted,
        });
        let entry = AuditEntry {
            kind,
            actor,
            detail,
        };
        let now = self.clock.now();
        conn.append_audit(&entry, now, &*self.random).await?;
        conn.insert_change("channels", now).await?;
        Ok(())
    }
}
