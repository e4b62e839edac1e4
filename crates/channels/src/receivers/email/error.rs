//! Errors of requests to a mail server.

use crate::error::Failure;
use crate::receive::ReceiveError;
use crate::senders::email::{NO_ANSWER, NOT_REACHED};
use crate::vendor::of_outbound;
use gatehouse_outbound::OutboundError;

const NOUN: &str = "the mail server";
const ENDED: &str = "The mail server ended the connection.";

/// An error of a request to the server.
#[derive(Debug)]
pub(super) enum ImapError {
    /// The server ended the connection.
    Ended,
    Later(String),
    /// No attempt can succeed until the account is changed.
    Stopped(String),
}

impl ImapError {
    pub(super) fn later(why: &str) -> Self {
        Self::Later(why.to_owned())
    }

    pub(super) fn stopped(why: &str) -> Self {
        Self::Stopped(why.to_owned())
    }

    pub(super) fn not_imap() -> Self {
        Self::later("The server is not an IMAP server.")
    }

    pub(super) fn silent() -> Self {
        Self::later(NO_ANSWER)
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
            _ => Self::later(NOT_REACHED),
        }
    }
}

impl From<ImapError> for ReceiveError {
    fn from(error: ImapError) -> Self {
        let later = |why| Self::Later { after: None, why };
        match error {
            ImapError::Ended => later(ENDED.to_owned()),
            ImapError::Later(why) => later(why),
            ImapError::Stopped(why) => Self::Stopped { why },
        }
    }
}

impl From<ImapError> for Failure {
    fn from(error: ImapError) -> Self {
        match error {
            ImapError::Ended => Self::unreachable(ENDED),
            ImapError::Later(why) => Self::Unreachable(why),
            ImapError::Stopped(why) => Self::Refused(why),
        }
    }
}
