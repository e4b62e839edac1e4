//! Checks of IDs, keys and URLs, and the computation of hints.

use super::{MAX_ID_CHARACTERS, MAX_KEY_BYTES, MAX_URL_BYTES, MIN_HINTED};
use crate::SecretsError;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

pub(super) fn hint(key: &str) -> String {
    let from = key.len().saturating_sub(4);
    match key.get(from..) {
        Some(end) if key.len() >= MIN_HINTED => format!("…{end}"),
        _ => "…".to_owned(),
    }
}

/// Removes trailing slashes.
pub(super) fn normal(base_url: &str) -> &str {
    base_url.trim_end_matches('/')
}

pub(super) fn check_id(id: &str) -> Result<(), SecretsError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=MAX_ID_CHARACTERS).contains(&id.chars().count()) && id.chars().all(allowed) {
        Ok(())
    } else {
        Err(SecretsError::invalid(
            "id",
            "1 to 64 letters, digits and . _ -",
        ))
    }
}

/// Accepts keys that fit into an HTTP header.
pub(super) fn check_key(key: &str) -> Result<(), SecretsError> {
    if (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(())
    } else {
        Err(SecretsError::invalid(
            "key",
            "1 to 4096 visible ASCII characters",
        ))
    }
}

/// Returns a provider's key as it would be stored: without white space around it.
///
/// # Errors
///
/// Refuses a key that does not fit into an HTTP header, for the field `key`.
pub fn storable_key(key: &SecretString) -> Result<SecretString, SecretsError> {
    let key = key.expose_secret().trim();
    check_key(key)?;
    Ok(SecretString::from(key))
}

pub(super) fn check_url(base_url: &str) -> Result<(), SecretsError> {
    if (1..=MAX_URL_BYTES).contains(&base_url.len()) && Url::parse(base_url).is_ok() {
        Ok(())
    } else {
        Err(SecretsError::invalid(
            "base_url",
            "a URL of at most 2048 bytes",
        ))
    }
}
