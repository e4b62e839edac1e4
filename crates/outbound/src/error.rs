//! What can go wrong on the way out, without the address that was called: it may carry a token.

use crate::resolver::Refused;
use gatehouse_domain::{ErrorCode, Problem};
use std::error::Error;

/// A request was not sent, or its answer not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    /// The address is one that must not be called.
    #[error("this address must not be called")]
    RefusedAddress,
    /// The URL is not one that can be called; why.
    #[error("the URL {0}")]
    BadUrl(&'static str),
    /// No answer in time.
    #[error("there was no answer in time")]
    Timeout,
    /// No connection: the name does not resolve, nobody listens, the certificate is not trusted.
    #[error("no connection could be made")]
    Connect,
    /// The connection broke in the middle.
    #[error("the connection broke")]
    Interrupted,
    /// The answer cannot be decoded.
    #[error("the answer could not be read")]
    BadResponse,
    /// Something else, which repeating does not mend.
    #[error("{0}")]
    Other(&'static str),
}

impl OutboundError {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::Connect | Self::Interrupted)
    }

    /// What a caller is told. `provider` names whom we called, `field` the input the URL came from.
    pub fn problem(self, provider: &str, field: &str) -> Problem {
        match self {
            Self::RefusedAddress | Self::BadUrl(_) => {
                Problem::invalid_params(field, self.to_string())
            }
            Self::Timeout => Problem::new(
                ErrorCode::Timeout,
                format!("{provider} gave no answer in time."),
            ),
            Self::Connect | Self::Interrupted | Self::BadResponse | Self::Other(_) => Problem::new(
                ErrorCode::ProviderFailed,
                format!("Calling {provider} failed: {self}."),
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
            Self::Other("the request could not be made")
        } else if error.is_decode() {
            Self::BadResponse
        } else {
            Self::Interrupted
        }
    }
}

/// The resolver's refusal comes back wrapped in several errors of the client.
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
