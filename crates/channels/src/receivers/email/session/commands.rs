//! Commands, and the responses that the server sends to them.

use super::{Done, MAX_RESPONSES, SMALL, Session, TOO_MUCH};
use crate::receivers::email::error::ImapError;
use crate::receivers::email::frame::{is_fetch, parse};
use imap_proto::{MailboxDatum, Response, Status};

impl Session {
    pub(in super::super) async fn begin(&mut self, line: &str) -> Result<String, ImapError> {
        self.commands = self.commands.wrapping_add(1);
        let tag = format!("g{}", self.commands);
        self.connection.write(&format!("{tag} {line}")).await?;
        Ok(tag)
    }

    pub(in super::super) async fn command(
        &mut self,
        line: &str,
        max: usize,
    ) -> Result<Done, ImapError> {
        let tag = self.begin(line).await?;
        self.finish(&tag, max).await
    }

    /// Waits until the server requests the rest of a command. If the command ends before, returns its end.
    pub(in super::super) async fn continued(
        &mut self,
        tag: &str,
    ) -> Result<Option<Done>, ImapError> {
        loop {
            let bytes = self.connection.read(SMALL).await?;
            match self.note(&bytes)? {
                Some(Response::Continue(_)) => return Ok(None),
                Some(Response::Done {
                    tag: of,
                    status,
                    outcome,
                }) if of.0 == tag => {
                    let words = outcome.information.unwrap_or_default().into_owned();
                    let responses = Vec::new();
                    return Ok(Some(Done {
                        status,
                        words,
                        responses,
                    }));
                }
                _ => {}
            }
        }
    }

    /// Reads until the command ends. The total size of all responses is limited to `max` bytes.
    pub(in super::super) async fn finish(
        &mut self,
        tag: &str,
        max: usize,
    ) -> Result<Done, ImapError> {
        let (mut left, mut responses) = (max, Vec::new());
        loop {
            let bytes = self.connection.read(left).await?;
            left = left
                .checked_sub(bytes.len())
                .filter(|_| responses.len() < MAX_RESPONSES)
                .ok_or_else(|| ImapError::later(TOO_MUCH))?;
            match self.note(&bytes)? {
                Some(Response::Done {
                    tag: of,
                    status,
                    outcome,
                }) if of.0 == tag => {
                    let words = outcome.information.unwrap_or_default().into_owned();
                    return Ok(Done {
                        status,
                        words,
                        responses,
                    });
                }
                Some(response) => responses.push(response),
                None => {}
            }
        }
    }

    /// Reads a response and records the mailbox state that it contains. Returns `None` for a response that can be
    /// ignored.
    pub(super) fn note(&mut self, bytes: &[u8]) -> Result<Option<Response<'static>>, ImapError> {
        let Some(response) = parse(bytes) else {
            if is_fetch(bytes) || !bytes.starts_with(b"* ") {
                return Err(ImapError::later(
                    "An answer of the mail server could not be read.",
                ));
            }
            return Ok(None);
        };
        match &response {
            Response::MailboxData(MailboxDatum::Exists(_)) => self.has_news = true,
            Response::Data {
                status: Status::Bye,
                ..
            } => return Err(ImapError::Ended),
            _ => {}
        }
        Ok(Some(response.into_owned()))
    }
}
