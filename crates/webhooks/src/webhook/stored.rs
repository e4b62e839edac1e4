//! The stored configuration, and the snapshot that is stored with each delivery.

use super::WebhookConfig;
use crate::rules::is_default;
use gatehouse_sources::AuthMode;
use gatehouse_store::{StoreError, WebhookRow};
use serde::{Deserialize, Serialize};

/// The copy of a webhook's settings stored with each delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub public_id: String,
    pub name: String,
    #[serde(flatten)]
    pub config: WebhookConfig,
}

impl Snapshot {
    /// Returns the snapshot of a webhook as JSON.
    pub(crate) fn text(row: &WebhookRow, config: &WebhookConfig) -> Result<String, StoreError> {
        let snapshot = Self {
            public_id: row.public_id.clone(),
            name: row.name.clone(),
            config: config.clone(),
        };
        snapshot.to_text()
    }

    pub(crate) fn to_text(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(|_| StoreError::Damaged {
            what: "configuration of a webhook",
        })
    }
}

/// How deliveries are verified, without the secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthConfig {
    #[serde(deserialize_with = "AuthMode::stored")]
    pub mode: AuthMode,
    /// The header that contains the secret. For the mode `static_header` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The last characters of the secret, to tell it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_hint: Option<String>,
    /// Whether Gatehouse generated the secret. False for webhooks of earlier versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_generated: bool,
}

impl AuthConfig {
    /// Returns whether the sender generates the secret, and the secret has not been entered yet.
    pub fn awaits_secret(&self) -> bool {
        self.is_generated && self.mode.secret_from_sender()
    }
}

/// The content of the `config` column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredConfig {
    pub auth: AuthConfig,
    /// Whether accepted deliveries wait in the queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub paused: bool,
    #[serde(flatten)]
    pub webhook: WebhookConfig,
}

impl StoredConfig {
    pub fn of(row: &WebhookRow) -> Result<Self, StoreError> {
        serde_json::from_str(&row.config).map_err(|_| StoreError::Damaged {
            what: "configuration of a webhook",
        })
    }
}
