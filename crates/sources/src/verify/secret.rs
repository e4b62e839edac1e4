//! Validates webhook secrets and converts them to keys.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use data_encoding::HEXLOWER_PERMISSIVE;
use http::HeaderValue;
use zeroize::Zeroizing;

use super::scheme::{Algorithm, Key, Method};
use crate::auth_mode::AuthMode;

/// The length of a public key.
const ED25519_BYTES: usize = 32;
const WHSEC: &str = "whsec_";

/// Why a supplied secret could never verify a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSecret {
    #[error("it is empty")]
    Empty,
    /// The mode requires Base64.
    #[error("expected `whsec_` and Base64")]
    NotBase64,
    /// The mode requires hex.
    #[error("expected hexadecimal digits")]
    NotHex,
    /// The mode requires the sender's public key.
    #[error("expected the sender's public key: 64 hexadecimal digits")]
    NotPublicKey,
    /// The mode sends the secret in a header, but the secret contains characters that are not allowed in a header.
    #[error("a header cannot contain it")]
    NotForHeaders,
}

/// Checks whether a supplied secret can work in this mode.
pub fn check_secret(mode: AuthMode, secret: &str) -> Result<(), BadSecret> {
    if !mode.needs_secret() {
        return Ok(());
    }
    if secret.is_empty() {
        return Err(BadSecret::Empty);
    }
    match mode.method() {
        Method::Signature(scheme) => match key(scheme.key, secret) {
            Some(key) if scheme.algorithm != Algorithm::Ed25519 || key.len() == ED25519_BYTES => {
                Ok(())
            }
            _ if scheme.algorithm == Algorithm::Ed25519 => Err(BadSecret::NotPublicKey),
            _ if scheme.key == Key::Hex => Err(BadSecret::NotHex),
            _ => Err(BadSecret::NotBase64),
        },
        Method::OwnHeader | Method::Token(_) | Method::Bearer => {
            let carried = HeaderValue::from_str(secret).is_ok() && secret.trim() == secret;
            carried.then_some(()).ok_or(BadSecret::NotForHeaders)
        }
        Method::Open => Ok(()),
    }
}

/// Returns the number of bytes of the secret that an attacker must guess. For `whsec_` secrets, this is the length
/// of the decoded key.
pub fn key_bytes(mode: AuthMode, secret: &str) -> usize {
    match mode.method() {
        Method::Signature(scheme) => key(scheme.key, secret).map_or(0, |key| key.len()),
        Method::OwnHeader | Method::Token(_) | Method::Bearer | Method::Open => secret.len(),
    }
}

/// Returns the key for a secret. Returns `None` if the secret is empty or cannot be decoded.
pub(super) fn key(kind: Key, secret: &str) -> Option<Zeroizing<Vec<u8>>> {
    let bytes: Cow<'_, [u8]> = match kind {
        Key::Text => Cow::Borrowed(secret.as_bytes()),
        Key::Whsec => {
            let encoded = secret.strip_prefix(WHSEC).unwrap_or(secret);
            Cow::Owned(BASE64.decode(encoded).ok()?)
        }
        Key::Hex => Cow::Owned(HEXLOWER_PERMISSIVE.decode(secret.as_bytes()).ok()?),
    };
    let bytes = Zeroizing::new(bytes.into_owned());
    (!bytes.is_empty()).then_some(bytes)
}
