//! Whether a delivery comes from whom it says. One verifier over a table of schemes: a vendor more is
//! an entry in `scheme` and its vectors. Must not know webhooks' records, profiles or the database.
//!
//! What a sender learns is yes or no. Why not is for the log and the metrics, by
//! [`VerifyError::reason`]. All comparisons take the same time for right and wrong, over all candidates.

mod header;
mod scheme;
mod secret;
mod sign;
mod signed;
mod token;

use data_encoding::HEXLOWER;
use gatehouse_domain::{ErrorCode, Problem};
use http::HeaderMap;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

pub use secret::{BadSecret, check_secret, key_bytes};
pub use sign::{SignInput, sign};

use crate::auth_mode::AuthMode;
use scheme::Method;

/// Header of `static_header` when the webhook names none.
pub const DEFAULT_STATIC_HEADER: &str = "x-webhook-secret";

/// How many signatures one delivery may bring. Senders that rotate their secret send two.
pub const MAX_CANDIDATES: usize = 10;

/// How long a header that is looked at may be, in bytes; of a header that is there twice, both together.
pub const MAX_HEADER_BYTES: usize = 4096;

/// How far a sender's time may be from ours, in seconds, either way.
pub const TOLERANCE_SECONDS: i64 = 300;

/// What is looked at.
#[derive(Clone, Copy)]
pub struct VerifyInput<'a> {
    /// How the webhook verifies.
    pub mode: AuthMode,
    /// Which header carries the secret in mode `static_header`.
    pub header: Option<&'a str>,
    /// The secrets that are good now: the current one, and during a rotation the previous one.
    pub secrets: &'a [&'a str],
    /// The request's headers.
    pub headers: &'a HeaderMap,
    /// The body as it came.
    pub body: &'a [u8],
    /// The address as the sender called it; some sign it.
    pub url: &'a str,
    /// Our time in Unix milliseconds.
    pub now_ms: i64,
    /// How far `webhookTimestamp` in a tracker's body may be from our time, in seconds.
    pub tracker_tolerance_seconds: i64,
}

/// Why a delivery was not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum VerifyError {
    /// The header is not there.
    #[error("no signature or token")]
    Missing,
    /// None of the signatures or tokens is right.
    #[error("wrong signature or token")]
    Wrong,
    /// What the header says cannot be read.
    #[error("malformed signature header")]
    Malformed,
    /// The scheme needs a time, and there is none.
    #[error("no timestamp")]
    MissingTimestamp,
    /// The signature is right, and too old.
    #[error("timestamp too old")]
    Stale,
    /// The signature is right, and from the future.
    #[error("timestamp in the future")]
    FromFuture,
    /// More than [`MAX_CANDIDATES`] signatures.
    #[error("too many signatures")]
    TooMany,
    /// More than [`MAX_HEADER_BYTES`] bytes.
    #[error("header too large")]
    HeaderTooLarge,
    /// The webhook has no secret that could verify anything.
    #[error("no usable secret")]
    NoSecret,
}

impl VerifyError {
    /// A label for metrics and for the delivery's record.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Missing => "missing_signature",
            Self::Wrong => "wrong_signature",
            Self::Malformed => "malformed_signature",
            Self::MissingTimestamp => "missing_timestamp",
            Self::Stale => "stale_timestamp",
            Self::FromFuture => "future_timestamp",
            Self::TooMany => "too_many_signatures",
            Self::HeaderTooLarge => "header_too_large",
            Self::NoSecret => "no_secret",
        }
    }
}

/// The same words for every reason.
impl From<VerifyError> for Problem {
    fn from(_: VerifyError) -> Self {
        Self::new(
            ErrorCode::InvalidCredentials,
            "The delivery could not be verified.",
        )
    }
}

/// What verification established.
#[derive(Clone, Copy)]
pub struct Proof<'a> {
    /// None where no signature was checked.
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
    /// The sender's id of the delivery, where the signature covers it.
    pub fn id(&self) -> Option<&'a str> {
        self.scheme
            .filter(|scheme| !scheme.id_headers.is_empty())
            .map(|_| self.id)
    }

    /// SHA-256 in hex of the bytes that the signature covers; of the body, where there is none. Two
    /// requests that one signature verifies have the same digest, however they are spelled.
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

fn hash(parts: &[Cow<'_, [u8]>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    HEXLOWER.encode(&hash.finalize())
}

/// Verifies a delivery.
pub fn verify(input: &VerifyInput<'_>) -> Result<(), VerifyError> {
    prove(input).map(drop)
}

/// Verifies a delivery; what the signature says of it.
pub fn prove<'a>(input: &VerifyInput<'a>) -> Result<Proof<'a>, VerifyError> {
    match scheme::method(input.mode) {
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

/// How many tokens a request offers in a mode that compares them; 0 in every other mode.
pub fn offered_tokens(input: &VerifyInput<'_>) -> u32 {
    let names: &[&str] = match scheme::method(input.mode) {
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

/// The headers that carry the proof itself: a secret or a signature. Nothing else is to be read there.
pub fn proof_headers(mode: AuthMode, header: Option<&str>) -> Vec<&str> {
    match scheme::method(mode) {
        Method::Open => Vec::new(),
        Method::OwnHeader => vec![header.unwrap_or(DEFAULT_STATIC_HEADER)],
        Method::Token(headers) => headers.to_vec(),
        Method::Bearer => vec!["authorization"],
        Method::Signature(scheme) => scheme.headers.to_vec(),
    }
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
    // After the signature: only then is the time the sender's.
    signed::check_time(scheme, &claim, input)?;
    Ok(Proof {
        scheme: Some(scheme),
        id: claim.id,
        timestamp: claim.timestamp,
    })
}

#[cfg(test)]
mod tests;
