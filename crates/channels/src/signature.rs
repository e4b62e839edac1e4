//! Signatures of Standard Webhooks, which prove the origin of a message to its receiver
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const PREFIX: &str = "whsec_";

/// Returns the key of a secret. With the prefix `whsec_`, the key is the decoded base64 text after it, otherwise the
/// secret's own bytes. Returns `None` if the base64 text is invalid or empty.
pub(crate) fn key(secret: &str) -> Option<Vec<u8>> {
    let key = match secret.strip_prefix(PREFIX) {
        Some(encoded) => STANDARD.decode(encoded).ok()?,
        None => secret.as_bytes().to_vec(),
    };
    Some(key).filter(|key| !key.is_empty())
}

/// Returns the value of the header `webhook-signature`.
pub(crate) fn sign(key: &[u8], id: &str, timestamp_seconds: i64, body: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(format!("{id}.{timestamp_seconds}.").as_bytes());
    mac.update(body);
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    Some(format!("v1,{signature}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example from the reference implementation's README and tests.
    #[test]
    fn the_published_example_signs_the_same() {
        let key = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = sign(
            &key,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(
            signature.as_deref(),
            Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        );
    }

    #[test]
    fn a_key_is_base64_after_the_prefix_and_itself_without() {
        assert_eq!(key("whsec_c2VjcmV0").unwrap(), b"secret");
        assert_eq!(key("secret").unwrap(), b"secret");
        for none in ["whsec_", "whsec_!", "whsec_c2VjcmV0=", ""] {
            assert!(key(none).is_none(), "{none}");
        }
    }
}
