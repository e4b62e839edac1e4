//! Errors of outgoing requests. They never contain the URL, which may hold a token.

use crate::resolver::Refused;
use gatehouse_domain::{ErrorCode, Problem};
use std::error::Error;

/// A request was not sent, or its response was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    #[error("this address must not be called")]
    RefusedAddress,
    /// The URL is invalid, with the reason.
    #[error("the URL {0}")]
    BadUrl(&'static str),
    #[error("no response in time")]
    Timeout,
    /// The name does not resolve, nothing listens, or the certificate is not trusted.
    #[error("the connection could not be established")]
    Connect,
    #[error("the connection was interrupted")]
    Interrupted,
    /// The response cannot be decoded.
    #[error("the response could not be read")]
    BadResponse,
    /// Any other error. A retry does not help.
    #[error("{0}")]
    Other(&'static str),
}

impl OutboundError {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::Connect | Self::Interrupted)
    }

    /// The error for the caller. `provider` names the service, `field` the input that contained the URL.
    pub fn problem(self, provider: &str, field: &str) -> Problem {
        match self {
            Self::RefusedAddress | Self::BadUrl(_) => {
                Problem::invalid_params(field, self.to_string())
            }
            Self::Timeout => Problem::new(
                ErrorCode::Timeout,
                format!("{provider} did not respond in time."),
            ),
            Self::Connect | Self::Interrupted | Self::BadResponse | Self::Other(_) => Problem::new(
                ErrorCode::ProviderFailed,
                format!("The request to {provider} failed: {self}."),
            )
            .with("provider", provider)
            .with("retryable", self.is_retryable()),
        }
    }
}

impl From<reqwest::Error> for OutboundError {
    fn from(error: reqwest::Error) -> Self {
        if was_refused(&error) {
            return Self::RefusedAddress;
        }
        if error.is_timeout() {
            Self::Timeout
        } else if error.is_connect() {
            Self::Connect
        } else if error.is_builder() {
            Self::Other("the request could not be built")
        } else if error.is_decode() {
            Self::BadResponse
        } else {
            Self::Interrupted
        }
    }
}

/// The HTTP client wraps the resolver's refusal in several errors.
fn was_refused(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        if cause.is::<Refused>() {
            return true;
        }
        next = cause.source();
    }
    false
}
