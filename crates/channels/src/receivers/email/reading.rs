//! Reads new mails: first their headers, then those of people whom the owner's server has authenticated.

use super::content::{self, Content, MAX_READ};
use super::error::ImapError;
use super::header::Header;
use super::reply::{self, Reply};
use super::results;
use super::session::{Fetched, Session};
use super::settings::Settings;
use crate::receive::{ReceivedFile, ReceivedMessage};
use crate::receivers::{Source, display_name};
use mail_parser::MessageParser;

/// How long after the beginning of a look mails are read before they are stored.
const BATCH_MS: u64 = 45_000;
/// A mail with a longer header is not read, in bytes.
const MAX_HEADER: usize = 64 * 1024;
/// Addresses that no person reads.
const NOBODY: [&str; 5] = [
    "mailer-daemon",
    "postmaster",
    "noreply",
    "no-reply",
    "donotreply",
];

/// Reads new mails.
pub(super) struct Reading<'a> {
    pub(super) source: Source<'a>,
    pub(super) settings: &'a Settings<'a>,
    /// The beginning of the IDs of messages.
    pub(super) place: String,
    pub(super) begun: u64,
}

impl Reading<'_> {
    /// Returns the last mail that was looked at, and the messages of people.
    pub(super) async fn read(
        &self,
        session: &mut Session,
        uids: &[u32],
    ) -> Result<(Option<u32>, Vec<ReceivedMessage>), ImapError> {
        let (mut last, mut messages) = (None, Vec::new());
        if uids.is_empty() {
            return Ok((last, messages));
        }
        let mut mails = session.fetch(uids, "HEADER", MAX_HEADER).await?;
        for &uid in uids {
            let now = self.source.inner.clock.monotonic_ms();
            if last.is_some() && now.saturating_sub(self.begun) >= BATCH_MS {
                session.has_news = true;
                break;
            }
            last = Some(uid);
            // A missing mail was deleted in between.
            let Some(at) = mails.iter().position(|mail| mail.uid == uid) else {
                continue;
            };
            let mail = mails.swap_remove(at);
            match self.sender(&mail) {
                Ok((header, sender)) => {
                    messages.push(self.message(session, mail, header, sender).await?);
                }
                Err(why) => {
                    let account = &self.source.account.id;
                    tracing::info!(account, uid, why, "a mail is ignored");
                }
            }
        }
        Ok((last, messages))
    }

    /// The header and the sender of a mail that may be answered. The error says why it may not.
    fn sender(&self, mail: &Fetched) -> Result<(Header, String), &'static str> {
        let header = Header::read(&mail.bytes).ok_or("its header is not valid or too long")?;
        let sender = header
            .sender()
            .ok_or("it has not one sender with one address")?;
        let (local, domain) = sender.split_once('@').unwrap_or_default();
        if !results::is_authenticated(&header, self.settings.authserv_id, domain) {
            return Err("its sender is not authenticated");
        }
        let user = self.settings.user;
        if sender == self.settings.own || sender.eq_ignore_ascii_case(user) {
            return Err("it is from this account");
        }
        if NOBODY.contains(&local) || header.is_automatic() {
            return Err("it is automatic");
        }
        Ok((header, sender))
    }

    async fn message(
        &self,
        session: &mut Session,
        mail: Fetched,
        header: Header,
        sender: String,
    ) -> Result<ReceivedMessage, ImapError> {
        let message_id = format!("{}-{}", self.place, mail.uid);
        let refused = content::check_size(mail.size).err();
        let whole = match refused {
            Some(_) => Vec::new(),
            None => {
                session
                    .fetch(&[mail.uid], "", MAX_READ)
                    .await?
                    .pop()
                    .unwrap_or_default()
                    .bytes
            }
        };
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Read::of(&mail, &header, &whole);
            read.content = refused.unwrap_or(read.content);
            read
        });
        // A mail at which the parser panics must not end receiving.
        let read = reading.await.unwrap_or_else(|_| Read::unreadable());
        let content = read.content;
        Ok(ReceivedMessage {
            file: content.file.map(|name| ReceivedFile {
                id: message_id.clone(),
                name,
                is_voice: false,
            }),
            message_id,
            name: display_name(&read.name, &sender),
            chat: sender.clone(),
            person: sender,
            thread: read.reply.encode(),
            is_own: content.is_own,
            text: content.text,
            answer: content.answer,
            ..ReceivedMessage::default()
        })
    }
}

/// What is taken from a mail.
struct Read {
    /// The sender's name.
    name: String,
    content: Content,
    reply: Reply,
}

impl Read {
    fn of(mail: &Fetched, header: &Header, whole: &[u8]) -> Self {
        let parsed = MessageParser::default().parse_headers(&mail.bytes);
        let from = parsed.as_ref().and_then(|it| it.from());
        let name = from
            .and_then(|it| it.first())
            .and_then(|it| it.name.as_deref());
        let subject = reply::subject(&mail.bytes);
        let is_first = header.ids("in-reply-to").is_empty();
        Self {
            name: name.unwrap_or_default().to_owned(),
            content: content::read(whole, mail.size, &subject, is_first),
            reply: Reply::of(header, &mail.bytes),
        }
    }

    fn unreadable() -> Self {
        Self {
            name: String::new(),
            content: Content::unreadable(),
            reply: Reply {
                subject: "Re:".to_owned(),
                ..Reply::default()
            },
        }
    }
}
