//! `email`: emails of an IMAP mailbox, reported by IDLE (RFC 2177) or requested every half minute.
//!
//! An email is read only if the owner's mail server has authenticated the domain of its sender ([`results`]) and a
//! person wrote it. The position is the UID of the last examined email, together with the server, user, mailbox and
//! UIDVALIDITY for which that UID is valid.

mod connection;
mod content;
mod error;
mod files;
mod frame;
mod header;
mod html;
mod login;
mod look;
mod reading;
mod replay;
mod reply;
mod results;
mod session;
mod settings;
mod text;
mod tokens;

pub(crate) use self::reply::Reply;

use self::error::ImapError;
use self::session::Session;
use self::settings::Settings;
use super::{Inbox, PlaceKeys, Receiver, Receiving, Source};
use crate::error::Failure;
use crate::files::{FetchedFile, FileLimits};
use crate::receive::{ReceiveError, Received};
use futures_util::future::BoxFuture;
use std::time::Duration;

/// The time limit for one check for emails.
const WAIT: Duration = Duration::from_secs(30);
/// The time after which an IDLE command is renewed. Servers may end the command after 29 minutes. Networks drop idle
/// connections earlier.
const LONGEST_IDLE_MS: u64 = 10 * 60_000;
/// The minimum lifetime of a connection, in milliseconds. A connection that ends earlier is not
/// replaced immediately.
const SHORT_MS: u64 = 60_000;
/// The number of emails that are examined before the result is stored.
const BATCH: usize = 10;
/// The number of failed fetches after which an email is skipped, if the server returns another
/// email.
const MAX_FAILURES: u32 = 3;
/// The time limit for requesting another email. It fits into the time limit for receiving.
const PROBE: Duration = Duration::from_secs(5);
/// How long the account shows that an email was skipped, in milliseconds.
const SHOWN_MS: u64 = 24 * 3_600_000;
const SKIPPED: &str = "An email was skipped, because the mail server did not return it in three attempts. It is \
                       still in the mailbox. Later emails are received.";
/// The maximum number of answers to a person's emails per period. The limit ends a loop with a program that does not
/// mark its answers as automatic.
const AT_MOST: &[(Duration, i64)] = &[
    (Duration::from_hours(1), 20),
    (Duration::from_hours(24), 100),
];

#[derive(Debug)]
pub(crate) struct EmailReceiver;

pub(crate) static RECEIVER: EmailReceiver = EmailReceiver;

/// The connection of an account.
#[derive(Default)]
struct Watching {
    session: Option<Session>,
    opened_at: u64,
    /// When the current IDLE began.
    idle_since: u64,
    failing: Option<Failing>,
    /// When an email was skipped.
    skipped_at: Option<u64>,
}

/// An email that could not be fetched.
struct Failing {
    place: String,
    uid: u32,
    times: u32,
}

impl Receiving for Watching {
    fn receive<'a>(
        &'a mut self,
        source: Source<'a>,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>> {
        Box::pin(async move {
            let settings = Settings::of(&source)?;
            let looked = self.look(source, &settings, position).await;
            let now = source.inner.clock.monotonic_ms();
            match looked {
                Ok(received) => Ok(Received {
                    warning: self.warning(now),
                    ..received
                }),
                Err(error) => {
                    self.session = None;
                    let age = now.saturating_sub(self.opened_at);
                    if matches!(error, ImapError::Ended) && age >= SHORT_MS {
                        return Ok(Received {
                            warning: self.warning(now),
                            ..at(position.map(str::to_owned))
                        });
                    }
                    Err(error.into())
                }
            }
        })
    }
}

/// Returns an empty result with this position.
fn at(position: Option<String>) -> Received {
    Received {
        position,
        ..Received::default()
    }
}

/// Returns whether the server returns another email. If not, the problem is not limited to a single email.
async fn returns(source: Source<'_>, settings: &Settings<'_>, other: u32) -> bool {
    if other == 0 {
        return false;
    }
    let fetch = async {
        let mut session = settings.open(source).await?;
        session.fetch(other, "HEADER", 1).await?;
        session.log_out().await;
        Ok::<_, ImapError>(())
    };
    matches!(tokio::time::timeout(PROBE, fetch).await, Ok(Ok(())))
}

/// Waits for new emails, at most half a minute.
async fn wait(
    session: &mut Session,
    idle_since: &mut u64,
    now: &(dyn Fn() -> u64 + Sync),
    account: &str,
) -> Result<bool, ImapError> {
    if !session.can("IDLE") {
        tokio::time::sleep(WAIT).await;
        session.poll().await?;
        session.has_news = true;
        return Ok(true);
    }
    let end = tokio::time::Instant::now() + WAIT;
    loop {
        if session.is_idle() && now().saturating_sub(*idle_since) >= LONGEST_IDLE_MS {
            session.end_idle().await?;
            tracing::debug!(account, "IDLE is restarted");
        }
        if !session.is_idle() {
            session.begin_idle().await?;
            *idle_since = now();
        }
        if session.has_news {
            return Ok(true);
        }
        let left = end.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() || !session.idle(left).await? {
            return Ok(session.has_news);
        }
    }
}

impl Receiver for EmailReceiver {
    fn start(&self) -> Box<dyn Receiving> {
        Box::new(Watching::default())
    }

    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>> {
        let settings = Settings::of(source).ok()?;
        let host = source.field("imap_host")?;
        let place = [host, settings.user, settings.mailbox];
        Some(Inbox::of_mail(place, settings.addresses))
    }

    fn place_keys(&self) -> PlaceKeys {
        PlaceKeys {
            chat: "to",
            thread: Some("reply"),
        }
    }

    fn fetch_files<'a>(
        &'a self,
        source: Source<'a>,
        file_ids: &'a [&'a str],
        limits: FileLimits,
    ) -> BoxFuture<'a, Result<Vec<Result<FetchedFile, Failure>>, Failure>> {
        Box::pin(files::fetch(source, file_ids, limits))
    }
}
