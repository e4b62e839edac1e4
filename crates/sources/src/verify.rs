//! Verifies that a delivery comes from its claimed sender. One verifier applies the scheme of a mode, which is data
//! in its vendor's folder. Independent of webhook records, profiles and the database.
//!
//! The response to a sender reveals only success or failure. The reason appears only in logs and metrics, through
//! [`VerifyError::reason`]. All comparisons take constant time over all candidates.

mod error;
mod header;
pub(crate) mod scheme;
mod secret;
pub(crate) mod shell;
mod sign;
mod signed;
mod time;
mod token;

use data_encoding::HEXLOWER;
use http::HeaderMap;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

pub use secret::{BadSecret, check_secret, key_bytes};
pub use shell::{ShellRecipe, shell};
pub use sign::{SignInput, sign, sign_as_vendor};

use crate::auth_mode::AuthMode;
pub use error::VerifyError;
use scheme::Method;
pub use scheme::TOLERANCE_SECONDS;

/// The header of `static_header` if the webhook sets none.
pub const DEFAULT_STATIC_HEADER: &str = "x-webhook-secret";

/// Maximum number of signatures in a delivery. Senders send two while they rotate their secret.
pub const MAX_CANDIDATES: usize = 10;

/// Maximum total size of a header's values, in bytes.
pub const MAX_HEADER_BYTES: usize = 4096;

/// The input of a verification.
#[derive(Clone, Copy)]
pub struct VerifyInput<'a> {
    pub mode: AuthMode,
    /// The header that contains the secret in the mode `static_header`.
    pub header: Option<&'a str>,
    /// The valid secrets: the current one and, during a rotation, previous ones.
    pub secrets: &'a [&'a str],
    pub headers: &'a HeaderMap,
    /// The raw body.
    pub body: &'a [u8],
    /// The URL that the sender called; some schemes sign it.
    pub url: &'a str,
    /// The current Unix time in milliseconds.
    pub now_ms: i64,
    /// Maximum difference between `webhookTimestamp` in a tracker's body and our clock, in seconds.
    pub tracker_tolerance_seconds: i64,
}

/// The facts that a successful verification has proved.
#[derive(Clone, Copy)]
pub struct Proof<'a> {
    /// The scheme; `None` if no signature was checked.
    scheme: Option<&'static scheme::Scheme>,
    id: &'a str,
    timestamp: &'a str,
}

impl std::fmt::Debug for Proof<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proof")
            .field("id", &self.id)
            .field("timestamp", &self.timestamp)
            .finish_non_exhaustive()
    }
}

impl<'a> Proof<'a> {
    /// Returns the sender's delivery ID, if the signature covers it.
    pub fn id(&self) -> Option<&'a str> {
        self.scheme
            .filter(|scheme| !scheme.id_headers.is_empty())
            .map(|_| self.id)
    }

    /// Returns the hex SHA-256 of the signed bytes, or of the body if nothing is signed. Requests that the same
    /// signature verifies have the same digest, even if their encodings differ.
    pub fn digest(&self, input: &VerifyInput<'_>) -> String {
        let signed = self.scheme.and_then(|scheme| {
            let url = signed::canonical(input.url);
            signed::parts(
                scheme,
                &signed::Subject {
                    id: self.id,
                    timestamp: self.timestamp,
                    url: &url,
                    body: input.body,
                },
            )
            .map(|parts| hash(&parts))
        });
        signed.unwrap_or_else(|| hash(&[Cow::Borrowed(input.body)]))
    }
}

/// Returns the HMAC-SHA256 in hex, with the secret of a mode that signs.
pub(crate) fn hmac_hex(mode: AuthMode, secret: &str, text: &[u8]) -> Option<String> {
    let Method::Signature(scheme) = mode.method() else {
        return None;
    };
    let key = secret::key(scheme.key, secret)?;
    Some(hmac_sha256_hex(&key, text))
}

/// HMAC-SHA256 in lower-case hex.
pub(crate) fn hmac_sha256_hex(key: &[u8], text: &[u8]) -> String {
    let scheme = scheme::BODY;
    let subject = signed::Subject {
        id: "",
        timestamp: "",
        url: "",
        body: text,
    };
    HEXLOWER.encode(&signed::signature(&scheme, key, &subject))
}

fn hash(parts: &[Cow<'_, [u8]>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    HEXLOWER.encode(&hash.finalize())
}

/// Verifies a delivery and returns the facts that the signature proves.
pub fn prove<'a>(input: &VerifyInput<'a>) -> Result<Proof<'a>, VerifyError> {
    match input.mode.method() {
        Method::Open => {}
        Method::OwnHeader => token::header(input, &[own_header(input)])?,
        Method::Token(headers) => token::header(input, headers)?,
        Method::Bearer => token::bearer(input)?,
        Method::Signature(scheme) => return signature(input, scheme),
    }
    Ok(Proof {
        scheme: None,
        id: "",
        timestamp: "",
    })
}

/// Returns the first secret that alone verifies a delivery.
pub fn proving_secret<'a>(input: &VerifyInput<'a>) -> Option<&'a str> {
    let mut secrets = input.secrets.iter().copied();
    secrets.find(|secret| {
        let alone = VerifyInput {
            secrets: &[*secret],
            ..*input
        };
        prove(&alone).is_ok()
    })
}

/// Returns the number of tokens in a request. Returns 0 if the mode does not compare tokens.
pub fn offered_tokens(input: &VerifyInput<'_>) -> u32 {
    let names: &[&str] = match input.mode.method() {
        Method::OwnHeader => &[own_header(input)],
        Method::Token(headers) => headers,
        Method::Bearer => &["authorization"],
        Method::Open | Method::Signature(_) => return 0,
    };
    let offered = header::first_present(input.headers, names).unwrap_or_default();
    u32::try_from(offered.len()).unwrap_or(u32::MAX)
}

fn own_header<'a>(input: &VerifyInput<'a>) -> &'a str {
    input.header.unwrap_or(DEFAULT_STATIC_HEADER)
}

/// Returns the headers that contain the secret or signature. They must not be read for any other purpose.
pub fn proof_headers(mode: AuthMode, header: Option<&str>) -> Vec<&str> {
    match mode.method() {
        Method::Open => Vec::new(),
        Method::OwnHeader => vec![header.unwrap_or(DEFAULT_STATIC_HEADER)],
        Method::Token(headers) => headers.to_vec(),
        Method::Bearer => vec!["authorization"],
        Method::Signature(scheme) => scheme.headers.to_vec(),
    }
}

/// Returns the headers with the delivery ID that the signature covers.
pub fn id_headers(mode: AuthMode) -> &'static [&'static str] {
    match mode.method() {
        Method::Signature(scheme) => scheme.id_headers,
        Method::Open | Method::OwnHeader | Method::Token(_) | Method::Bearer => &[],
    }
}

/// Returns whether the sender signs the URL that it called. In other modes, [`VerifyInput::url`] may be empty.
pub fn signs_url(mode: AuthMode) -> bool {
    matches!(mode.method(), Method::Signature(scheme) if scheme.signs_url())
}

fn signature<'a>(
    input: &VerifyInput<'a>,
    scheme: &'static scheme::Scheme,
) -> Result<Proof<'a>, VerifyError> {
    let claim = header::read(scheme, input.headers)?;
    let outcome = signed::check(scheme, &claim, input)?;
    if !outcome {
        return Err(VerifyError::Wrong);
    }
    // Checked last, because only a valid signature makes the timestamp trustworthy.
    time::check_time(scheme, &claim, input)?;
    Ok(Proof {
        scheme: Some(scheme),
        id: claim.id,
        timestamp: claim.timestamp,
    })
}

#[cfg(test)]
pub(crate) mod tests;
