//! Deletion of expired rows, and writes of last uses.

use crate::error::AuthError;
use crate::live_credential::Live;
use crate::state::Auth;
use gatehouse_domain::Timestamp;
use gatehouse_store::{Conn, Duty};
use std::time::Duration;

/// The lease of the node that deletes expired credentials. If this node is gone, another node takes over after this
/// time.
const SWEEP_LEASE: Duration = Duration::from_mins(15);

/// The number of last uses that are written in one transaction.
const FLUSHED_AT_ONCE: usize = 500;

impl Auth {
    /// Returns the duty of [`Auth::sweep_rows_once`].
    #[doc(hidden)]
    pub const fn sweep_duty() -> Duty {
        Duty::new("credentials.sweep", SWEEP_LEASE)
    }

    /// Deletes expired sessions, challenges and shares of the vault's key, on one of several nodes. Returns whether
    /// this node did. [`Auth::background`] calls it every five minutes.
    #[doc(hidden)]
    pub async fn sweep_rows_once(&self, duty: &Duty, node: &str) -> Result<bool, AuthError> {
        let inner = &self.0;
        let is_ours = duty.claim(&inner.store, &inner.clock, node).await?;
        if is_ours {
            self.sweep_rows().await?;
        }
        Ok(is_ours)
    }

    async fn sweep_rows(&self) -> Result<(), AuthError> {
        let inner = &self.0;
        let now = inner.sweep_clock.now(&inner.store, &*inner.clock).await?;
        let swept = inner.store.write(move |conn| {
            Box::pin(async move {
                conn.delete_expired_auth_sessions(now).await?;
                conn.delete_expired_challenges(now).await?;
                Ok::<_, AuthError>(())
            })
        });
        swept.await?;
        Ok(inner.secrets.sweep_shares().await?)
    }

    /// Writes when credentials and stored secrets were last used. Each is written at most once per minute, unless
    /// `all` is true.
    pub(crate) async fn flush_uses(&self, all: bool) {
        let now = self.0.now();
        let sessions = self.0.sessions.due(now, all);
        for group in sessions.chunks(FLUSHED_AT_ONCE) {
            let rows: Vec<_> = group.iter().map(|(s, at)| (s.id().clone(), *at)).collect();
            let written = self.0.store.write(move |conn: &mut Conn| {
                Box::pin(async move {
                    for (id, at) in &rows {
                        conn.update_auth_session_seen(id, *at).await?;
                    }
                    Ok::<_, AuthError>(())
                })
            });
            note_written(group, written.await);
        }
        let devices = self.0.devices.due(now, all);
        for group in devices.chunks(FLUSHED_AT_ONCE) {
            let rows: Vec<_> = group.iter().map(|(d, at)| (d.id().clone(), *at)).collect();
            let written = self.0.store.write(move |conn: &mut Conn| {
                Box::pin(async move {
                    for (id, at) in &rows {
                        conn.update_device_seen(id, *at).await?;
                    }
                    Ok::<_, AuthError>(())
                })
            });
            note_written(group, written.await);
        }
        let keys = self.0.keys.due(now, all);
        for group in keys.chunks(FLUSHED_AT_ONCE) {
            let rows: Vec<_> = group.iter().map(|(k, at)| (k.id().clone(), *at)).collect();
            let written = self.0.store.write(move |conn: &mut Conn| {
                Box::pin(async move {
                    for (id, at) in &rows {
                        conn.update_api_key_used(id, *at).await?;
                    }
                    Ok::<_, AuthError>(())
                })
            });
            note_written(group, written.await);
        }
        if let Err(error) = self.0.secrets.write_uses(all).await {
            tracing::warn!(%error, "the last uses of secrets were not written");
        }
    }
}

fn note_written<T: Live>(group: &[(std::sync::Arc<T>, Timestamp)], outcome: Result<(), AuthError>) {
    match outcome {
        Ok(()) => group.iter().for_each(|(record, at)| record.written(*at)),
        Err(error) => tracing::warn!(%error, "the times of last use were not written"),
    }
}
