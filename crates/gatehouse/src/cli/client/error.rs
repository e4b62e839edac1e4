//! Errors of requests to the server.

use crate::cli::output;
use gatehouse_domain::{ErrorCode, Problem};
use reqwest::{StatusCode, Url};
use serde_json::{Map, Value};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No server answered at this address.
    #[error(
        "no server responds at {url}; start it with `gatehouse serve`, or set its URL with --url"
    )]
    Unreachable { url: Url, source: reqwest::Error },
    /// The connection ended before the answer did.
    #[error("the response from {url} is incomplete")]
    Incomplete { url: Url, source: reqwest::Error },
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The response is not from Gatehouse.
    #[error("the response from {url} is not from Gatehouse ({status})")]
    Strange { url: Url, status: StatusCode },
}

impl ClientError {
    /// Returns why a long-running command waits and calls again, or `None` if the call would fail
    /// again.
    pub fn outage(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { .. } => Some("the server does not respond"),
            Self::Strange { status, .. } => status
                .is_server_error()
                .then_some("the server does not respond"),
            Self::Refused(refusal) => {
                let is = |code: ErrorCode| refusal.code == code.name();
                if is(ErrorCode::VaultSealed) {
                    Some("the vault is sealed")
                } else if is(ErrorCode::RateLimited) {
                    Some("the server limits the rate of calls")
                } else if is(ErrorCode::StorageUnavailable) || is(ErrorCode::Internal) {
                    Some("the server reports an error")
                } else {
                    None
                }
            }
            Self::Incomplete { .. } => None,
        }
    }
}

/// An error returned by the server.
#[derive(Debug, thiserror::Error)]
#[error("{message} ({code}){}", hint(code))]
pub struct Refusal {
    pub message: String,
    pub code: String,
    /// The extra fields of this code.
    pub details: Map<String, Value>,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self {
            message: problem.message,
            code: problem.code.name().to_owned(),
            details: problem.details,
        }
    }
}

fn hint(code: &str) -> &'static str {
    match code {
        "AUTH_NOT_AUTHENTICATED" => {
            "; set --api-key or SERVICE_API_KEY, or create and store a key: gatehouse auth \
             create-key"
        }
        "VAULT_SEALED" => "; run: gatehouse vault unlock",
        _ => "",
    }
}

impl Refusal {
    /// Returns whether this input field caused the error.
    pub fn concerns(&self, field: &str) -> bool {
        self.details.get("field").and_then(Value::as_str) == Some(field)
    }

    pub(super) fn of_http(mut fields: Map<String, Value>) -> Self {
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => output::plain(&text),
            _ => String::new(),
        };
        let (message, code) = (text("error"), text("code"));
        Self {
            message,
            code,
            details: fields,
        }
    }

    /// Parses `{code: number, message, data: {code, …}}`.
    pub(super) fn of_rpc(mut error: Value) -> Self {
        let mut fields = match error.get_mut("data").map(Value::take) {
            Some(Value::Object(data)) => data,
            _ => Map::new(),
        };
        if let Some(message) = error.get_mut("message").map(Value::take) {
            fields.insert("error".to_owned(), message);
        }
        Self::of_http(fields)
    }
}
