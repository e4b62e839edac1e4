//! A logged-in connection to an IMAP server (RFC 9051, RFC 3501), and its commands. The mailbox is opened with EXAMINE,
//! so it is never changed.

mod commands;

use super::connection::Connection;
use super::error::ImapError;
use imap_proto::{AttributeValue, Capability, MailboxDatum, Response, Status};
use std::time::Duration;

/// Maximum size of a response without emails, in bytes.
pub(super) const SMALL: usize = 64 * 1024;
/// Maximum size of a list of UIDs, in bytes: about 90,000 UIDs.
const UIDS: usize = 1024 * 1024;
/// The maximum number of responses to one command. Each response takes more memory than its bytes.
const MAX_RESPONSES: usize = 10_000;
const TOO_MUCH: &str = "The mail server sent more than was requested.";

/// The opened mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mailbox {
    /// The UIDVALIDITY. It changes when UIDs become invalid.
    pub(super) validity: u32,
    /// The UID of the next email, or `None` if the server does not report it.
    pub(super) next: Option<u32>,
}

/// The result of FETCH for one email.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    pub(super) uid: u32,
    pub(super) size: u32,
    pub(super) bytes: Vec<u8>,
}

/// The final response to a command.
pub(super) struct Done {
    pub(super) status: Status,
    /// The server's text. It may begin with a response code.
    pub(super) words: String,
    pub(super) responses: Vec<Response<'static>>,
}

pub(super) struct Session {
    pub(super) connection: Connection,
    capabilities: Vec<String>,
    commands: u32,
    /// The tag of the running IDLE command.
    idle: Option<String>,
    pub(super) mailbox: Mailbox,
    /// Whether emails may have arrived since the last search.
    pub(super) has_news: bool,
}

impl Session {
    pub(super) const fn new(connection: Connection) -> Self {
        Self {
            connection,
            capabilities: Vec::new(),
            commands: 0,
            idle: None,
            mailbox: Mailbox {
                validity: 0,
                next: None,
            },
            has_news: true,
        }
    }

    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|it| it == capability)
    }

    pub(super) async fn read_capabilities(&mut self) -> Result<(), ImapError> {
        let done = self.command("CAPABILITY", SMALL).await?;
        let mut all = Vec::new();
        for response in done.responses {
            if let Response::Capabilities(list) = response {
                all.extend(list.into_iter().map(|one| match one {
                    Capability::Imap4rev1 => "IMAP4REV1".to_owned(),
                    Capability::Auth(name) => format!("AUTH={}", name.to_ascii_uppercase()),
                    Capability::Atom(name) => name.to_ascii_uppercase(),
                }));
            }
        }
        self.capabilities = all;
        if self.can("IMAP4REV1") || self.can("IMAP4REV2") {
            return Ok(());
        }
        Err(ImapError::not_imap())
    }

    /// Returns the UIDs of a set, ascending.
    pub(super) async fn search(&mut self, set: &str) -> Result<Vec<u32>, ImapError> {
        let done = self.command(&format!("UID SEARCH UID {set}"), UIDS).await?;
        let done = done.expect_ok()?;
        let mut uids = Vec::new();
        for response in done.responses {
            if let Response::MailboxData(MailboxDatum::Search(found)) = response {
                uids.extend(found);
            }
        }
        uids.sort_unstable();
        uids.dedup();
        Ok(uids)
    }

    /// Reads at most `max` bytes of a part of an email without marking the email as read. Returns `None` if the email
    /// does not exist. `section` is a name such as `HEADER`.
    pub(super) async fn fetch(
        &mut self,
        uid: u32,
        section: &str,
        max: usize,
    ) -> Result<Option<Fetched>, ImapError> {
        let line = format!("UID FETCH {uid} (UID RFC822.SIZE BODY.PEEK[{section}]<0.{max}>)");
        let done = self.command(&line, max.saturating_add(1024)).await?;
        let done = done.expect_ok()?;
        for response in done.responses {
            let Response::Fetch(_, attributes) = response else {
                continue;
            };
            let mut mail = Fetched::default();
            let mut has_bytes = false;
            for attribute in attributes {
                match attribute {
                    AttributeValue::Uid(uid) => mail.uid = uid,
                    AttributeValue::Rfc822Size(size) => mail.size = size,
                    AttributeValue::BodySection {
                        data: Some(data), ..
                    } => {
                        mail.bytes = data.into_owned();
                        has_bytes = true;
                    }
                    _ => {}
                }
            }
            // The server may report changed flags at any time, so responses without bytes are
            // skipped.
            if has_bytes && mail.uid == uid {
                return Ok(Some(mail));
            }
        }
        Ok(None)
    }

    /// Checks for new emails on servers without IDLE.
    pub(super) async fn poll(&mut self) -> Result<(), ImapError> {
        self.command("NOOP", SMALL).await?.expect_ok()?;
        Ok(())
    }

    /// Returns whether the server currently reports new emails.
    pub(super) const fn is_idle(&self) -> bool {
        self.idle.is_some()
    }

    /// Starts IDLE, so that the server reports new emails (RFC 2177).
    pub(super) async fn begin_idle(&mut self) -> Result<(), ImapError> {
        let tag = self.begin("IDLE").await?;
        if self.continued(&tag).await?.is_some() {
            return Err(ImapError::later("The mail server refused IDLE."));
        }
        self.idle = Some(tag);
        Ok(())
    }

    /// Waits until the server reports something, but no longer than `time`.
    pub(super) async fn idle(&mut self, time: Duration) -> Result<bool, ImapError> {
        if !self.connection.has_more() && !self.connection.wait(time).await? {
            return Ok(false);
        }
        let bytes = self.connection.read(SMALL).await?;
        self.note(&bytes)?;
        Ok(true)
    }

    pub(super) async fn end_idle(&mut self) -> Result<(), ImapError> {
        if let Some(tag) = self.idle.take() {
            self.connection.write("DONE").await?;
            self.finish(&tag, SMALL).await?.expect_ok()?;
        }
        Ok(())
    }

    /// Logs out. The connection ends even if the logout fails.
    pub(super) async fn log_out(mut self) {
        let said = self.begin("LOGOUT").await;
        drop(said);
    }
}

impl Done {
    fn expect_ok(self) -> Result<Self, ImapError> {
        if self.status == Status::Ok {
            return Ok(self);
        }
        Err(ImapError::later("The mail server refused a command."))
    }
}
