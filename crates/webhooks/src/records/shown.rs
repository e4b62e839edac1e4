//! Webhooks and secrets as they are shown.

use crate::webhook::Webhook;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, Serializer};

/// A created or changed webhook, with details that are shown only once.
#[derive(Serialize, JsonSchema)]
pub struct WebhookChanged {
    #[serde(flatten)]
    pub webhook: Webhook,
    /// The secret, if one was generated or supplied. It is never shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<ShownSecret>,
    /// A warning for the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
}

/// A secret that may be serialized, for the one response that shows it.
#[derive(JsonSchema)]
#[serde(transparent)]
pub struct ShownSecret(#[schemars(with = "String")] pub SecretString);

impl ExposeSecret<str> for ShownSecret {
    fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }
}

impl Serialize for ShownSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose_secret())
    }
}

impl std::fmt::Debug for WebhookChanged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookChanged")
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}

/// A page of webhooks, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebhookPage {
    pub webhooks: Vec<Webhook>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
