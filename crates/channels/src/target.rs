//! Resolves a target to an account and decrypts the account's secrets.

use crate::account::read_fields;
use crate::error::{ChannelsError, Failure};
use crate::handle::{Channels, Inner};
use crate::live::LiveAccount;
use crate::markup::Markup;
use crate::senders::{self, Sender};
use crate::service::{may_go, service_of};
use gatehouse_secrets::{SecretKind, SecretOwner};
use gatehouse_store::{ChannelAccountRow, ChannelSecretRow, StoreError};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a target does not resolve to an account.
#[derive(Debug)]
pub(crate) enum TargetError {
    UnknownType,
    NoAccount(&'static str),
    Store(StoreError),
}

impl TargetError {
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::UnknownType => {
                let kinds: Vec<_> = senders::ALL.iter().map(|s| s.about().kind).collect();
                format!("unknown channel; the types are {}", kinds.join(", "))
            }
            Self::NoAccount(kind) => format!("there is no such {kind} channel"),
            Self::Store(_) => "the channels could not be read".to_owned(),
        }
    }
}

/// A stored account and its sender.
#[derive(Clone)]
pub(crate) struct StoredAccount {
    pub(crate) sender: &'static dyn Sender,
    pub(crate) row: ChannelAccountRow,
    pub(crate) secrets: Vec<ChannelSecretRow>,
}

/// An account with decrypted secrets.
pub(crate) struct OpenAccount {
    pub(crate) sender: &'static dyn Sender,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) fields: Map<String, Value>,
    pub(crate) secrets: BTreeMap<String, SecretString>,
}

impl Inner {
    /// Finds the account for `type` or `type:account_id`.
    pub(crate) async fn find_target(&self, target: &str) -> Result<Arc<LiveAccount>, TargetError> {
        let (kind, id) = match target.split_once(':') {
            Some((kind, id)) => (kind, Some(id)),
            None => (target, None),
        };
        let about = senders::find(kind).ok_or(TargetError::UnknownType)?.about();
        let accounts = self.live_accounts().await?;
        let account = match id {
            Some(id) => accounts.find(id).filter(|it| it.found.row.kind == kind),
            None => accounts.default_of(about),
        };
        account
            .map(Arc::clone)
            .ok_or(TargetError::NoAccount(about.kind))
    }

    /// Decrypts an account's secrets.
    pub(crate) async fn open_account(&self, found: StoredAccount) -> Result<OpenAccount, Failure> {
        let fields = read_fields(&found.row);
        let mut secrets = BTreeMap::new();
        for secret in found.secrets {
            let service = service_of(found.sender, &fields, &secret.field);
            if !may_go(found.sender, &secret, &service) {
                return Err(Failure::refused(format!(
                    "The secret `{}` of this channel was entered for another address; enter it again.",
                    secret.field
                )));
            }
            let place = SecretOwner::Channel {
                kind: secret.kind,
                account_id: secret.account_id,
                field: secret.field.clone(),
            };
            let opened = self
                .secrets
                .open_protected(&place, secret.value, secret.encrypted);
            secrets.insert(secret.field, opened.await?);
        }
        Ok(OpenAccount {
            sender: found.sender,
            fields,
            id: found.row.id,
            label: found.row.label,
            secrets,
        })
    }

    /// Records that the secrets of an account are being used.
    pub(crate) fn note_use(&self, account: &OpenAccount) {
        if !account.secrets.is_empty() {
            self.secrets.note_use(SecretKind::Channel, &account.id);
        }
    }

    pub(crate) async fn list_accounts(&self) -> Result<Vec<ChannelAccountRow>, StoreError> {
        self.store
            .read(|conn| Box::pin(async move { conn.list_channel_accounts().await }))
            .await
    }

    pub(crate) async fn find_account(
        &self,
        id: &str,
    ) -> Result<Option<ChannelAccountRow>, StoreError> {
        let id = id.to_owned();
        self.store
            .read(move |conn| Box::pin(async move { conn.find_channel_account(&id).await }))
            .await
    }

    pub(crate) async fn list_secrets_of(
        &self,
        id: &str,
    ) -> Result<Vec<ChannelSecretRow>, StoreError> {
        let id = id.to_owned();
        self.store
            .read(move |conn| Box::pin(async move { conn.list_channel_secrets_of(&id).await }))
            .await
    }
}

impl From<StoreError> for TargetError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Store(error) => error.into(),
            other => Self::Refused(format!("The channel cannot be used: {}.", other.reason())),
        }
    }
}

impl Channels {
    /// Checks that a target names an account. Otherwise, returns `INVALID_PARAMS` for the field `deliver_to`. Accepts
    /// disabled accounts, because they can be enabled again.
    pub async fn check_target(&self, target: &str) -> Result<(), ChannelsError> {
        match self.0.find_target(target).await {
            Ok(_) => Ok(()),
            Err(TargetError::Store(error)) => Err(error.into()),
            Err(error) => Err(ChannelsError::invalid("deliver_to", error.reason())),
        }
    }

    /// Returns how values inserted into a template must be escaped for this target.
    pub fn markup(target: &str) -> Markup {
        let kind = target.split(':').next().unwrap_or_default();
        senders::find(kind).map_or(Markup::None, Sender::markup)
    }

    /// Returns the key of `extra` for a line above the text, such as the subject of a mail. Returns `None` if the
    /// target's type has none.
    pub fn title_key(target: &str) -> Option<&'static str> {
        let kind = target.split(':').next().unwrap_or_default();
        let extra = senders::find(kind)?.about().extra;
        let mut names = extra.iter().map(|extra| extra.name);
        names.find(|name| ["subject", "title"].contains(name))
    }
}
