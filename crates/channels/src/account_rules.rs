//! The rules for accounts: required fields, who may set a field, and the rows of secrets.

use crate::account::read_fields;
use crate::error::ChannelsError;
use crate::fields::{FieldChanges, Need};
use crate::senders::Sender;
use crate::service::service_of;
use gatehouse_secrets::{FormedSecret, SecretOwner};
use gatehouse_store::{ChannelAccountRow, ChannelSecretRow};
use secrecy::SecretString;
use std::sync::Arc;

/// The caller's privilege level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A caller with `operator.admin`, who may choose the addresses that Gatehouse calls.
    Admin,
    Other,
}

impl Caller {
    pub(crate) const fn of(is_admin: bool) -> Self {
        if is_admin { Self::Admin } else { Self::Other }
    }

    /// Returns whether the caller may set these fields.
    pub(crate) fn may(
        self,
        sender: &dyn Sender,
        changes: &FieldChanges,
        new: bool,
    ) -> Result<(), ChannelsError> {
        self.may_set(changes.names_url || (new && sender.about().calls_any_address))
    }

    /// Checks whether the caller may set a guarded field. Only administrators may set an address, because Gatehouse
    /// calls it (even in the private network) and may send secrets to it that the caller cannot read. Only
    /// administrators may change which senders are accepted, because their messages can count as the owner's.
    pub(crate) const fn may_set(self, is_guarded: bool) -> Result<(), ChannelsError> {
        match self {
            Self::Other if is_guarded => Err(ChannelsError::NeedsAdmin),
            Self::Admin | Self::Other => Ok(()),
        }
    }
}

/// Checks that an account has every value that its type needs. An error names the field.
pub(crate) fn check_whole(
    sender: &dyn Sender,
    has: &dyn Fn(&str) -> bool,
) -> Result<(), ChannelsError> {
    for spec in sender.about().fields {
        if spec.need == Need::Required && !has(spec.name) {
            return Err(ChannelsError::invalid(spec.name, "required"));
        }
    }
    sender
        .check(has)
        .map_err(|(field, reason)| ChannelsError::invalid(field, reason))
}

/// Returns the owner of each new secret, in the order of `changes.secrets`.
pub(crate) fn secret_owners(
    sender: &dyn Sender,
    account_id: &str,
    changes: &FieldChanges,
) -> Vec<(SecretOwner, SecretString)> {
    let owner = |field: &str| SecretOwner::Channel {
        kind: sender.about().kind.to_owned(),
        account_id: account_id.to_owned(),
        field: field.to_owned(),
    };
    let secrets = changes.secrets.iter();
    secrets
        .map(|(field, secret)| (owner(field), secret.clone()))
        .collect()
}

/// Returns the rows of new secrets. `formed` must have the order of `names`.
pub(crate) fn secret_rows<'a>(
    sender: &'a dyn Sender,
    account: &'a ChannelAccountRow,
    names: impl Iterator<Item = &'a &'static str>,
    formed: &[Arc<FormedSecret>],
) -> Vec<ChannelSecretRow> {
    let fields = read_fields(account);
    let row = |(field, formed): (&&'static str, &Arc<FormedSecret>)| ChannelSecretRow {
        account_id: account.id.clone(),
        kind: account.kind.clone(),
        field: (*field).to_owned(),
        value: formed.value.to_string(),
        encrypted: formed.encrypted,
        belongs_to: Some(service_of(sender, &fields, field).to_string()),
        updated_at: account.updated_at,
    };
    names.zip(formed).map(row).collect()
}
