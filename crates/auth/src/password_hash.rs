//! The login password's hash: Argon2id with the specification's cost, as a PHC string
//! (<https://github.com/P-H-C/phc-string-format>).

use crate::error::AuthError;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};

/// 64 MiB, 3 iterations, 1 lane.
const MEMORY_KIB: u32 = 64 * 1024;
const ITERATIONS: u32 = 3;
const LANES: u32 = 1;
/// The maximum memory cost of a stored hash that is computed. A modified row must not stall the service.
const MOST_MEMORY_KIB: u32 = 256 * 1024;
const MOST_ITERATIONS: u32 = 10;

const MIN_CHARS: usize = 12;
const MAX_CHARS: usize = 1024;

/// Checks the rules for a new password.
pub(crate) fn check_rules(field: &'static str, password: &SecretString) -> Result<(), AuthError> {
    match password.expose_secret().chars().count() {
        0..MIN_CHARS => Err(AuthError::field(
            field,
            format!("at least {MIN_CHARS} characters"),
        )),
        MIN_CHARS..=MAX_CHARS => Ok(()),
        _ => Err(AuthError::field(
            field,
            format!("at most {MAX_CHARS} characters"),
        )),
    }
}

/// Returns whether the text can be a valid password. If not, hashing is skipped.
pub(crate) fn is_possible(password: &SecretString) -> bool {
    (1..=MAX_CHARS).contains(&password.expose_secret().chars().count())
}

/// Returns the PHC string to store. Blocks for the time of the hash.
pub(crate) fn hash(password: &SecretString, salt: &[u8; 16]) -> Result<String, AuthError> {
    let params = Params::new(MEMORY_KIB, ITERATIONS, LANES, None)
        .map_err(|_| AuthError::Internal("the parameters of password hashing are invalid"))?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2
        .hash_password_with_salt(password.expose_secret().as_bytes(), salt)
        .map(|hash: PasswordHash| hash.to_string())
        .map_err(|_| AuthError::Internal("the password cannot be hashed"))
}

/// Returns whether the password matches this PHC string. Compares in constant time and blocks for the time of the
/// hash.
pub(crate) fn verify(password: &SecretString, phc: &str) -> bool {
    let Ok(stored) = PasswordHash::new(phc) else {
        tracing::error!("the stored password hash cannot be read");
        return false;
    };
    match Params::try_from(&stored) {
        Ok(p) if p.m_cost() <= MOST_MEMORY_KIB && p.t_cost() <= MOST_ITERATIONS => {}
        _ => {
            tracing::error!("the stored password hash exceeds the cost limit");
            return false;
        }
    }
    Argon2::default()
        .verify_password(password.expose_secret().as_bytes(), &stored)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    #[test]
    fn twelve_to_1024_characters_not_bytes() {
        let rule = |text: &str| check_rules("password", &secret(text)).is_ok();
        assert!(rule(&"é".repeat(12)));
        assert!(!rule(&"é".repeat(11)));
        assert!(rule(&"é".repeat(1024)));
        assert!(!rule(&"é".repeat(1025)));
    }

    #[test]
    fn the_string_has_the_specified_cost_and_verifies() {
        let phc = hash(&secret("correct horse battery"), &[7; 16]).unwrap();
        assert!(
            phc.starts_with("$argon2id$v=19$m=65536,t=3,p=1$BwcHBwcHBwcHBwcHBwcHBw$"),
            "{phc}"
        );
        assert!(verify(&secret("correct horse battery"), &phc));
        assert!(!verify(&secret("correct horse batterz"), &phc));
        assert!(!verify(&secret("x"), "not a hash"));
        let dear = phc.replace("m=65536", "m=4194304");
        assert!(!verify(&secret("correct horse battery"), &dear));
    }
}
