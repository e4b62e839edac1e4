//! Creates, changes, lists and deletes accounts. Each change and its audit row are one transaction.

mod stored;

use crate::account::{
    Account, AccountChange, ChannelType, NewAccount, built_in, check_id, check_label,
};
use crate::account_rules::{Caller, check_whole, secret_owners};
use crate::account_update::Update;
use crate::error::ChannelsError;
use crate::fields;
use crate::fields::INBOUND;
use crate::handle::Channels;
use crate::senders::{self, Sender};
use crate::session_keys::withdraw_allowed;
use crate::target::StoredAccount;
use futures_util::future::BoxFuture;
use gatehouse_domain::Actor;
use gatehouse_secrets::SecretKind;
use gatehouse_store::{ChannelAccountRow, Conn, StoreError};
use serde_json::Value;
use std::sync::Arc;

/// The number of attempts to find a free ID when concurrent callers take the same ID.
const TRIES: usize = 5;

impl Channels {
    /// Returns all accounts, ordered by ID. Works while the vault is sealed. Always includes the inbox and
    /// the log.
    pub async fn list(&self) -> Result<Vec<Account>, ChannelsError> {
        let read = self.0.store.read(|conn| {
            Box::pin(async move {
                let accounts = conn.list_channel_accounts().await?;
                let secrets = conn.list_channel_secrets().await?;
                Ok::<_, StoreError>((accounts, secrets, conn.list_channel_polls().await?))
            })
        });
        let (accounts, secrets, polls) = read.await?;
        let mut all: Vec<_> = senders::ALL
            .iter()
            .filter_map(|sender| built_in(sender.about()))
            .chain(accounts)
            .map(|row| Account::of(row, &secrets))
            .collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        let uses = self.0.secrets.last_uses(SecretKind::Channel).await?;
        for account in &mut all {
            account.last_used_at = uses.get(&account.id).copied();
        }
        for account in all.iter_mut().filter(|it| it.fields.contains_key(INBOUND)) {
            let poll = polls.iter().find(|poll| poll.account_id == account.id);
            account.inbound_error = poll.and_then(|poll| poll.error.clone());
        }
        Ok(all)
    }

    /// Returns all channel types with their current targets.
    pub async fn types(&self) -> Result<Vec<ChannelType>, ChannelsError> {
        let accounts = self.list().await?;
        let of = |sender: &&'static dyn Sender| {
            let about = sender.about();
            let own = accounts.iter().filter(|account| account.kind == about.kind);
            let mut targets: Vec<_> = own
                .map(|account| format!("{}:{}", account.kind, account.id))
                .collect();
            if !targets.is_empty() {
                targets.insert(0, about.kind.to_owned());
            }
            ChannelType::of(about, targets)
        };
        Ok(senders::ALL.iter().map(of).collect())
    }

    /// Creates an account. Without `operator.admin` the account must not name an address to call.
    pub async fn create(
        &self,
        actor: &Actor,
        is_admin: bool,
        new: NewAccount,
    ) -> Result<Account, ChannelsError> {
        let sender = senders::find(&new.kind)
            .ok_or_else(|| ChannelsError::invalid("type", "there is no such type"))?;
        let about = sender.about();
        let label = check_label(&new.label)?;
        if let Some(id) = &new.id {
            check_id(id)?;
        }
        let mut changes = fields::read(about.fields, &new.fields, &self.0.outbound)?;
        Caller::of(is_admin).may(sender, &changes, true)?;
        check_whole(sender, &|name| {
            changes.set.contains_key(name) || changes.secrets.contains_key(name)
        })?;
        let now = self.0.clock.now();
        let row = ChannelAccountRow {
            id: String::new(),
            kind: about.kind.to_owned(),
            label,
            fields: Value::Object(std::mem::take(&mut changes.set)).to_string(),
            enabled: new.enabled,
            created_at: now,
            updated_at: now,
            tested_at: None,
        };
        for _ in 0..TRIES {
            let id = match &new.id {
                Some(id) => id.clone(),
                None => self.0.free_id(about.kind).await?,
            };
            let row = ChannelAccountRow { id, ..row.clone() };
            match self.0.insert(actor, row, &changes).await {
                Err(ChannelsError::IdTaken) if new.id.is_none() => {}
                done => return done,
            }
        }
        Err(ChannelsError::IdTaken)
    }

    /// Changes an account. Without `operator.admin`, a caller cannot set a URL, change a server's name or port, or
    /// change which senders are accepted. While the vault is sealed, secrets cannot be set.
    pub async fn update(
        &self,
        actor: &Actor,
        is_admin: bool,
        id: &str,
        change: AccountChange,
    ) -> Result<Account, ChannelsError> {
        let StoredAccount { sender, row, .. } = self.0.find_own(id).await?;
        let label = change.label.as_deref().map(check_label).transpose()?;
        let changes = fields::read(sender.about().fields, &change.fields, &self.0.outbound)?;
        let caller = Caller::of(is_admin);
        caller.may(sender, &changes, false)?;
        let secrets = secret_owners(sender, &row.id, &changes);
        let update = Arc::new(Update {
            sender,
            caller,
            id: row.id,
            label,
            enabled: change.enabled,
            changes,
            actor: actor.clone(),
        });
        let inner = Arc::clone(&self.0);
        let write = self
            .0
            .secrets
            .write_protected(secrets, move |conn, formed| {
                let (inner, update) = (Arc::clone(&inner), Arc::clone(&update));
                Box::pin(async move { update.run(&inner, conn, &formed).await })
            });
        write.await
    }

    /// Deletes an account and its secrets.
    pub async fn delete(&self, actor: &Actor, id: &str) -> Result<(), ChannelsError> {
        self.delete_unless(actor, id, |_, _| Box::pin(async { Ok(()) }))
            .await
    }

    /// Deletes an account and its secrets unless `check` returns an error. `check` runs in the same
    /// transaction. It receives the targets that will not resolve after the deletion.
    pub async fn delete_unless<F>(
        &self,
        actor: &Actor,
        id: &str,
        check: F,
    ) -> Result<(), ChannelsError>
    where
        F: for<'c> FnOnce(&'c mut Conn, Vec<String>) -> BoxFuture<'c, Result<(), ChannelsError>>
            + Send
            + 'static,
    {
        let StoredAccount { row, .. } = self.0.find_own(id).await?;
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                if !conn.delete_channel_account(&row.id).await? {
                    return Err(ChannelsError::NotFound("channel"));
                }
                // A later account with the same ID would have the same sessions.
                withdraw_allowed(conn, &row.id, None).await?;
                let mut targets = vec![format!("{}:{}", row.kind, row.id)];
                let others = conn.list_channel_accounts().await?;
                let is_built_in = senders::built_in_id(&row.kind).is_some();
                if !is_built_in && others.iter().all(|other| other.kind != row.kind) {
                    targets.push(row.kind.clone());
                }
                check(conn, targets).await?;
                conn.delete_secret_use(SecretKind::Channel.as_str(), &row.id)
                    .await?;
                inner.secrets.forget_use(SecretKind::Channel, &row.id);
                inner.note(conn, "channel.deleted", &actor, &row).await
            })
        });
        write.await
    }
}
