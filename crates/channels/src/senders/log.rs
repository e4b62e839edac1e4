//! `log`: writes the message to the log. Built in.

use super::{About, Part, Sender};
use crate::error::Failure;
use futures_util::future::BoxFuture;

#[derive(Debug)]
pub(crate) struct Log;

static ABOUT: About = About {
    kind: "log",
    label: "Log",
    description: "Writes each message to the gateway’s log.",
    noun: "the log",
    fields: &[],
    extra: &[],
    takes_json: false,
    built_in: true,
    calls_any_address: false,
};

impl Sender for Log {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        // The text is quoted, so a line break in it cannot start a new log line.
        tracing::info!(
            channel = part.account.id,
            source = ?part.message.source,
            at = %part.message.at,
            text = ?part.text,
            "a message for the log"
        );
        Box::pin(std::future::ready(Ok(())))
    }
}
