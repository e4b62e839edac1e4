//! Webhook secrets: generation, hints, and the stored form. All webhook secrets are encrypted with the same
//! context, so the plaintext contains the ID of its webhook. Reading verifies the ID.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use data_encoding::HEXLOWER;
use gatehouse_domain::Random;
use gatehouse_secrets::{SecretOwner, Secrets, SecretsError};
use gatehouse_sources::{AuthMode, verify};
use gatehouse_store::WebhookSecretRow;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// The field of the current secret.
pub(crate) const CURRENT: &str = "secret";
/// The fields of previous secrets that are still valid, each with its own expiry.
pub(crate) const PREVIOUS: [&str; 8] = [
    "previous_secret",
    "previous_secret_2",
    "previous_secret_3",
    "previous_secret_4",
    "previous_secret_5",
    "previous_secret_6",
    "previous_secret_7",
    "previous_secret_8",
];
/// Secrets shorter than this, in bytes, can be guessed.
pub(crate) const SHORT_BYTES: usize = 16;
/// The warning for a secret shorter than [`SHORT_BYTES`].
pub(crate) const SHORT_WARNING: &str = "This secret is shorter than 16 bytes, so it can be guessed. \
    Use a longer one, or omit it to have one generated.";
/// Maximum length of a supplied secret, in characters.
pub(crate) const MAX_CHARACTERS: usize = 1024;
/// Secrets with fewer characters than this get no hint, because four characters would reveal too much.
const HINTED: usize = 16;

/// The plaintext that is encrypted.
#[derive(Serialize, Deserialize)]
struct Named<'a> {
    webhook: &'a str,
    value: &'a str,
}

#[derive(Deserialize)]
struct NamedOwned {
    webhook: String,
    value: SecretString,
}

pub(crate) fn place(field: &str) -> SecretOwner {
    SecretOwner::Webhook {
        field: field.to_owned(),
    }
}

/// Generates a secret of 256 random bits for a mode. Standard Webhooks requires `whsec_` and Base64
/// (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).
pub(crate) fn generate(mode: AuthMode, random: &dyn Random) -> SecretString {
    let bytes = Zeroizing::new(random.bytes::<32>());
    SecretString::from(if mode == AuthMode::STANDARD_WEBHOOKS {
        format!("whsec_{}", BASE64.encode(*bytes))
    } else {
        HEXLOWER.encode(&*bytes)
    })
}

/// Returns the last four characters of a secret; empty if the secret is short.
pub(crate) fn hint(secret: &SecretString) -> String {
    let characters: Vec<char> = secret.expose_secret().chars().collect();
    let shown = characters
        .len()
        .checked_sub(4)
        .filter(|_| characters.len() >= HINTED);
    let shown = shown.and_then(|from| characters.get(from..));
    format!("…{}", shown.into_iter().flatten().collect::<String>())
}

/// Returns the warning for a supplied secret, if any.
pub(crate) fn warning(mode: AuthMode, secret: &SecretString) -> Option<&'static str> {
    (verify::key_bytes(mode, secret.expose_secret()) < SHORT_BYTES).then_some(SHORT_WARNING)
}

/// Returns the plaintext to store for a secret.
pub(crate) fn named(public_id: &str, secret: &SecretString) -> SecretString {
    let named = Named {
        webhook: public_id,
        value: secret.expose_secret(),
    };
    // Serializing two strings cannot fail. If it did, no request could be verified with the empty text.
    SecretString::from(serde_json::to_string(&named).unwrap_or_default())
}

/// Decrypts a stored secret. Fails with `Damaged` if it belongs to another webhook.
pub(crate) async fn open(
    secrets: &Secrets,
    public_id: &str,
    row: WebhookSecretRow,
) -> Result<SecretString, SecretsError> {
    let place = place(&row.field);
    let plain = secrets
        .open_protected(&place, row.value, row.encrypted)
        .await?;
    let damaged = || SecretsError::Damaged(format!("webhook:config:{}", row.field));
    let named: NamedOwned = serde_json::from_str(plain.expose_secret()).map_err(|_| damaged())?;
    if named.webhook != public_id {
        return Err(damaged());
    }
    Ok(named.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SeededRandom;

    #[test]
    fn each_mode_gets_a_secret_that_it_can_use() {
        let random = SeededRandom::new(3);
        for mode in AuthMode::all() {
            let secret = generate(*mode, &random);
            assert_eq!(
                gatehouse_sources::verify::check_secret(*mode, secret.expose_secret()),
                Ok(()),
                "{mode}"
            );
        }
        let secret = generate(AuthMode::STANDARD_WEBHOOKS, &random);
        let encoded = secret.expose_secret().strip_prefix("whsec_").unwrap();
        assert_eq!(BASE64.decode(encoded).unwrap().len(), 32);
        assert_eq!(
            generate(AuthMode::BEARER, &random).expose_secret().len(),
            64
        );
    }

    #[test]
    fn a_hint_shows_little() {
        for (secret, shown) in [
            ("", "…"),
            ("short-secret-15", "…"),
            ("long-secret-16-x", "…16-x"),
            ("ääääääääääääääöü", "…ääöü"),
        ] {
            assert_eq!(hint(&SecretString::from(secret)), shown);
        }
    }
}
