//! The token of `metrics.token`. It grants access to the metrics only, so checking it needs no identity and no
//! database.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The configured token.
#[derive(Debug)]
pub struct MetricsToken(SecretString);

impl MetricsToken {
    pub const fn new(token: SecretString) -> Self {
        Self(token)
    }

    /// Returns whether the headers contain the token as a Bearer credential.
    pub fn accepts(&self, headers: &HeaderMap) -> bool {
        let given = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let Some((scheme, given)) = given.and_then(|text| text.split_once(' ')) else {
            return false;
        };
        // Hashes have equal lengths, so the comparison does not reveal the token's length.
        let digest = |text: &str| Sha256::digest(text.as_bytes());
        scheme.eq_ignore_ascii_case("bearer")
            && bool::from(digest(self.0.expose_secret()).ct_eq(&digest(given.trim())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_as_a_bearer_credential() {
        let token = MetricsToken::new(SecretString::from("s3cret"));
        let accepts = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            token.accepts(&headers)
        };
        assert!(accepts("Bearer s3cret") && accepts("bearer  s3cret"));
        for refused in [
            "",
            "s3cret",
            "Basic s3cret",
            "Bearer",
            "Bearer s3cre",
            "Bearer s3cret2",
        ] {
            assert!(!accepts(refused), "{refused}");
        }
        assert!(!token.accepts(&HeaderMap::new()));
    }
}
