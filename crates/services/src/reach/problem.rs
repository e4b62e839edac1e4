//! Why the public URL could not be reached.

use gatehouse_outbound::OutboundError;
use schemars::JsonSchema;
use serde::Serialize;

/// Why the server was not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReachProblem {
    /// The name has no address.
    Dns,
    /// Nothing accepts connections there.
    Refused,
    /// No answer within ten seconds.
    Timeout,
    /// The certificate is not trusted, or the port does not use TLS.
    Tls,
    /// The connection ended before the answer did.
    Interrupted,
    /// The answer does not come from this process or from another node of its database.
    OtherServer,
    /// The answer is a redirect or an error.
    Status,
    /// The URL cannot be called.
    Other,
}

pub(super) struct Failure {
    pub(super) problem: ReachProblem,
    pub(super) detail: Option<String>,
}

impl From<ReachProblem> for Failure {
    fn from(problem: ReachProblem) -> Self {
        let detail = None;
        Self { problem, detail }
    }
}

impl From<OutboundError> for Failure {
    fn from(error: OutboundError) -> Self {
        match error {
            OutboundError::Timeout => ReachProblem::Timeout.into(),
            OutboundError::Connect => ReachProblem::Refused.into(),
            OutboundError::Tls => ReachProblem::Tls.into(),
            // The HTTP client also reports a truncated body as one that cannot be decoded.
            OutboundError::Interrupted | OutboundError::BadResponse => {
                ReachProblem::Interrupted.into()
            }
            OutboundError::RefusedAddress
            | OutboundError::BadUrl(_)
            | OutboundError::LeaseExpired
            | OutboundError::Other(_) => Self {
                problem: ReachProblem::Other,
                detail: Some(error.to_string()),
            },
        }
    }
}
