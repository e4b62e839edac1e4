//! Classifies vendor errors.
//!
//! Sources: <https://platform.openai.com/docs/guides/error-codes>,
//! <https://platform.claude.com/docs/en/api/errors>, llama.cpp's `tools/server/README.md`.

mod error_body;

use error_body::ErrorBody;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// Why a provider refused a request. This is a closed list, unlike the vendor's own sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The conversation exceeds the context window.
    ContextTooLong,
    /// The server does not support `stream_options`.
    NoStreamOptions,
    /// The model cannot call tools.
    NoTools,
    /// The model accepts only its default temperature.
    NoTemperature,
    /// The model does not accept this reasoning effort.
    NoEffort,
    /// The model uses the other name for the limit of an answer.
    OtherLimit,
    /// More tools than the provider accepts.
    TooManyTools,
    /// The provider does not accept a tool's schema.
    InvalidToolSchema,
    /// The server does not accept the reasoning of earlier steps.
    NoReasoningState,
    /// Reasoning of an earlier step is missing or does not match.
    ReasoningState,
    /// The model does not exist, or the key may not use it.
    UnknownModel,
    /// The key was rejected.
    KeyRejected,
    /// The account has no credit or has used up its quota.
    NoCredit,
    /// Too many requests or tokens.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// A content filter of the provider refused the request.
    Filtered,
    /// Another invalid request.
    BadRequest,
    /// An internal error of the provider.
    ServerError,
    /// Anything else.
    Other,
}

impl Reason {
    /// Returns the name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContextTooLong => "context_too_long",
            Self::NoStreamOptions => "no_stream_options",
            Self::NoTools => "no_tools",
            Self::NoTemperature => "no_temperature",
            Self::NoEffort => "no_effort",
            Self::OtherLimit => "other_limit",
            Self::TooManyTools => "too_many_tools",
            Self::InvalidToolSchema => "invalid_tool_schema",
            Self::NoReasoningState => "no_reasoning_state",
            Self::ReasoningState => "reasoning_state",
            Self::UnknownModel => "unknown_model",
            Self::KeyRejected => "key_rejected",
            Self::NoCredit => "no_credit",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Filtered => "filtered",
            Self::BadRequest => "bad_request",
            Self::ServerError => "server_error",
            Self::Other => "other",
        }
    }

    /// Returns the sentence about the provider without its beginning: "The model provider p …".
    pub(crate) const fn sentence(self) -> Option<&'static str> {
        Some(match self {
            Self::NoTools => "does not support tools with this model",
            Self::NoTemperature => "does not accept this temperature. Clear it in the agent",
            Self::NoEffort => "does not accept this reasoning effort. Clear it in the agent",
            Self::OtherLimit => "does not accept this limit of the answer. Clear it in the agent",
            Self::TooManyTools => "accepts fewer tools. Allow fewer in the agent",
            Self::InvalidToolSchema => "does not accept the schema of a tool",
            Self::ReasoningState => {
                "requires the reasoning of an earlier step, which is missing. Start a new session"
            }
            Self::UnknownModel => "does not offer this model. Choose another one",
            Self::KeyRejected => "rejected the key",
            Self::NoCredit => "reports that the account has no credit or quota left",
            Self::RateLimited => "limits the rate of requests",
            Self::Overloaded => "is overloaded",
            Self::Filtered => "refused the request because of its content filter",
            Self::ContextTooLong
            | Self::NoStreamOptions
            | Self::NoReasoningState
            | Self::BadRequest
            | Self::ServerError
            | Self::Other => return None,
        })
    }
}

/// A vendor's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    /// The HTTP status, or the equivalent status of an error within a stream.
    pub status: Option<u16>,
}

impl Refusal {
    /// Returns whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        self.reason != Reason::ContextTooLong && self.status.is_some_and(may_work_later)
    }

    /// Returns whether a retry within seconds is worthwhile. Exhausted credit takes longer.
    pub fn is_worth_a_retry(self) -> bool {
        self.reason != Reason::NoCredit && self.is_retryable()
    }
}

const fn may_work_later(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

/// Classifies a response with an error status.
pub(crate) fn with_status(status: u16, body: &[u8]) -> Refusal {
    let error_body = ErrorBody::read(body);
    // A request that is too long is a client error, but older llama.cpp returns 500.
    let is_context =
        matches!(status, 400 | 413 | 422 | 500) && (status == 413 || error_body.is_context());
    let reason = if is_context {
        Reason::ContextTooLong
    } else {
        error_body.reason(status)
    };
    Refusal {
        reason,
        status: Some(status),
    }
}

/// Returns the delay that a body requests: Google's `RetryInfo` (`google/rpc/error_details.proto`). Gemini sends it
/// instead of `Retry-After`.
pub(crate) fn asked_wait(body: &[u8]) -> Option<Duration> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get(0).unwrap_or(&value).get("error")?;
    let mut details = error.get("details")?.as_array()?.iter();
    let info = details.find(|detail| {
        let kind = detail.get("@type").and_then(Value::as_str);
        kind.is_some_and(|kind| kind.ends_with("google.rpc.RetryInfo"))
    })?;
    // A protobuf duration in JSON: seconds with up to nine decimal places.
    let seconds = info.get("retryDelay")?.as_str()?.strip_suffix('s')?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

/// Classifies an error within a stream: the object under `error`.
pub(crate) fn in_stream(error: &Value) -> Refusal {
    let error_body = ErrorBody::of(error);
    let status = error_body.status();
    let reason = if error_body.is_context() {
        Reason::ContextTooLong
    } else {
        status.map_or(Reason::Other, |status| error_body.reason(status))
    };
    Refusal { reason, status }
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
