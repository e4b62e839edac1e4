//! Reads new emails: first the headers, then the content of emails whose sender the owner's server has authenticated.

use super::content::{self, Content, MAX_READ};
use super::error::ImapError;
use super::header::{Header, is_one_of};
use super::replay;
use super::reply::{self, Reply};
use super::results;
use super::session::{Fetched, Session};
use super::settings::Settings;
use crate::receive::{ReceivedFile, ReceivedMessage};
use crate::receivers::{Source, display_name};
use mail_parser::MessageParser;
use std::time::Duration;

/// The time after which a check stops reading further emails and stores the emails it has, in
/// milliseconds.
const BATCH_MS: u64 = 45_000;
/// The time limit for reading one email.
const LONGEST: Duration = Duration::from_secs(24);
/// The maximum length of a header, in bytes. An email with a longer header is not read.
const MAX_HEADER: usize = 64 * 1024;
/// Addresses that belong to no person.
const NOBODY: [&str; 5] = [
    "mailer-daemon",
    "postmaster",
    "noreply",
    "no-reply",
    "donotreply",
];

/// Reads new emails.
pub(super) struct Reading<'a> {
    pub(super) source: Source<'a>,
    pub(super) settings: &'a Settings<'a>,
    /// The prefix of the IDs of files.
    pub(super) place: String,
    pub(super) begun: u64,
}

/// The outcome of reading new emails.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The last email that was examined.
    pub(super) last: Option<u32>,
    /// The messages of people.
    pub(super) messages: Vec<ReceivedMessage>,
    /// The email that could not be fetched, and the error. The session cannot be used after that.
    pub(super) failed: Option<(u32, ImapError)>,
}

/// An email that may be answered.
struct Answerable {
    header: Header,
    sender: String,
    /// An ID that is the same each time this email arrives.
    id: String,
}

impl Reading<'_> {
    /// Reads emails one by one. Stops at the first email that cannot be fetched.
    pub(super) async fn read(&self, session: &mut Session, uids: &[u32]) -> Looked {
        let mut looked = Looked::default();
        for &uid in uids {
            let now = self.source.inner.clock.monotonic_ms();
            if looked.last.is_some() && now.saturating_sub(self.begun) >= BATCH_MS {
                session.has_news = true;
                break;
            }
            let reading = tokio::time::timeout(LONGEST, self.read_one(session, uid)).await;
            match reading.unwrap_or_else(|_| Err(ImapError::silent())) {
                Ok(message) => {
                    looked.last = Some(uid);
                    looked.messages.extend(message);
                }
                Err(error) => {
                    looked.failed = Some((uid, error));
                    break;
                }
            }
        }
        looked
    }

    /// Returns the message of an email. Returns `None` if the email is not answered or has been deleted.
    async fn read_one(
        &self,
        session: &mut Session,
        uid: u32,
    ) -> Result<Option<ReceivedMessage>, ImapError> {
        let Some(mail) = session.fetch(uid, "HEADER", MAX_HEADER).await? else {
            return Ok(None);
        };
        match self.answerable(&mail) {
            Ok(answerable) => self.message(session, mail, answerable).await,
            Err(why) => {
                let account = &self.source.account.id;
                tracing::info!(account, uid, why, "an email is ignored");
                Ok(None)
            }
        }
    }

    /// Reads the header of an email that may be answered. The error says why the email may not be
    /// answered.
    fn answerable(&self, mail: &Fetched) -> Result<Answerable, &'static str> {
        let header = Header::read(&mail.bytes).ok_or("its header is not valid or too long")?;
        let sender = header
            .sender()
            .ok_or("it does not have exactly one sender with one address")?;
        let (local, domain) = sender.split_once('@').unwrap_or_default();
        if !results::is_authenticated(&header, self.settings.authserv_id, domain) {
            return Err("its sender is not authenticated");
        }
        let own = &self.settings.addresses;
        if is_one_of(&sender, own) {
            return Err("it is from this account");
        }
        if NOBODY.contains(&local) || header.is_automatic() {
            return Err("it is automatic");
        }
        let id = replay::identify(&header, &sender, own, self.source.inner.clock.now())?;
        Ok(Answerable { header, sender, id })
    }

    async fn message(
        &self,
        session: &mut Session,
        mail: Fetched,
        answerable: Answerable,
    ) -> Result<Option<ReceivedMessage>, ImapError> {
        let Answerable { header, sender, id } = answerable;
        let file_id = format!("{}-{}", self.place, mail.uid);
        let refused = content::check_size(mail.size).err();
        let whole = match refused {
            Some(_) => Vec::new(),
            None => match session.fetch(mail.uid, "", MAX_READ).await? {
                Some(whole) => whole.bytes,
                None => return Ok(None),
            },
        };
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Read::of(&mail, &header, &whole);
            read.content = refused.unwrap_or(read.content);
            read
        });
        // An email that makes the parser panic must not stop the receiver.
        let read = reading.await.unwrap_or_else(|_| Read::unreadable());
        let content = read.content;
        Ok(Some(ReceivedMessage {
            files: (0..)
                .zip(content.files)
                .map(|(number, name): (u32, String)| ReceivedFile {
                    id: format!("{file_id}-{number}"),
                    name,
                    is_voice: false,
                })
                .collect(),
            message_id: id,
            name: display_name(&read.name, &sender),
            chat: sender.clone(),
            person: sender,
            thread: read.reply.encode(),
            is_own: content.is_own,
            text: content.text,
            answer: content.answer,
            ..ReceivedMessage::default()
        }))
    }
}

/// The parts of an email that are used.
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
