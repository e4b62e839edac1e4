//! The credentials that a credential has created, directly or indirectly.

use super::lasting_maker_of;
use crate::error::AuthError;
use crate::state::{AuthInner, Settled};
use gatehouse_domain::Timestamp;
use gatehouse_store::{Conn, CreatedCredentialRow};
use std::collections::{BTreeSet, HashSet};

/// The credentials that ended together with their creator.
#[derive(Default)]
pub(crate) struct Descendants {
    rows: Vec<CreatedCredentialRow>,
    /// The authentication state without the passkeys that ended.
    settled: Option<Settled>,
}

impl Descendants {
    /// Deletes everything that this credential created, directly or indirectly. Runs in the transaction that ends
    /// the credential. Refuses to remove the last passkey if there is no password.
    pub(crate) async fn delete(
        conn: &mut Conn,
        maker: &str,
        now: Timestamp,
    ) -> Result<Self, AuthError> {
        let rows = conn.list_created_by(maker).await?;
        for row in &rows {
            match row {
                CreatedCredentialRow::ApiKey(id) => conn.delete_api_key(id).await?,
                CreatedCredentialRow::Device(id) => conn.delete_device(id).await?,
                CreatedCredentialRow::Passkey(id) => conn.delete_passkey(id).await?,
                CreatedCredentialRow::Session(id) => conn.delete_auth_session(id).await?,
            };
        }
        let changed: BTreeSet<_> = rows.iter().map(change_of).collect();
        for subject in changed {
            conn.insert_change(subject, now).await?;
        }
        let mut settled = None;
        if rows
            .iter()
            .any(|row| matches!(row, CreatedCredentialRow::Passkey(_)))
        {
            let state = Settled::read(conn).await?;
            if !state.facts.setup_complete {
                return Err(AuthError::Conflict(
                    "A passkey that this credential registered is the only way to log in. \
                     Set a password or register another passkey first.",
                ));
            }
            settled = Some(state);
        }
        Ok(Self { rows, settled })
    }

    /// Keeps everything that this credential created. Runs in the transaction that ends the credential. Its own
    /// creator becomes the creator of the kept credentials, so that they end with it. If that creator is a session,
    /// kept passkeys and sessions get the lasting creator of the session, as if they had been created in it.
    pub(crate) async fn keep(
        conn: &mut Conn,
        maker: &str,
        made_by: Option<&str>,
    ) -> Result<Self, AuthError> {
        let lasting = match made_by {
            Some(name) => lasting_maker_of(conn, name).await?,
            None => None,
        };
        conn.update_made_by(maker, made_by, lasting.as_deref())
            .await?;
        Ok(Self::default())
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.rows.extend(more.rows);
        self.settled = more.settled.or(self.settled.take());
    }

    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns how many of the credentials are sessions.
    pub(crate) fn count_sessions(&self) -> u64 {
        let is_session =
            |row: &&CreatedCredentialRow| matches!(row, CreatedCredentialRow::Session(_));
        let count = self.rows.iter().filter(is_session).count();
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Ends the credentials in memory, after the commit.
    pub(crate) fn end_in(&self, inner: &AuthInner) {
        let (mut keys, mut devices, mut sessions) =
            <(HashSet<_>, HashSet<_>, HashSet<_>)>::default();
        for row in &self.rows {
            match row {
                CreatedCredentialRow::ApiKey(id) => keys.insert(id.as_str()),
                CreatedCredentialRow::Device(id) => devices.insert(id.as_str()),
                CreatedCredentialRow::Session(id) => sessions.insert(id.as_str()),
                // Passkeys are not kept in memory.
                CreatedCredentialRow::Passkey(_) => false,
            };
        }
        if !keys.is_empty() {
            inner.keys.end_where(|key| keys.contains(key.id().as_str()));
            inner.announce(&["api_keys"]);
        }
        if !devices.is_empty() {
            inner
                .devices
                .end_where(|device| devices.contains(device.id().as_str()));
            inner.announce(&["devices"]);
        }
        if !sessions.is_empty() {
            inner
                .sessions
                .end_where(|session| sessions.contains(session.id().as_str()));
            inner.announce(&["sessions"]);
        }
        if let Some(settled) = &self.settled {
            inner.settle(settled);
            inner.announce(&["passkeys"]);
        }
    }
}

/// Returns the subject in the change feed. Other nodes reload its rows.
const fn change_of(row: &CreatedCredentialRow) -> &'static str {
    match row {
        CreatedCredentialRow::ApiKey(_) => "auth_api_keys",
        CreatedCredentialRow::Device(_) => "auth_devices",
        CreatedCredentialRow::Passkey(_) => "auth_state",
        CreatedCredentialRow::Session(_) => "auth_sessions",
    }
}
