//! Accounts and types as callers see them.

use crate::ChannelsError;
use crate::fields::{FieldSpec, MASK};
use crate::senders::{self, About, Extra};
use crate::service::{may_go, service_of};
use gatehouse_domain::Timestamp;
use gatehouse_store::{ChannelAccountRow, ChannelSecretRow};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

const MAX_ID: usize = 64;
const MAX_LABEL: usize = 200;

/// An account.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Account {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What people call it.
    pub label: String,
    /// Its fields; a secret that is set is masked.
    pub fields: Map<String, Value>,
    /// Whether messages may be sent with it.
    pub enabled: bool,
    /// Secrets that were entered for another address than the account has now: they are not sent until
    /// they are entered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enter_again: Vec<String>,
}

/// An account that is to be made.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Its type.
    pub kind: String,
    /// What people call it.
    pub label: String,
    /// Its fields.
    pub fields: Map<String, Value>,
    /// Its id; made from the type when absent.
    pub id: Option<String>,
    /// Whether messages may be sent with it.
    pub enabled: bool,
}

/// What is to be changed; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// What people call it.
    pub label: Option<String>,
    /// Fields; one that is absent, or a secret that is masked, stays, and null clears.
    pub fields: Map<String, Value>,
    /// Whether messages may be sent with it.
    pub enabled: Option<bool>,
}

/// A type of accounts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChannelType {
    /// Its name.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// The fields of its accounts.
    pub fields: Vec<ChannelField>,
    /// What `deliver_to` may name now: the type when it has an account, and each of its accounts.
    pub targets: Vec<String>,
    /// What it takes from `deliver_extra`.
    pub extra: Vec<ExtraKey>,
}

/// A field of a type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChannelField {
    /// Its name.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// Whether it is shown masked and kept in the vault.
    pub secret: bool,
    /// Whether an account must have it.
    pub required: bool,
    /// What to enter.
    pub help: &'static str,
}

/// A key of `deliver_extra`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExtraKey {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
}

impl From<&FieldSpec> for ChannelField {
    fn from(spec: &FieldSpec) -> Self {
        Self {
            name: spec.name,
            label: spec.label,
            secret: spec.secret,
            required: spec.required,
            help: spec.help,
        }
    }
}

impl ChannelType {
    pub(crate) fn of(about: &About, targets: Vec<String>) -> Self {
        let key = |&Extra { name, help }: &Extra| ExtraKey { name, help };
        Self {
            kind: about.kind,
            label: about.label,
            fields: about.fields.iter().map(ChannelField::from).collect(),
            targets,
            extra: about.extra.iter().map(key).collect(),
        }
    }
}

impl Account {
    /// Without its secrets: of them only that they are there.
    pub(crate) fn of(row: ChannelAccountRow, secrets: &[ChannelSecretRow]) -> Self {
        let mut fields = read_fields(&row);
        let mut enter_again = Vec::new();
        let service = senders::find(&row.kind).map(|sender| (sender, service_of(sender, &fields)));
        for secret in secrets.iter().filter(|s| s.account_id == row.id) {
            match &service {
                Some((sender, service)) if !may_go(*sender, secret, service) => {
                    enter_again.push(secret.field.clone());
                }
                _ => {
                    fields.insert(secret.field.clone(), Value::from(MASK));
                }
            }
        }
        Self {
            id: row.id,
            kind: row.kind,
            label: row.label,
            fields,
            enabled: row.enabled,
            enter_again,
        }
    }
}

/// The fields that are no secrets. What is no object was not written by us.
pub(crate) fn read_fields(row: &ChannelAccountRow) -> Map<String, Value> {
    serde_json::from_str(&row.fields).unwrap_or_else(|_| {
        tracing::error!(
            account = row.id,
            "the stored fields of a channel are damaged"
        );
        Map::new()
    })
}

/// The account that a type has without anybody making it.
pub(crate) fn built_in(about: &About) -> Option<ChannelAccountRow> {
    about.built_in.then(|| ChannelAccountRow {
        id: about.kind.to_owned(),
        kind: about.kind.to_owned(),
        label: about.label.to_owned(),
        fields: "{}".to_owned(),
        enabled: true,
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
    })
}

pub(crate) fn check_id(id: &str) -> Result<(), ChannelsError> {
    let fits = (1..=MAX_ID).contains(&id.len());
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
    if fits && id.bytes().all(plain) {
        return Ok(());
    }
    Err(ChannelsError::invalid(
        "id",
        "1 to 64 letters, digits, hyphens and underscores",
    ))
}

pub(crate) fn check_label(label: &str) -> Result<String, ChannelsError> {
    let label = label.trim();
    let fits = (1..=MAX_LABEL).contains(&label.chars().count());
    if fits && !label.chars().any(char::is_control) {
        return Ok(label.to_owned());
    }
    Err(ChannelsError::invalid(
        "label",
        "one line of 1 to 200 characters",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_labels_at_and_past_their_limits() {
        for good in ["a", "A-b_9", &"x".repeat(64)] {
            assert!(check_id(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a:b", "ä", "a.b", &"x".repeat(65)] {
            assert!(check_id(bad).is_err(), "{bad}");
        }
        assert_eq!(check_label(" Team ä ").unwrap(), "Team ä");
        assert!(check_label(&"ä".repeat(200)).is_ok());
        for bad in ["", " ", "a\nb", &"ä".repeat(201)] {
            assert!(check_label(bad).is_err(), "{bad}");
        }
    }
}
