//! Secrets of a change: their checks and their rows.

use crate::error::WebhooksError;
use crate::input::WebhookInput;
use crate::secret;
use crate::secret::CURRENT;
use crate::webhook::SecretFacts;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_secrets::FormedSecret;
use gatehouse_sources::{AuthMode, verify};
use gatehouse_store::WebhookSecretRow;
use secrecy::{ExposeSecret, SecretString};

/// Returns the facts about these secrets that may be shown.
pub(crate) fn facts(secrets: &[WebhookSecretRow], now: Timestamp) -> SecretFacts {
    let ends = secrets.iter().filter_map(|row| row.expires_at);
    SecretFacts {
        has_secret: secrets.iter().any(|row| row.field == CURRENT),
        previous_until: ends.filter(|end| now < *end).max(),
    }
}

/// Validates a supplied secret for this mode.
pub(crate) fn checked_secret(
    mode: AuthMode,
    secret: &SecretString,
) -> Result<SecretString, WebhooksError> {
    let text = secret.expose_secret();
    if text.chars().count() > secret::MAX_CHARACTERS {
        let reason = format!("at most {} characters", secret::MAX_CHARACTERS);
        return Err(WebhooksError::invalid("secret", reason));
    }
    verify::check_secret(mode, text)
        .map_err(|error| WebhooksError::invalid("secret", error.to_string()))?;
    Ok(secret.clone())
}

/// Rejects a secret for a mode that uses none. Otherwise the secret would be silently discarded.
pub(crate) fn no_secret(input: &WebhookInput) -> Result<(), WebhooksError> {
    if input.secret().value().is_some() {
        let reason = "the auth mode none has no secret";
        return Err(WebhooksError::invalid("secret", reason));
    }
    Ok(())
}

/// Returns the database row for an encoded secret.
pub(crate) fn secret_row(
    id: &WebhookId,
    field: &str,
    formed: &FormedSecret,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> WebhookSecretRow {
    WebhookSecretRow {
        webhook_id: id.clone(),
        field: field.to_owned(),
        value: formed.value.to_string(),
        encrypted: formed.encrypted,
        expires_at,
        updated_at: now,
    }
}
