//! Changes by other nodes on the same database. On PostgreSQL, the table `changes` is read after each notification,
//! and at intervals in case a notification was lost. While reading fails, credentials in memory are not trusted,
//! and every lookup reads the database.

pub(crate) mod feed;
mod reread;

use crate::error::AuthError;
use crate::state::Auth;
use gatehouse_store::{ChangeRow, SCHEMA_CHANGED};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the feed is read while no socket is open on this node. With this interval, the last read is usually
/// less than [`feed::BELIEVED_MS`] ago.
const POLL: Duration = Duration::from_millis(1_500);
/// How often the feed is read while sockets are open. A revocation must close sockets within a second, even if it
/// is not yet detected that the connection for notifications is lost. The remaining quarter of a second is for the
/// read and for closing the sockets.
const POLL_FOR_SOCKETS: Duration = Duration::from_millis(750);

/// Subjects that this crate handles, including subjects for which it notifies other crates.
const OWN: [&str; 7] = [
    "auth_sessions",
    "auth_api_keys",
    "auth_devices",
    "auth_state",
    "settings",
    "vault",
    SCHEMA_CHANGED,
];

/// The subjects that changed.
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each subject, in any combination"
)]
#[derive(Debug, Default, PartialEq, Eq)]
struct ChangedSubjects {
    sessions: bool,
    keys: bool,
    devices: bool,
    state: bool,
    settings: bool,
    vault: bool,
    schema: bool,
}

impl ChangedSubjects {
    const EVERYTHING: Self = Self {
        sessions: true,
        keys: true,
        devices: true,
        state: true,
        settings: true,
        vault: true,
        schema: true,
    };

    /// Returns the changed subjects. A gap in the sequence means that rows were swept before this node read them,
    /// so anything may have changed. A node whose clock is ahead can sweep rows in the middle too early.
    fn of(rows: &[ChangeRow], after: i64) -> Self {
        let last = rows.iter().try_fold(after, |before, row| {
            (row.seq == before.saturating_add(1)).then_some(row.seq)
        });
        if last.is_none() {
            return Self::EVERYTHING;
        }
        let has = |subject: &str| rows.iter().any(|row| row.subject == subject);
        Self {
            sessions: has("auth_sessions"),
            keys: has("auth_api_keys"),
            devices: has("auth_devices"),
            state: has("auth_state") || has("settings"),
            settings: has("settings"),
            vault: has("vault"),
            schema: has(SCHEMA_CHANGED),
        }
    }
}

/// Time from the start of one read of the feed to the start of the next, if no notification arrives earlier.
pub(crate) const fn poll_interval(sockets: usize) -> Duration {
    if sockets == 0 { POLL } else { POLL_FOR_SOCKETS }
}

impl Auth {
    /// Reads and applies other nodes' changes once. [`Auth::background`] does this continuously.
    pub async fn look_at_feed(&self) -> Result<(), AuthError> {
        let feed = &self.0.feed;
        let began_ms = self.0.clock.monotonic_ms();
        let after = feed.last_change.load(Ordering::Acquire);
        let new = self
            .0
            .store
            .read(move |conn| {
                Box::pin(async move { Ok::<_, AuthError>(conn.list_new_changes(after).await?) })
            })
            .await?;
        let is_other = feed.is_of_another_database(&new);
        let news = if is_other {
            ChangedSubjects::EVERYTHING
        } else {
            ChangedSubjects::of(&new.rows, after)
        };
        // Checked first, because the other reads may fail on a schema that is too new.
        if news.schema || !feed.schema_is_checked.load(Ordering::Acquire) {
            feed.schema_is_checked.store(false, Ordering::Release);
            self.0.store.check_schema().await?;
            feed.schema_is_checked.store(true, Ordering::Release);
        }
        if is_other || !new.rows.is_empty() {
            self.take_in(&news).await?;
            self.pass_on(&new.rows, &news);
        }
        // Stored only now: if a read above fails, the next read of the feed must detect the same change.
        if is_other {
            tracing::warn!(
                "the database server was restarted after a crash or replaced by a replica; \
                 everything in memory was read again"
            );
        }
        feed.has_read(&new);
        feed.last_look_ms.store(began_ms, Ordering::Release);
        Ok(())
    }

    async fn take_in(&self, news: &ChangedSubjects) -> Result<(), AuthError> {
        {
            let _turn = self.0.changing.lock().await;
            if news.state {
                self.reread_state().await?;
            }
            if news.sessions {
                self.reread_sessions().await?;
            }
            if news.keys {
                self.reread_keys().await?;
            }
            if news.devices {
                self.reread_devices().await?;
            }
        }
        if news.vault {
            self.0.secrets.refresh().await?;
        }
        if news.settings {
            self.0
                .settings_changed
                .send_modify(|count| *count = count.wrapping_add(1));
        }
        let mut what = Vec::new();
        for (is_news, name) in [
            (news.state, "setup"),
            (news.sessions, "sessions"),
            (news.keys, "api_keys"),
            (news.devices, "devices"),
        ] {
            if is_news {
                what.push(name);
            }
        }
        self.0.announce(&what);
        Ok(())
    }

    /// Notifies other crates of changes to their subjects.
    fn pass_on(&self, rows: &[ChangeRow], news: &ChangedSubjects) {
        // Having no receiver is not an error.
        if *news == ChangedSubjects::EVERYTHING {
            drop(self.0.foreign.send(Arc::from("*")));
            return;
        }
        let mut reported: Vec<&str> = Vec::new();
        for ChangeRow { subject, .. } in rows {
            if !OWN.contains(&subject.as_str()) && !reported.contains(&subject.as_str()) {
                reported.push(subject);
                drop(self.0.foreign.send(Arc::from(subject.as_str())));
            }
        }
    }

    /// Returns whether a credential that is not in memory certainly does not exist.
    pub(crate) fn misses_are_final(&self, complete: bool) -> bool {
        complete && !self.0.feed.is_shared()
    }

    /// Time since this node read the changes of other nodes; zero on a database of a single node.
    pub fn feed_lag(&self) -> Duration {
        Duration::from_millis(self.0.feed.lag_ms(self.0.clock.monotonic_ms()))
    }

    /// Returns whether memory reflects the credentials that other nodes have ended. Always true on a database with
    /// a single node.
    pub fn memory_is_fresh(&self) -> bool {
        self.0.feed.is_fresh(|| self.0.clock.monotonic_ms())
    }
}

#[cfg(test)]
mod tests;
