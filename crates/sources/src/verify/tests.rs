//! Invariants of every scheme. `vectors` contains the values that vendors publish.

mod properties;
mod rules;
mod times;
mod tokens;
mod vectors;

use http::{HeaderName, HeaderValue};

use super::*;

/// 2023-11-14 22:13:20 UTC.
const NOW_MS: i64 = 1_700_000_000_000;

/// A delivery that tests can modify.
#[derive(Clone, Debug)]
struct Case {
    mode: AuthMode,
    header: Option<&'static str>,
    secrets: Vec<String>,
    headers: HeaderMap,
    body: Vec<u8>,
    url: String,
    now_ms: i64,
    tolerance: i64,
}

impl Case {
    fn new(mode: AuthMode, secret: &str, body: &[u8]) -> Self {
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

    /// A case signed by our own signer.
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

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(
            HeaderName::from_static(name),
            HeaderValue::from_str(value).unwrap(),
        );
        self
    }

    fn without(mut self, name: &'static str) -> Self {
        self.headers.remove(name);
        self
    }

    fn at(mut self, now_ms: i64) -> Self {
        self.now_ms = now_ms;
        self
    }

    fn verify(&self) -> Result<(), VerifyError> {
        let secrets: Vec<&str> = self.secrets.iter().map(String::as_str).collect();
        verify(&VerifyInput {
            mode: self.mode,
            header: self.header,
            secrets: &secrets,
            headers: &self.headers,
            body: &self.body,
            url: &self.url,
            now_ms: self.now_ms,
            tracker_tolerance_seconds: self.tolerance,
        })
    }
}

fn secret(mode: AuthMode) -> &'static str {
    match mode {
        AuthMode::StandardWebhooks => "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgMTI=",
        _ => "s3cret of ours",
    }
}

/// Every mode that verifies something.
fn checking() -> impl Iterator<Item = AuthMode> {
    AuthMode::ALL
        .iter()
        .copied()
        .filter(|mode| *mode != AuthMode::None)
}

/// The modes with a scheme in the table.
fn signing() -> impl Iterator<Item = (AuthMode, &'static scheme::Scheme)> {
    AuthMode::ALL
        .iter()
        .filter_map(|mode| match scheme::method(*mode) {
            Method::Signature(scheme) => Some((*mode, scheme)),
            _ => None,
        })
}

/// The header that our signer uses for the signature.
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
