//! Looks for new emails.

use super::error::ImapError;
use super::reading::Reading;
use super::settings::Settings;
use super::{
    AT_MOST, BATCH, Failing, MAX_FAILURES, SHOWN_MS, SKIPPED, Watching, at, returns, wait,
};
use crate::receive::Received;
use crate::receivers::Source;

impl Watching {
    pub(super) async fn look(
        &mut self,
        source: Source<'_>,
        settings: &Settings<'_>,
        position: Option<&str>,
    ) -> Result<Received, ImapError> {
        let begun = source.inner.clock.monotonic_ms();
        let session = match &mut self.session {
            Some(session) => session,
            none => {
                self.opened_at = begun;
                none.insert(settings.open(source).await?)
            }
        };
        let place = format!("{} {}", settings.place(), session.mailbox.validity);
        let handled = position
            .and_then(|position| position.strip_prefix(&place))
            .and_then(|uid| uid.trim_start().parse::<u32>().ok());
        let Some(handled) = handled else {
            if position.is_some_and(|position| position.starts_with(&settings.place())) {
                let account = &source.account.id;
                tracing::warn!(
                    account,
                    "the mail server has renumbered the mailbox; mail that arrived before is not answered"
                );
            }
            // Emails that arrived before the first check are not answered.
            let last = match session.mailbox.next {
                Some(next) => next.saturating_sub(1),
                None => session.search("*").await?.pop().unwrap_or(0),
            };
            return Ok(Received {
                is_new_position: true,
                ..at(Some(format!("{place} {last}")))
            });
        };
        if !session.has_news {
            let clock = &*source.inner.clock;
            let now = || clock.monotonic_ms();
            let account = &source.account.id;
            if !wait(session, &mut self.idle_since, &now, account).await? {
                return Ok(at(position.map(str::to_owned)));
            }
        }
        session.end_idle().await?;
        session.has_news = false;
        let mut new = session
            .search(&format!("{}:*", handled.saturating_add(1)))
            .await?;
        // If a set begins after the last email, the server returns the last email (RFC 9051, section 9, seq-range).
        new.retain(|uid| *uid > handled);
        session.has_news |= new.len() > BATCH;
        new.truncate(BATCH);
        let reading = Reading {
            source,
            settings,
            place: place.replace(' ', "-"),
            begun,
        };
        let looked = reading.read(session, &new).await;
        let mut last = looked.last;
        let mut is_skipped = false;
        if let Some((uid, error)) = looked.failed {
            self.session = None;
            let later = new.iter().copied().find(|other| *other > uid);
            let other = later.or(last).unwrap_or(handled);
            is_skipped = self.fails_often(source, &place, uid, &error)
                && returns(source, settings, other).await;
            if is_skipped {
                self.skip(source, uid);
                last = Some(uid);
            } else if last.is_none() {
                return Err(error);
            }
        }
        Ok(Received {
            position: Some(format!("{place} {}", last.unwrap_or(handled))),
            is_new_position: is_skipped,
            messages: looked.messages,
            at_most: AT_MOST,
            ..Received::default()
        })
    }

    /// Counts a failure to fetch an email. Returns whether the email has reached the maximum number
    /// of failures.
    fn fails_often(
        &mut self,
        source: Source<'_>,
        place: &str,
        uid: u32,
        error: &ImapError,
    ) -> bool {
        let known = self.failing.take();
        let known = known.filter(|known| known.uid == uid && known.place == place);
        let times = known.map_or(1, |known| known.times.saturating_add(1));
        let account = &source.account.id;
        tracing::info!(account, uid, times, ?error, "an email could not be fetched");
        self.failing = Some(Failing {
            place: place.to_owned(),
            uid,
            times,
        });
        times >= MAX_FAILURES
    }

    pub(super) fn skip(&mut self, source: Source<'_>, uid: u32) {
        let account = &source.account.id;
        tracing::warn!(
            account,
            uid,
            "an email could not be fetched and is skipped, because the server returns other emails"
        );
        self.failing = None;
        self.skipped_at = Some(source.inner.clock.monotonic_ms());
    }

    /// Returns the problem that the account shows while it receives emails.
    pub(super) fn warning(&self, now: u64) -> Option<&'static str> {
        let age = now.saturating_sub(self.skipped_at?);
        (age < SHOWN_MS).then_some(SKIPPED)
    }
}
