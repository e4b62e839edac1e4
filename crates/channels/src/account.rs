//! Accounts and account types, as returned to callers.

use crate::ChannelsError;
use crate::fields::{FieldSpec, MASK, Need};
use crate::senders::{self, About, Extra};
use crate::service::{may_go, service_of};
use gatehouse_domain::{Timestamp, visible};
use gatehouse_store::{ChannelAccountRow, ChannelSecretRow};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

const MAX_ID: usize = 64;
const MAX_LABEL: usize = 200;

/// A channel account.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Account {
    pub id: String,
    /// The channel type, such as `telegram`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Display name.
    pub label: String,
    /// Field values by name. A secret that is set is masked.
    pub fields: Map<String, Value>,
    /// Whether messages can be sent with the account.
    pub enabled: bool,
    /// Secrets entered for an address that the account no longer has. They are not sent until they are
    /// entered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enter_again: Vec<String>,
    /// Why no messages are received, although `inbound` is on. Only in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbound_error: Option<String>,
    /// When the account's secrets were last used. Only in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// An account to create.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// The channel type, such as `telegram`.
    pub kind: String,
    /// Display name.
    pub label: String,
    pub fields: Map<String, Value>,
    /// The ID. If absent, it is derived from the type.
    pub id: Option<String>,
    pub enabled: bool,
}

/// Changes to an account. Absent values are not changed.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// Display name.
    pub label: Option<String>,
    /// Absent fields and masked secrets are not changed. `null` removes a value.
    pub fields: Map<String, Value>,
    pub enabled: Option<bool>,
}

/// A channel type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChannelType {
    /// The type's identifier, such as `telegram`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Display name.
    pub label: &'static str,
    /// What the type does.
    pub about: &'static str,
    /// The fields of an account of this type.
    pub fields: Vec<ChannelField>,
    /// Valid values of `deliver_to` for this type: the type itself if it has an account, and each of its
    /// accounts.
    pub targets: Vec<String>,
    /// The keys of `deliver_extra` that this type accepts.
    pub extra: Vec<ExtraKey>,
    /// Whether a webhook's template can be the JSON body of the request.
    pub takes_json: bool,
}

/// A field of a channel type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChannelField {
    pub name: &'static str,
    /// Display name.
    pub label: &'static str,
    /// Whether the value is shown masked and stored in the vault.
    pub secret: bool,
    pub required: bool,
    /// Whether each message needs a value. If the channel has none, the webhook must set one.
    pub per_message: bool,
    /// Help text for the person who enters the value.
    pub help: &'static str,
}

/// A key of `deliver_extra`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExtraKey {
    pub name: &'static str,
    /// Help text that describes the effect of the key.
    pub help: &'static str,
}

impl From<&FieldSpec> for ChannelField {
    fn from(spec: &FieldSpec) -> Self {
        Self {
            name: spec.name,
            label: spec.label,
            secret: spec.secret,
            required: spec.need == Need::Required,
            per_message: spec.need == Need::PerMessage,
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
            about: about.description,
            fields: about.fields.iter().map(ChannelField::from).collect(),
            targets,
            extra: about.extra.iter().map(key).collect(),
            takes_json: about.takes_json,
        }
    }
}

impl Account {
    /// Converts a row. Omits the values of secrets; a secret that is set appears masked.
    pub(crate) fn of(row: ChannelAccountRow, secrets: &[ChannelSecretRow]) -> Self {
        let mut fields = read_fields(&row);
        let mut enter_again = Vec::new();
        let sender = senders::find(&row.kind);
        let plain = fields.clone();
        for secret in secrets.iter().filter(|s| s.account_id == row.id) {
            let may_go = sender.is_none_or(|sender| {
                let service = service_of(sender, &plain, &secret.field);
                may_go(sender, secret, &service)
            });
            if may_go {
                fields.insert(secret.field.clone(), Value::from(MASK));
            } else {
                enter_again.push(secret.field.clone());
            }
        }
        Self {
            id: row.id,
            kind: row.kind,
            label: row.label,
            fields,
            enabled: row.enabled,
            enter_again,
            inbound_error: None,
            last_used_at: None,
        }
    }
}

/// Returns the fields that are not secrets. Stored text that is not a JSON object yields no fields.
pub(crate) fn read_fields(row: &ChannelAccountRow) -> Map<String, Value> {
    serde_json::from_str(&row.fields).unwrap_or_else(|_| {
        tracing::error!(
            account = row.id,
            "the stored fields of a channel are damaged"
        );
        Map::new()
    })
}

/// Returns the account that exists for a type without being created, such as the inbox.
pub(crate) fn built_in(about: &About) -> Option<ChannelAccountRow> {
    about.built_in.then(|| ChannelAccountRow {
        id: about.kind.to_owned(),
        kind: about.kind.to_owned(),
        label: about.label.to_owned(),
        fields: "{}".to_owned(),
        enabled: true,
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
        tested_at: None,
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
    if fits && visible::is_name(label) {
        return Ok(label.to_owned());
    }
    Err(ChannelsError::invalid(
        "label",
        "one line of 1 to 200 characters, none of which hide or reorder text",
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
        for bad in ["", " ", "a\nb", "a\u{202e}b", &"ä".repeat(201)] {
            assert!(check_label(bad).is_err(), "{bad}");
        }
    }
}
