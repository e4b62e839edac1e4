//! Extracts the vendor's own error message from the response to a refused request. The message may repeat parts of
//! the request.

use serde_json::Value;

/// The maximum length of the message.
const MAX_SENTENCE_CHARACTERS: usize = 400;

/// Returns the vendor's message in one line. Returns `None` if there is none, or if it contains one of the keys.
///
/// Sources: <https://platform.openai.com/docs/guides/error-codes> (also Groq's form),
/// <https://cloud.google.com/apis/design/errors>, <https://elevenlabs.io/docs/developers/resources/error-messages>
/// (`detail.message`), <https://developers.deepgram.com/docs/errors> (`err_msg`), <https://docs.mistral.ai>
/// (`message` or `detail`).
pub fn vendor_sentence(body: &[u8], keys: &[&str]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let texts = [
        Some(error),
        error.get("message"),
        error.pointer("/detail/message"),
        error.get("detail"),
        error.get("err_msg"),
    ];
    let text = texts.into_iter().flatten().find_map(Value::as_str)?;
    let has = |key: &&str| !key.is_empty() && text.contains(*key);
    if keys.iter().any(has) {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let mut cut: String = line.chars().take(MAX_SENTENCE_CHARACTERS).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    (!cut.is_empty()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str) -> Option<String> {
        vendor_sentence(body.as_bytes(), &["sk-1"])
    }

    #[test]
    fn the_sentence_of_each_vendor_is_found() {
        for body in [
            r#"{"error":{"message":"No such voice.","type":"invalid_request_error"}}"#,
            r#"{"error":{"code":400,"message":"No such voice.","status":"INVALID_ARGUMENT"}}"#,
            r#"[{"error":{"message":"No such voice."}}]"#,
            r#"{"error":"No such voice."}"#,
            r#"{"detail":{"status":"voice_not_found","message":"No such voice."}}"#,
            r#"{"detail":"No such voice."}"#,
            r#"{"err_code":"Bad Request","err_msg":"No such\n voice.","request_id":"1"}"#,
            r#"{"message":"No such voice.","request_id":"1"}"#,
        ] {
            assert_eq!(said(body).as_deref(), Some("No such voice."), "{body}");
        }
    }

    #[test]
    fn a_sentence_with_the_key_and_a_body_without_a_sentence_are_dropped() {
        for body in [
            r#"{"error":{"message":"Bad key sk-1."}}"#,
            r#"{"error":{"message":" "}}"#,
            r#"{"detail":[{"loc":["body"]}]}"#,
            "<html>Bad gateway</html>",
            "",
        ] {
            assert_eq!(said(body), None, "{body}");
        }
    }

    #[test]
    fn a_long_sentence_is_cut() {
        let body = format!(r#"{{"message":"{}"}}"#, "ä".repeat(500));
        let cut = said(&body).unwrap();
        assert_eq!(cut.chars().count(), MAX_SENTENCE_CHARACTERS + 1);
        assert!(cut.ends_with('…'));
    }
}
