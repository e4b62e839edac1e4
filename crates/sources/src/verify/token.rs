//! Modes in which the sender sends the secret itself.

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use super::{MAX_CANDIDATES, VerifyError, VerifyInput, header};

/// Checks that one of the header's values is one of the secrets.
pub(super) fn header(input: &VerifyInput<'_>, names: &[&str]) -> Result<(), VerifyError> {
    let values = header::first_present(input.headers, names)?;
    match values.len() {
        0 => Err(VerifyError::Missing),
        1..=MAX_CANDIDATES => compare(input.secrets, &values),
        _ => Err(VerifyError::TooMany),
    }
}

/// Checks `Authorization: Bearer <secret>`, which must occur exactly once.
pub(super) fn bearer(input: &VerifyInput<'_>) -> Result<(), VerifyError> {
    let values = header::first_present(input.headers, &["authorization"])?;
    match values.as_slice() {
        [] => Err(VerifyError::Missing),
        [value] => {
            let (scheme, token) = value
                .iter()
                .position(|byte| *byte == b' ')
                .and_then(|at| value.split_at_checked(at))
                .ok_or(VerifyError::Malformed)?;
            if !scheme.eq_ignore_ascii_case(b"bearer") {
                return Err(VerifyError::Malformed);
            }
            compare(input.secrets, &[token.trim_ascii()])
        }
        _ => Err(VerifyError::Malformed),
    }
}

/// Compares hashes, so that timing does not even reveal the length of the secret.
fn compare(secrets: &[&str], values: &[&[u8]]) -> Result<(), VerifyError> {
    let secrets: Vec<_> = secrets
        .iter()
        .filter(|secret| !secret.is_empty())
        .map(|secret| Sha256::digest(secret.as_bytes()))
        .collect();
    if secrets.is_empty() {
        return Err(VerifyError::NoSecret);
    }
    let mut right = Choice::from(0);
    for value in values {
        let value = Sha256::digest(value);
        for secret in &secrets {
            right |= value.as_slice().ct_eq(secret.as_slice());
        }
    }
    if bool::from(right) {
        Ok(())
    } else {
        Err(VerifyError::Wrong)
    }
}
