//! Errors of outgoing requests. They never contain the URL, which may contain a token.

use crate::fenced::NotHeld;
use crate::resolver::Refused;
use gatehouse_domain::{ErrorCode, Problem};
use std::error::Error;
use std::io;

/// A request was not sent, or its response was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    #[error("this address must not be called")]
    RefusedAddress,
    /// The URL is invalid. Contains the reason.
    #[error("the URL {0}")]
    BadUrl(&'static str),
    #[error("no response in time")]
    Timeout,
    /// The name does not resolve, or nothing listens at the address.
    #[error("the connection could not be established")]
    Connect,
    /// The certificate is not trusted, or the port does not use TLS.
    #[error("the connection could not be secured")]
    Tls,
    #[error("the connection was interrupted")]
    Interrupted,
    /// The response cannot be decoded.
    #[error("the response could not be read")]
    BadResponse,
    /// The request was not sent, because another node may have taken over the delivery or turn. A retry is also
    /// refused.
    #[error("the lease of this work has expired")]
    LeaseExpired,
    /// Any other error. A retry would fail too.
    #[error("{0}")]
    Other(&'static str),
}

impl OutboundError {
    /// Returns whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::Timeout | Self::Connect | Self::Tls | Self::Interrupted
        )
    }

    /// Converts the error to a problem for the caller. `provider` names the service, `field` the input that
    /// contained the URL.
    pub fn problem(self, provider: &str, field: &str) -> Problem {
        match self {
            Self::RefusedAddress | Self::BadUrl(_) => {
                Problem::invalid_params(field, self.to_string())
            }
            Self::Timeout => Problem::new(
                ErrorCode::Timeout,
                format!("{provider} did not respond in time."),
            ),
            Self::Connect
            | Self::Tls
            | Self::Interrupted
            | Self::BadResponse
            | Self::LeaseExpired
            | Self::Other(_) => Problem::new(
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
        if causes(&error).any(<dyn Error>::is::<Refused>) {
            return Self::RefusedAddress;
        }
        if causes(&error).any(<dyn Error>::is::<NotHeld>) {
            return Self::LeaseExpired;
        }
        if error.is_timeout() {
            Self::Timeout
        } else if error.is_connect() && causes(&error).any(is_of_tls) {
            Self::Tls
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

/// Returns the errors that the HTTP client wrapped, outermost first.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| inner(*cause))
}

/// Returns the inner error of an I/O error. Its `source` is the source of the inner error, not the inner error.
fn inner<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inside) => Some(inside),
        None => cause.source(),
    }
}

/// Returns whether TLS caused the error. While connecting, only TLS reads data: the data was invalid or ended
/// early.
fn is_of_tls(cause: &(dyn Error + 'static)) -> bool {
    let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(
        kind,
        Some(io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
    )
}
