//! Invariants of every scheme. The values that vendors publish are in their folders.

mod properties;
mod rules;
mod times;
mod tokens;

use http::{HeaderName, HeaderValue};

use super::*;

/// 2023-11-14 22:13:20 UTC.
pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

/// A delivery that tests can modify.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    mode: AuthMode,
    header: Option<&'static str>,
    pub(crate) secrets: Vec<String>,
    headers: HeaderMap,
    body: Vec<u8>,
    pub(crate) url: String,
    now_ms: i64,
    tolerance: i64,
}

impl Case {
    pub(crate) fn new(mode: AuthMode, secret: &str, body: &[u8]) -> Self {
        Self {
            mode,
            header: None,
            secrets: vec![secret.to_owned()],
            headers: HeaderMap::new(),
            body: body.to_vec(),
            url: "https://hooks.example/api/webhooks/ingest/wh_1".to_owned(),
            now_ms: NOW_MS,
            tolerance: 300,
        }
    }

    /// Creates a case that our own signer signs.
    fn signed(mode: AuthMode, secret: &str, body: &[u8]) -> Self {
        let mut case = Self::new(mode, secret, body);
        case.sign();
        case
    }

    fn sign(&mut self) {
        let secret = self.secrets[0].clone();
        self.headers = sign(&SignInput {
            mode: self.mode,
            header: self.header,
            secret: &secret,
            url: &self.url,
            body: &self.body,
            now_ms: self.now_ms,
            id: "msg_1",
        })
        .into_iter()
        .collect();
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.append(
            name.parse::<HeaderName>().unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub(crate) fn at(mut self, now_ms: i64) -> Self {
        self.now_ms = now_ms;
        self
    }

    pub(crate) fn verify(&self) -> Result<(), VerifyError> {
        let secrets: Vec<&str> = self.secrets.iter().map(String::as_str).collect();
        prove(&VerifyInput {
            mode: self.mode,
            header: self.header,
            secrets: &secrets,
            headers: &self.headers,
            body: &self.body,
            url: &self.url,
            now_ms: self.now_ms,
            tracker_tolerance_seconds: self.tolerance,
        })
        .map(drop)
    }
}

/// Returns whether the secret is `whsec_` and Base64.
fn has_encoded_key(mode: AuthMode) -> bool {
    matches!(mode.method(), Method::Signature(scheme) if scheme.key == scheme::Key::Whsec)
}

fn secret(mode: AuthMode) -> &'static str {
    if has_encoded_key(mode) {
        "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgMTI="
    } else {
        "s3cret of ours"
    }
}

fn named(name: &str) -> AuthMode {
    name.parse().unwrap()
}

/// Checks that a published value verifies, and that another body or secret does not.
pub(crate) fn good(case: &Case) {
    assert_eq!(case.verify(), Ok(()));
    let mut other = case.clone();
    other.body.push(b' ');
    assert_eq!(other.verify(), Err(VerifyError::Wrong));
    let mut other = case.clone();
    other.secrets = vec!["another secret".to_owned()];
    assert!(other.verify().is_err());
}

/// Returns every mode that verifies something.
fn checking() -> impl Iterator<Item = AuthMode> {
    AuthMode::all()
        .iter()
        .copied()
        .filter(|mode| *mode != AuthMode::NONE && mode.can_sign())
}

/// Returns the modes with a scheme in the table.
fn signing() -> impl Iterator<Item = (AuthMode, &'static scheme::Scheme)> {
    AuthMode::all()
        .iter()
        .filter_map(|mode| match mode.method() {
            Method::Signature(scheme) if mode.can_sign() => Some((*mode, scheme)),
            _ => None,
        })
}

/// Returns the header that our signer uses for the signature.
fn signature_header(scheme: &scheme::Scheme) -> &'static str {
    scheme.headers[0]
}

fn signature_of(case: &Case, scheme: &scheme::Scheme) -> String {
    case.headers[signature_header(scheme)]
        .to_str()
        .unwrap()
        .to_owned()
}

const FORM: &[u8] = b"From=%2B14158675309&Body=hello";
