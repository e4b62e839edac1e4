//! Changes to imported rows before the import is finished.

use super::Import;
use crate::StoreError;
use crate::delivery_queue::WAITS_FOR_RELEASE;
use crate::sql::query;
use crate::status_conditions::is_open;
use gatehouse_domain::Timestamp;

impl Import {
    /// Parks every delivery that waits or runs until [`crate::Conn::release_deliveries`] is called. Also keeps the
    /// deliveries that arrived while the vault was sealed until then. Returns their number.
    pub async fn hold_deliveries(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let mut held = 0;
        if self.has("webhook_deliveries") {
            let park = query(concat!(
                "UPDATE webhook_deliveries SET status = 'queued', next_attempt_at = NULL, error = $1,
                     lease_owner = NULL, lease_until = NULL
                 WHERE ",
                is_open!(),
            ));
            held += self.conn.run(park.bind(WAITS_FOR_RELEASE)).await?;
        }
        if self.has("held_deliveries") {
            let count = query("SELECT COUNT(*) FROM held_deliveries");
            let sealed = u64::try_from(self.conn.number(count).await?).unwrap_or_default();
            if sealed > 0 {
                self.conn.hold_sealed_deliveries(now).await?;
            }
            held += sealed;
        }
        Ok(held)
    }

    /// Deletes the unanswered messages that people wrote through channels before the backup, because their authors
    /// no longer expect answers. Answered messages stay, so that a message that arrives again is recognized as a
    /// duplicate.
    pub async fn delete_unanswered_messages(&mut self) -> Result<(), StoreError> {
        for (table, delete) in [
            ("inbound_messages", "DELETE FROM inbound_messages"),
            (
                "received_messages",
                "DELETE FROM received_messages WHERE ended_at IS NULL",
            ),
        ] {
            if self.has(table) {
                self.conn.run(query(delete)).await?;
            }
        }
        Ok(())
    }

    /// Deletes login sessions, API keys, devices, push subscriptions of browsers, paired people, approvals for
    /// later calls, and the links of shared conversations. Returns the number of deleted rows. The password and the
    /// passkeys stay.
    pub async fn delete_credentials(&mut self) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for table in [
            "push_subscriptions",
            "auth_sessions",
            "auth_api_keys",
            "auth_devices",
            "channel_pairings",
            "allowed_calls",
            "chat_shares",
        ] {
            if self.has(table) {
                let delete = format!("DELETE FROM {table}");
                deleted += self.conn.run(query(delete)).await?;
            }
        }
        Ok(deleted)
    }

    /// Deletes a setting or a state in the table of settings.
    pub async fn delete_setting(&mut self, key: &str) -> Result<(), StoreError> {
        self.conn.delete_setting(key).await.map(drop)
    }
}
