//! Identifies the gateway to push services: signed tokens of RFC 8292. Does no I/O.

use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{Random, Timestamp};
use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::json;
use std::time::Duration;
use url::Url;

/// How long a token is valid. Push services refuse tokens that are valid for more than 24 hours.
const VALID: Duration = Duration::from_hours(12);

/// Returns a random private key.
pub fn new_key(random: &dyn Random) -> SecretKey {
    loop {
        // Fails for 0 and for numbers above the order of the curve, on average once in 2^32 calls.
        if let Ok(key) = SecretKey::from_slice(&random.bytes::<32>()) {
            return key;
        }
    }
}

/// The gateway's key pair.
pub struct VapidKey(SecretKey);

impl VapidKey {
    pub const fn new(key: SecretKey) -> Self {
        Self(key)
    }

    /// Parses the output of [`Self::to_text`].
    pub fn read(text: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        SecretKey::from_slice(&bytes).ok().map(Self)
    }

    /// Returns the private key.
    pub fn to_text(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0.to_bytes())
    }

    /// Returns the public key for `PushManager.subscribe`.
    pub fn public_text(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0.public_key().to_sec1_bytes())
    }

    /// Returns the value of the header `Authorization` for a request to `endpoint`. `subject` is the owner's contact
    /// address for the operators of the push service.
    pub fn authorization(&self, endpoint: &Url, subject: Option<&str>, now: Timestamp) -> String {
        let mut claims = json!({
            "aud": endpoint.origin().ascii_serialization(),
            "exp": now.after(VALID).as_millis().div_euclid(1000),
        });
        if let (Some(subject), Some(claims)) = (subject, claims.as_object_mut()) {
            claims.insert("sub".to_owned(), subject.into());
        }
        let part = |value: serde_json::Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed = format!(
            "{}.{}",
            part(json!({ "typ": "JWT", "alg": "ES256" })),
            part(claims)
        );
        let signature: Signature = SigningKey::from(&self.0).sign(signed.as_bytes());
        let signature = BASE64URL_NOPAD.encode(&signature.to_bytes());
        format!("vapid t={signed}.{signature}, k={}", self.public_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SeededRandom;

    #[test]
    fn a_stored_key_is_the_same_key() {
        let key = VapidKey::new(new_key(&SeededRandom::new(1)));
        let read = VapidKey::read(&key.to_text()).unwrap();
        assert_eq!(read.public_text(), key.public_text());
        assert!(VapidKey::read("AAAA").is_none());
    }
}
