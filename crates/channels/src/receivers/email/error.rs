//! Why a mail server could not be asked.

use crate::error::Failure;
use crate::receive::ReceiveError;
use crate::vendor::of_outbound;
use gatehouse_outbound::OutboundError;

const NOUN: &str = "the mail server";

/// Why the server could not be asked.
#[derive(Debug)]
pub(super) enum ImapError {
    /// The server ended the connection.
    Ended,
    Later(String),
    /// Another attempt fails until the account is changed.
    Stopped(String),
}

impl ImapError {
    pub(super) fn later(why: &str) -> Self {
        Self::Later(why.to_owned())
    }

    pub(super) fn stopped(why: &str) -> Self {
        Self::Stopped(why.to_owned())
    }

    pub(super) fn silent() -> Self {
        Self::later("The mail server did not respond in time.")
    }

    pub(super) fn of_outbound(error: OutboundError) -> Self {
        if error == OutboundError::Tls {
            return Self::later(
                "The mail server's certificate is not trusted, or its port does not use TLS.",
            );
        }
        match of_outbound(NOUN, error) {
            Failure::Unreachable(why) => Self::Later(why),
            Failure::Refused(why) => Self::Stopped(why),
            _ => Self::later("The mail server could not be reached."),
        }
    }
}

impl From<ImapError> for ReceiveError {
    fn from(error: ImapError) -> Self {
        let later = |why| Self::Later { after: None, why };
        match error {
            ImapError::Ended => later("The mail server ended the connection.".to_owned()),
            ImapError::Later(why) => later(why),
            ImapError::Stopped(why) => Self::Stopped { why },
        }
    }
}

impl From<ImapError> for Failure {
    fn from(error: ImapError) -> Self {
        match error {
            ImapError::Ended => Self::unreachable("The mail server ended the connection."),
            ImapError::Later(why) => Self::Unreachable(why),
            ImapError::Stopped(why) => Self::Refused(why),
        }
    }
}
