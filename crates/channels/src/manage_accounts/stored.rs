//! Rows of accounts: lookups, free IDs, insertion and the audit log.

use crate::account::{Account, built_in};
use crate::account_rules::{secret_owners, secret_rows};
use crate::error::ChannelsError;
use crate::fields::FieldChanges;
use crate::handle::Inner;
use crate::senders;
use crate::target::StoredAccount;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{AuditEntry, ChannelAccountRow, Conn, StoreError};
use serde_json::json;
use std::sync::Arc;

impl Inner {
    /// Finds an account by its ID, including built-in ones.
    pub(crate) async fn find_existing(&self, id: &str) -> Result<StoredAccount, ChannelsError> {
        let built_in = senders::find(id).and_then(|sender| built_in(sender.about()));
        let row = match built_in {
            Some(row) => row,
            None => self
                .find_account(id)
                .await?
                .ok_or(ChannelsError::NotFound("channel"))?,
        };
        let sender = senders::find(&row.kind).ok_or(ChannelsError::NotFound("channel"))?;
        let secrets = self.list_secrets_of(&row.id).await?;
        Ok(StoredAccount {
            sender,
            row,
            secrets,
        })
    }

    /// Finds an account that can be changed. Built-in accounts are excluded.
    pub(super) async fn find_own(&self, id: &str) -> Result<StoredAccount, ChannelsError> {
        let found = self.find_existing(id).await?;
        if found.sender.about().built_in && found.row.id == found.row.kind {
            return Err(ChannelsError::BuiltIn);
        }
        Ok(found)
    }

    /// Returns the first free ID of `telegram`, `telegram-2`, `telegram-3` and so on.
    pub(super) async fn free_id(&self, kind: &str) -> Result<String, ChannelsError> {
        let taken: Vec<_> = self
            .list_accounts()
            .await?
            .into_iter()
            .map(|row| row.id)
            .collect();
        let free = |id: &String| senders::built_in_id(id).is_none() && !taken.contains(id);
        let first = kind.to_owned();
        let mut further = (2..=taken.len() + 2).map(|number| format!("{kind}-{number}"));
        let chosen = Some(first).filter(&free).or_else(|| further.find(&free));
        chosen.ok_or(ChannelsError::IdTaken)
    }

    pub(super) async fn insert(
        self: &Arc<Self>,
        actor: &Actor,
        row: ChannelAccountRow,
        changes: &FieldChanges,
    ) -> Result<Account, ChannelsError> {
        if senders::built_in_id(&row.id).is_some() {
            return Err(ChannelsError::IdTaken);
        }
        let Some(sender) = senders::find(&row.kind) else {
            return Err(ChannelsError::invalid("type", "there is no such type"));
        };
        let secrets = secret_owners(sender, &row.id, changes);
        let names: Vec<_> = changes.secrets.keys().copied().collect();
        let (inner, actor, row) = (Arc::clone(self), actor.clone(), Arc::new(row));
        let write = self.secrets.write_protected(secrets, move |conn, formed| {
            let (inner, actor, row) = (Arc::clone(&inner), actor.clone(), Arc::clone(&row));
            let secrets = secret_rows(sender, &row, names.iter(), &formed);
            Box::pin(async move {
                conn.insert_channel_account(&row)
                    .await
                    .map_err(|error| match error {
                        StoreError::Duplicate(_) => ChannelsError::IdTaken,
                        other => other.into(),
                    })?;
                for secret in &secrets {
                    conn.update_channel_secret(secret).await?;
                }
                inner.note(conn, "channel.created", &actor, &row).await?;
                Ok(Account::of(ChannelAccountRow::clone(&row), &secrets))
            })
        });
        write.await
    }

    pub(crate) async fn note(
        &self,
        conn: &mut Conn,
        kind: &str,
        actor: &Actor,
        account: &ChannelAccountRow,
    ) -> Result<(), ChannelsError> {
        let detail = json!({
            "id": account.id,
            "type": account.kind,
            "label": account.label,
            "enabled": account.enabled,
        });
        let entry = AuditEntry {
            kind,
            actor,
            detail,
        };
        let now: Timestamp = self.clock.now();
        conn.append_audit(&entry, now, &*self.random).await?;
        conn.insert_change("channels", now).await?;
        Ok(())
    }
}
