//! Parses a vendor's error body.
//!
//! Sources: <https://platform.openai.com/docs/guides/error-codes>,
//! <https://platform.claude.com/docs/en/api/errors>, <https://openrouter.ai/docs/api-reference/errors>,
//! <https://api-docs.deepseek.com/quick_start/error_codes>,
//! <https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter>,
//! <https://ai.google.dev/gemini-api/docs/thought-signatures>, llama.cpp's `tools/server/README.md`, Ollama's
//! `server/routes.go`, vLLM's `vllm/entrypoints/openai`.

mod phrases;

use super::Reason;
use phrases::{CONTEXT_CODES, CONTEXT_PHRASES, NO_TOOLS, SCHEMA, STATE, UNKNOWN_FIELD};
use serde_json::Value;

/// The machine-readable codes of an error, and its message in lower case.
#[derive(Default)]
pub(super) struct ErrorBody {
    words: Vec<String>,
    text: String,
    number: Option<u16>,
    /// The parameter that `OpenAI` names.
    parameter: String,
}

impl ErrorBody {
    pub(super) fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(list)) => list.first().map(Self::of).unwrap_or_default(),
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                text: String::from_utf8_lossy(body).to_lowercase(),
                ..Self::default()
            },
        }
    }

    /// Parses an error. Vendors send it under `error`, as an object or a string, or bare.
    pub(super) fn of(value: &Value) -> Self {
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
        let parameter = error.get("param").and_then(Value::as_str);
        parameter
            .unwrap_or_default()
            .clone_into(&mut said.parameter);
        said
    }

    fn is(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }

    fn mentions(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.text.contains(phrase))
    }

    pub(super) fn is_context(&self) -> bool {
        CONTEXT_CODES.iter().any(|code| self.is(code)) || self.mentions(CONTEXT_PHRASES)
    }

    /// Returns the reason of an error that is not about the context window.
    pub(super) fn reason(&self, status: u16) -> Reason {
        match status {
            401 => Reason::KeyRejected,
            402 => Reason::NoCredit,
            _ if self.is_no_credit() => Reason::NoCredit,
            429 => Reason::RateLimited,
            403 if self.is_filtered() => Reason::Filtered,
            403 => Reason::KeyRejected,
            // llama.cpp refuses tools with a server error.
            404 | 500 if self.mentions(NO_TOOLS) => Reason::NoTools,
            404 => Reason::UnknownModel,
            400 | 422 => self.of_request(),
            503 | 529 => Reason::Overloaded,
            500..=599 => Reason::ServerError,
            _ => Reason::Other,
        }
    }

    /// Returns the reason of an invalid request.
    fn of_request(&self) -> Reason {
        let about = |name: &str| self.parameter == name || self.text.contains(name);
        if self.text.contains("stream_options") {
            Reason::NoStreamOptions
        } else if self.mentions(STATE) && self.mentions(UNKNOWN_FIELD) {
            Reason::NoReasoningState
        } else if self.mentions(STATE) {
            Reason::ReasoningState
        } else if self.is_too_many_tools() {
            Reason::TooManyTools
        } else if self.is("invalid_function_parameters") || self.mentions(SCHEMA) {
            Reason::InvalidToolSchema
        } else if self.mentions(NO_TOOLS) {
            Reason::NoTools
        } else if self.is_filtered() {
            Reason::Filtered
        } else if self.is("model_not_found") || self.text.contains("model not found") {
            Reason::UnknownModel
        } else if about("reasoning_effort") || about("thinking") || about("output_config") {
            Reason::NoEffort
        } else if about("temperature") {
            Reason::NoTemperature
        } else if about("max_tokens") || about("max_completion_tokens") {
            Reason::OtherLimit
        } else {
            Reason::BadRequest
        }
    }

    /// `OpenAI`: "Invalid 'tools': array too long. Expected an array with maximum length 128 …".
    fn is_too_many_tools(&self) -> bool {
        let is_long =
            self.is("array_above_max_length") || self.mentions(&["too long", "too many tools"]);
        is_long && (self.parameter == "tools" || self.text.contains("tools"))
    }

    /// Azure (`content_filter`), `OpenAI` (`content_policy_violation`), `OpenRouter` ("flagged").
    fn is_filtered(&self) -> bool {
        self.is("content_filter")
            || self.is("content_policy_violation")
            || self.mentions(&["content management policy", "flagged", "content filter"])
    }

    /// Anthropic: 400 "Your credit balance is too low to access the API".
    fn is_no_credit(&self) -> bool {
        self.is("insufficient_quota")
            || self.is("billing_error")
            || self.mentions(&["credit balance is too low", "insufficient balance"])
    }

    /// Returns the HTTP status that is equivalent to an error within a stream.
    pub(super) fn status(&self) -> Option<u16> {
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
