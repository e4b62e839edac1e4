//! Changes that are recorded: each has a row in the audit log, is reported to other nodes, and is announced on this
//! node.

use crate::error::AuthError;
use crate::state::{Auth, AuthInner, BoxFuture, transaction};
use gatehouse_domain::Actor;
use gatehouse_store::{AuditEntry, Conn};
use serde_json::Value;
use std::sync::Arc;

/// The subject of a change in the change feed, and its name for [`Auth::changes_events`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed {
    subject: &'static str,
    name: &'static str,
}

impl Changed {
    pub(crate) const API_KEYS: Self = Self::of("auth_api_keys", "api_keys");
    pub(crate) const AUTH_DISABLED: Self = Self::of("auth_state", "auth_disabled");
    pub(crate) const DEVICES: Self = Self::of("auth_devices", "devices");
    pub(crate) const PASSKEYS: Self = Self::of("auth_state", "passkeys");
    pub(crate) const PASSWORD: Self = Self::of("auth_state", "password");
    pub(crate) const SESSIONS: Self = Self::of("auth_sessions", "sessions");
    pub(crate) const SETUP: Self = Self::of("auth_state", "setup");

    const fn of(subject: &'static str, name: &'static str) -> Self {
        Self { subject, name }
    }
}

/// A change to record. The transaction determines the detail of its audit row.
#[derive(Debug)]
pub(crate) struct Recorded {
    kind: &'static str,
    actor: Actor,
    pub(crate) changed: &'static [Changed],
}

impl Recorded {
    /// Creates a change to record. `kind` is the kind of the audit row.
    pub(crate) fn new(kind: &'static str, actor: Actor, changed: &'static [Changed]) -> Self {
        Self {
            kind,
            actor,
            changed,
        }
    }

    /// Adds the audit row and the rows of the change feed to a transaction. `job` returns the detail of the audit
    /// row.
    pub(crate) fn job<T, J>(
        self,
        inner: &AuthInner,
        job: J,
    ) -> impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, AuthError>>
    + Send
    + 'static
    + use<T, J>
    where
        T: Send + 'static,
        J: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<(Value, T), AuthError>>
            + Send
            + 'static,
    {
        let Self {
            kind,
            actor,
            changed,
        } = self;
        let (now, random) = (inner.now(), Arc::clone(&inner.random));
        transaction(move |conn| {
            Box::pin(async move {
                let (detail, value) = job(conn).await?;
                let entry = AuditEntry {
                    kind,
                    actor: &actor,
                    detail,
                };
                conn.append_audit(&entry, now, &*random).await?;
                let mut subjects: Vec<_> = changed.iter().map(|what| what.subject).collect();
                subjects.dedup();
                for subject in subjects {
                    conn.insert_change(subject, now).await?;
                }
                Ok(value)
            })
        })
    }
}

impl AuthInner {
    /// Like [`AuthInner::announce`], for the names of these changes.
    pub(crate) fn announce_changed(&self, changed: &[Changed]) {
        let names: Vec<_> = changed.iter().map(|what| what.name).collect();
        self.announce(&names);
    }
}

impl Auth {
    /// Like [`Auth::change`], and records the change. The audit row and the rows of the change feed are written in
    /// the transaction. The change is announced after it was applied to memory. `job` also returns the detail of
    /// the audit row.
    pub(crate) async fn record<T, J, A>(
        &self,
        recorded: Recorded,
        job: J,
        apply: A,
    ) -> Result<T, AuthError>
    where
        T: Send + 'static,
        J: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<(Value, T), AuthError>>
            + Send
            + 'static,
        A: FnOnce(&AuthInner, &T) + Send + 'static,
    {
        let changed = recorded.changed;
        let job = recorded.job(&self.0, job);
        let apply = move |inner: &AuthInner, value: &T| {
            apply(inner, value);
            inner.announce_changed(changed);
        };
        self.change(job, apply).await
    }
}
