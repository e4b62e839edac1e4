//! A vendor's response to a message: its status and, if the message was not accepted, its text. Secrets of the account
//! are removed from the text.

use crate::fields::FieldKind;
use crate::target::OpenAccount;
use bytes::Bytes;
use gatehouse_secrets::Redactor;
use reqwest::StatusCode;
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};
use url::Url;

/// The replacement for a secret in a text.
pub const REDACTED: &str = "[redacted]";
/// The minimum length of a part of a secret that is removed, in bytes. Shorter parts would occur in
/// any text.
const MIN_BYTES: usize = 4;
/// The minimum length of URL path segments and query values that are removed, in bytes. Shorter ones are names such as
/// `webhooks`.
const MIN_URL_BYTES: usize = 12;

/// A vendor's response to a message over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendResponse {
    pub status_code: u16,
    /// The body, at most 64 KiB, without the secrets of the account. Only present if the message was not accepted. The
    /// vendor wrote the body, so show it only to people, not to models.
    pub answer: Option<String>,
}

/// The last response to a part of a message.
#[derive(Debug, Default)]
pub(crate) struct LastResponse(Mutex<Option<(StatusCode, Bytes)>>);

impl LastResponse {
    fn lock(&self) -> MutexGuard<'_, Option<(StatusCode, Bytes)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, status: StatusCode, body: Bytes) {
        *self.lock() = Some((status, body));
    }

    /// Clears the response to the preceding part.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    /// Returns the part of the response that the owner may see. `accepted` is true if the message was sent.
    pub(crate) fn shown(&self, account: &OpenAccount, accepted: bool) -> Option<SendResponse> {
        let (status, body) = self.lock().take()?;
        let text = || String::from_utf8_lossy(&body).into_owned();
        Some(SendResponse {
            status_code: status.as_u16(),
            answer: (!accepted).then(|| redactor(account).redact(text())),
        })
    }
}

/// Returns a redactor for the secrets of an account and for those parts of them that a request
/// contains separately.
fn redactor(account: &OpenAccount) -> Redactor {
    let specs = account.sender.about().fields;
    let mut values = Vec::new();
    for (field, secret) in &account.secrets {
        let secret = secret.expose_secret();
        let spec = specs.iter().find(|spec| spec.name == field.as_str());
        let parts = spec.map(|spec| parts_of(spec.kind, secret));
        let parts = parts.into_iter().flatten();
        values.extend(parts.filter(|part| part.len() >= MIN_BYTES));
        values.push(secret.to_owned());
    }
    let values = values.iter();
    Redactor::new(values.map(|value| (REDACTED.to_owned(), value.as_str())))
}

/// Returns the parts of a secret to remove. For headers, these are the values and the credentials after their scheme.
/// For a URL, these are its path, query and password, and their components. For a signing secret, this is its Base64.
fn parts_of(kind: FieldKind, secret: &str) -> Vec<String> {
    match kind {
        FieldKind::Headers => {
            let headers: Map<String, Value> = serde_json::from_str(secret).unwrap_or_default();
            let values = headers.values().filter_map(Value::as_str);
            let and_credentials = |value: &str| {
                let last = value.rsplit(' ').next().unwrap_or_default();
                [value.to_owned(), last.to_owned()]
            };
            values.flat_map(and_credentials).collect()
        }
        FieldKind::Url => Url::parse(secret).map_or_else(|_| Vec::new(), |url| parts_of_url(&url)),
        FieldKind::SigningSecret => {
            let key = secret.strip_prefix("whsec_");
            key.into_iter().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn parts_of_url(url: &Url) -> Vec<String> {
    let whole = [Some(url.path()), url.query(), url.password()];
    let whole = whole.into_iter().flatten().map(str::to_owned);
    let segments = url.path_segments().into_iter().flatten();
    let values = url.query_pairs().map(|(_, value)| value.into_owned());
    let parts = segments.map(str::to_owned).chain(values);
    let long = parts.filter(|part| part.len() >= MIN_URL_BYTES);
    whole.chain(long).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_secret_are_what_a_request_contains() {
        let headers = r#"{"authorization":"Bearer abcd-1234","x-key":"k-5678"}"#;
        assert_eq!(
            parts_of(FieldKind::Headers, headers),
            ["Bearer abcd-1234", "abcd-1234", "k-5678", "k-5678"]
        );
        assert_eq!(
            parts_of(FieldKind::Url, "https://hooks.example/services/T/B/x?k=v"),
            ["/services/T/B/x", "k=v"]
        );
        assert_eq!(
            parts_of(
                FieldKind::Url,
                "https://u:pass@x.example/webhooks/abcdefghijkl?key=mnop%2Fqrstuvwx"
            ),
            [
                "/webhooks/abcdefghijkl",
                "key=mnop%2Fqrstuvwx",
                "pass",
                "abcdefghijkl",
                "mnop/qrstuvwx"
            ]
        );
        assert_eq!(parts_of(FieldKind::SigningSecret, "whsec_AAAA"), ["AAAA"]);
        assert!(parts_of(FieldKind::Text, "xoxb-1").is_empty());
    }
}
