//! The receiver's response to a delivery, as stored with the attempt: shortened, and without the secrets of
//! the webhook.

use crate::handle::Inner;
use gatehouse_channels::{REDACTED, SendResponse};
use gatehouse_domain::WebhookId;
use gatehouse_secrets::Redactor;
use gatehouse_store::DeliveryResponse;

/// Maximum length of a stored answer, in characters.
const MAX_ANSWER_CHARS: usize = 500;

/// Converts a response to its stored form.
pub(crate) fn stored(
    inner: &Inner,
    webhook: &WebhookId,
    response: SendResponse,
) -> DeliveryResponse {
    let SendResponse {
        status_code,
        answer,
    } = response;
    DeliveryResponse {
        status_code: Some(i64::from(status_code)),
        answer: answer.and_then(|text| beginning(&redactor(inner, webhook)?.redact(text))),
    }
}

/// Returns a redactor for the secrets of a webhook. Returns `None` if the secrets are not known; no secret can then
/// be removed.
fn redactor(inner: &Inner, webhook: &WebhookId) -> Option<Redactor> {
    let live = inner.live.find_by_id(webhook)?;
    if live.is_sealed() {
        return None;
    }
    let secrets = live.all_secrets();
    let keys = secrets.iter().filter_map(|it| it.strip_prefix("whsec_"));
    let values = secrets.iter().copied().chain(keys);
    Some(Redactor::new(
        values.map(|value| (REDACTED.to_owned(), value)),
    ))
}

/// Returns the beginning of a text, without control characters other than line breaks and tabs. Returns `None` if
/// nothing remains.
fn beginning(text: &str) -> Option<String> {
    let is_kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(is_kept).collect();
    let beginning: String = text.trim_start().chars().take(MAX_ANSWER_CHARS).collect();
    let beginning = beginning.trim_end();
    (!beginning.is_empty()).then(|| beginning.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_between_characters_and_has_no_control_characters() {
        let cut = beginning(&"ä".repeat(600)).unwrap();
        assert_eq!(cut, "ä".repeat(500));
        let plain = beginning(" \r\n{\r\n\t\"a\": \"\0\u{1b}[31m\"\r\n}\r\n");
        assert_eq!(plain.as_deref(), Some("{\n\t\"a\": \"[31m\"\n}"));
        assert_eq!(beginning("\0 \n"), None);
    }
}
