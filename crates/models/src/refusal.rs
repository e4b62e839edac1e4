//! Classifies vendor errors, and extracts the vendor's sentence. Only this module reads their text.
//!
//! Sources: <https://platform.openai.com/docs/guides/error-codes>,
//! <https://platform.claude.com/docs/en/api/errors>, llama.cpp's `tools/server/README.md`.

use serde_json::Value;

/// The meaning of a vendor's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The conversation exceeds the context window.
    ContextTooLong,
    /// The server does not support `stream_options`.
    NoStreamOptions,
    /// A limit that a short wait does not lift, such as exhausted credit.
    Quota(u16),
    /// Any other error.
    Status(Option<u16>),
}

impl Refusal {
    /// The status to report.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::ContextTooLong | Self::NoStreamOptions => None,
            Self::Quota(status) => Some(status),
            Self::Status(status) => status,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        self.status().is_some_and(may_work_later)
    }

    /// Whether a retry within seconds is worthwhile.
    pub fn is_worth_a_retry(self) -> bool {
        !matches!(self, Self::Quota(_)) && self.is_retryable()
    }
}

const fn may_work_later(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

/// Codes for a conversation that is too long: `OpenAI` and Groq use `code`, llama.cpp `type`.
const CONTEXT_CODES: &[&str] = &["context_length_exceeded", "exceed_context_size_error"];

/// Anthropic ("prompt is too long: … tokens", "input length and `max_tokens` exceed context limit"), vLLM
/// ("This model's maximum context length is …"), older llama.cpp ("exceeds the available context size"),
/// Gemini ("The input token count … exceeds the maximum number of tokens allowed"), Ollama, LM Studio,
/// Mistral.
const CONTEXT_PHRASES: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "context length",
    "context window",
    "context limit",
    "context size",
    "maximum context",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
];

/// Classifies a response with an error status.
pub(crate) fn with_status(status: u16, body: &[u8]) -> Refusal {
    let said = Said::read(body);
    // A request that is too long is a client error, but older llama.cpp returns 500.
    if matches!(status, 400 | 413 | 422 | 500) && (status == 413 || said.is_context()) {
        return Refusal::ContextTooLong;
    }
    if matches!(status, 400 | 422) && said.text.contains("stream_options") {
        return Refusal::NoStreamOptions;
    }
    if status == 429 && said.is_quota() {
        return Refusal::Quota(status);
    }
    Refusal::Status(Some(status))
}

/// The longest sentence of a vendor that is kept.
const MAX_SENTENCE_CHARACTERS: usize = 400;

/// Returns the vendor's message in one line: the `message` or `detail` of its error object. `None` without
/// one, and when it contains the key.
pub(crate) fn sentence(body: &[u8], key: Option<&str>) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let texts = [Some(error), error.get("message"), error.get("detail")];
    let text = texts.into_iter().flatten().find_map(Value::as_str)?;
    if key.is_some_and(|key| !key.is_empty() && text.contains(key)) {
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

/// Classifies an error within a stream: the object under `error`.
pub(crate) fn in_stream(error: &Value) -> Refusal {
    let said = Said::of(error);
    if said.is_context() {
        return Refusal::ContextTooLong;
    }
    let status = said.status();
    match status {
        Some(429) if said.is_quota() => Refusal::Quota(429),
        status => Refusal::Status(status),
    }
}

/// The machine-readable codes of an error, and its message in lower case.
#[derive(Default)]
struct Said {
    words: Vec<String>,
    text: String,
    number: Option<u16>,
}

impl Said {
    fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(list)) => list.first().map(Self::of).unwrap_or_default(),
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                text: String::from_utf8_lossy(body).to_lowercase(),
                ..Self::default()
            },
        }
    }

    /// Vendors send the error under `error`, as an object or a string, or bare.
    fn of(value: &Value) -> Self {
        let mut said = Self::default();
        let error = value.get("error").unwrap_or(value);
        if let Some(text) = error.as_str() {
            said.text = text.to_lowercase();
        }
        for name in ["code", "type", "status"] {
            match error.get(name) {
                Some(Value::String(word)) => said.words.push(word.to_lowercase()),
                Some(Value::Number(number)) => {
                    let number = number.as_u64().and_then(|n| u16::try_from(n).ok());
                    said.number = said.number.or(number);
                }
                _ => {}
            }
        }
        for name in ["message", "detail"] {
            match error.get(name) {
                Some(Value::String(text)) => said.text.push_str(&text.to_lowercase()),
                Some(other) => said.text.push_str(&other.to_string().to_lowercase()),
                None => {}
            }
        }
        said
    }

    fn is(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }

    fn is_context(&self) -> bool {
        CONTEXT_CODES.iter().any(|code| self.is(code))
            || CONTEXT_PHRASES.iter().any(|said| self.text.contains(said))
    }

    fn is_quota(&self) -> bool {
        self.is("insufficient_quota")
    }

    fn status(&self) -> Option<u16> {
        if let Some(number) = self.number.filter(|number| (400..600).contains(number)) {
            return Some(number);
        }
        let known = [
            ("invalid_request_error", 400),
            ("authentication_error", 401),
            ("permission_error", 403),
            ("not_found_error", 404),
            ("request_too_large", 413),
            ("rate_limit_error", 429),
            ("rate_limit_exceeded", 429),
            ("insufficient_quota", 429),
            ("api_error", 500),
            ("server_error", 500),
            ("timeout_error", 504),
            ("overloaded_error", 529),
        ];
        let known = known.into_iter().find(|(word, _)| self.is(word));
        known.map(|(_, status)| status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_conversation_that_is_too_long() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"x","type":"exceed_context_size_error","n_ctx":8}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}"#,
            ),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"x"}}"#,
            ),
            (413, ""),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 8 tokens.","code":400}"#,
            ),
            (400, r#"{"error":"input exceeds the CONTEXT LENGTH"}"#),
            (422, r#"{"detail":[{"msg":"Too many tokens"}]}"#),
            (
                500,
                "the request exceeds the available context size, try increasing it",
            ),
            (
                400,
                r#"[{"error":{"message":"exceeds the maximum number of tokens allowed"}}]"#,
            ),
        ] {
            assert_eq!(
                with_status(status, body.as_bytes()),
                Refusal::ContextTooLong,
                "{body}"
            );
        }
    }

    #[test]
    fn anything_else_keeps_its_status() {
        for (status, retryable) in [
            (400, false),
            (401, false),
            (404, false),
            (408, true),
            (429, true),
            (500, true),
            (503, true),
            (529, true),
            (302, false),
        ] {
            let refusal = with_status(status, br#"{"error":{"message":"no"}}"#);
            assert_eq!(refusal, Refusal::Status(Some(status)));
            assert_eq!(refusal.is_retryable(), retryable, "{status}");
        }
        // The phrases count only for statuses of invalid requests, and only in the message.
        let refusal = with_status(401, br#"{"error":{"message":"context length"}}"#);
        assert_eq!(refusal, Refusal::Status(Some(401)));
        let refusal = with_status(
            400,
            br#"{"error":{"message":"no","input":"context length"}}"#,
        );
        assert_eq!(refusal, Refusal::Status(Some(400)));
    }

    #[test]
    fn no_money_is_not_tried_again() {
        let refusal = with_status(429, br#"{"error":{"code":"insufficient_quota"}}"#);
        assert_eq!(refusal, Refusal::Quota(429));
        assert!(refusal.is_retryable() && !refusal.is_worth_a_retry());
    }

    #[test]
    fn errors_in_a_stream_stand_for_a_status() {
        for (error, status) in [
            (
                json!({"type": "overloaded_error", "message": "Overloaded"}),
                Some(529),
            ),
            (json!({"type": "rate_limit_error"}), Some(429)),
            (json!({"type": "api_error"}), Some(500)),
            (json!({"code": 502, "message": "bad gateway"}), Some(502)),
            (json!({"code": 7}), None),
            (json!("something"), None),
            (json!({"type": "new_error"}), None),
        ] {
            assert_eq!(in_stream(&error), Refusal::Status(status), "{error}");
        }
        let error = json!({"type": "invalid_request_error", "message": "prompt is too long"});
        assert_eq!(in_stream(&error), Refusal::ContextTooLong);
    }

    #[test]
    fn a_server_that_does_not_know_the_question_for_usage() {
        let body = br#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs"}]}"#;
        assert_eq!(with_status(422, body), Refusal::NoStreamOptions);
    }

    #[test]
    fn the_sentence_of_a_vendor_is_one_line_without_the_key() {
        let said = |body: &str| sentence(body.as_bytes(), Some("sk-1"));
        let openai = r#"{"error":{"message":"You exceeded\n your quota.","type":"x"}}"#;
        assert_eq!(said(openai).as_deref(), Some("You exceeded your quota."));
        assert_eq!(
            said(r#"{"error":"no such model"}"#).as_deref(),
            Some("no such model")
        );
        assert_eq!(said(r#"{"detail":"no"}"#).as_deref(), Some("no"));
        assert_eq!(said(r#"[{"error":{"message":"a"}}]"#).as_deref(), Some("a"));
        assert_eq!(said(r#"{"error":{"message":"bad key sk-1"}}"#), None);
        assert_eq!(said("<html>"), None);
        let long = serde_json::json!({ "error": "x".repeat(500) }).to_string();
        assert_eq!(said(&long).map(|text| text.chars().count()), Some(401));
    }
}
