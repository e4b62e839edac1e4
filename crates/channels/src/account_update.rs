//! Updates of an account: merges the change into the stored fields and validates the result.

use crate::account::{Account, read_fields};
use crate::account_rules::{Caller, check_whole, secret_rows};
use crate::error::ChannelsError;
use crate::fields::FieldChanges;
use crate::handle::Inner;
use crate::senders::Sender;
use crate::service::service_of;
use gatehouse_domain::Actor;
use gatehouse_secrets::FormedSecret;
use gatehouse_store::{ChannelSecretRow, Conn};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A validated change, ready to run in a transaction.
pub(crate) struct Update {
    pub(crate) sender: &'static dyn Sender,
    pub(crate) caller: Caller,
    pub(crate) id: String,
    pub(crate) label: Option<String>,
    pub(crate) enabled: Option<bool>,
    pub(crate) changes: FieldChanges,
    pub(crate) actor: Actor,
}

impl Update {
    pub(crate) async fn run(
        &self,
        inner: &Inner,
        conn: &mut Conn,
        formed: &[Arc<FormedSecret>],
    ) -> Result<Account, ChannelsError> {
        let row = conn.find_channel_account(&self.id).await?;
        let mut row = row.ok_or(ChannelsError::NotFound("channel"))?;
        let kept = conn.list_channel_secrets_of(&row.id).await?;
        let before = read_fields(&row);
        let after = self.fields(before.clone());
        self.check(&before, &after, &kept)?;
        row.fields = Value::Object(after).to_string();
        row.label = self.label.clone().unwrap_or(row.label);
        row.enabled = self.enabled.unwrap_or(row.enabled);
        row.updated_at = inner.clock.now();
        conn.update_channel_account(&row).await?;
        for spec in self.changes.cleared.iter().filter(|spec| spec.secret) {
            conn.delete_channel_secret(&row.id, spec.name).await?;
        }
        let after = read_fields(&row);
        for secret in &kept {
            let before = service_of(self.sender, &before, &secret.field);
            // A secret that was entered for the old address stays bound to that address.
            if !before.admits(&service_of(self.sender, &after, &secret.field)) {
                let belongs_to = before.to_string();
                conn.update_channel_secret_binding(&row.id, &secret.field, &belongs_to)
                    .await?;
            }
        }
        for secret in secret_rows(self.sender, &row, self.changes.secrets.keys(), formed) {
            conn.update_channel_secret(&secret).await?;
        }
        inner
            .note(conn, "channel.updated", &self.actor, &row)
            .await?;
        let secrets = conn.list_channel_secrets_of(&row.id).await?;
        Ok(Account::of(row, &secrets))
    }

    fn fields(&self, mut fields: Map<String, Value>) -> Map<String, Value> {
        for (name, value) in &self.changes.set {
            fields.insert(name.clone(), value.clone());
        }
        for spec in &self.changes.cleared {
            fields.shift_remove(spec.name);
        }
        fields
    }

    fn check(
        &self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        kept: &[ChannelSecretRow],
    ) -> Result<(), ChannelsError> {
        let cleared = |name: &str| self.changes.cleared.iter().any(|spec| spec.name == name);
        let stays = |name: &str| {
            !cleared(name)
                && !self.changes.secrets.contains_key(name)
                && kept.iter().any(|secret| secret.field == name)
        };
        let guarded = self.sender.about().fields.iter();
        let changes_guarded = guarded
            .filter(|spec| spec.needs_admin() && !spec.secret)
            .any(|spec| before.get(spec.name) != after.get(spec.name));
        self.caller.may_set(changes_guarded)?;
        check_whole(self.sender, &|name| {
            after.contains_key(name) || self.changes.secrets.contains_key(name) || stays(name)
        })
    }
}
