//! Checks whether the credential behind an identity is still valid. A request is authenticated from its headers,
//! but its body may take minutes, a batch contains many calls, and the memory of a node may be outdated. The
//! credential is therefore checked again: in memory before each call and after each body, and in the database in
//! the transaction of each write ([`Auth::guard`]).

use crate::cookie::LIFETIME;
use crate::error::AuthError;
use crate::identity::{AuthIdentity, Subject};
use crate::live_credential::{Live, to_hex};
use crate::state::{AUTH_DISABLED, Auth, Settled, password_mark};
use gatehouse_domain::{Problem, Timestamp};
use gatehouse_store::{Conn, Guard, StoreError};
use serde_json::Value;

/// Whether a request may write before setup is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeSetup {
    /// No, if `auth.local_setup_code` is set; otherwise yes.
    AsSet,
    /// Yes: the request completes setup and checks the setup code itself.
    CompletesIt,
}

impl Auth {
    /// Returns whether the identity's credential is still valid, according to memory.
    pub fn is_live(&self, identity: &AuthIdentity) -> bool {
        let now = self.0.now();
        match &identity.subject {
            Subject::LoopbackDisabled { is_local } => {
                self.facts().auth_disabled && self.row_1_reaches(*is_local)
            }
            Subject::LoopbackSetup => !self.facts().setup_complete,
            Subject::Session(session) => session.is_live(now),
            Subject::ApiKey(key) => key.is_live(now),
            Subject::Device(presence) => presence.device().is_live(now),
            Subject::SocketPassword { mark, since } => {
                self.0.settled.load().password_mark.as_ref() == Some(mark)
                    && now < since.after(LIFETIME)
            }
        }
    }

    /// Returns when the credential behind an identity expires.
    pub fn expires_at(&self, identity: &AuthIdentity) -> Option<Timestamp> {
        match &identity.subject {
            Subject::LoopbackDisabled { .. } | Subject::LoopbackSetup => None,
            Subject::Session(session) => Some(session.expires_at()),
            Subject::ApiKey(key) => key.expires_at(),
            Subject::Device(presence) => presence.device().expires_at(),
            Subject::SocketPassword { since, .. } => Some(since.after(LIFETIME)),
        }
    }

    /// Fails if the credential has ended. Reads the database only while memory cannot be trusted.
    pub async fn require_live(&self, identity: &AuthIdentity) -> Result<(), Problem> {
        if self.memory_is_fresh() {
            return self.require_live_in_memory(identity);
        }
        let (auth, identity) = (self.clone(), identity.clone());
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { auth.require_live_row(conn, &identity).await })
        });
        Ok(read.await?)
    }

    /// Like [`Auth::require_live`], using memory only.
    pub fn require_live_in_memory(&self, identity: &AuthIdentity) -> Result<(), Problem> {
        if self.is_live(identity) {
            Ok(())
        } else {
            Err(AuthError::NotAuthenticated.into())
        }
    }

    /// Fails if the credential has ended, according to memory or the database.
    pub(crate) async fn require_live_row(
        &self,
        conn: &mut Conn,
        identity: &AuthIdentity,
    ) -> Result<(), AuthError> {
        if self.is_live(identity) && self.has_live_row(conn, identity).await? {
            Ok(())
        } else {
            Err(AuthError::NotAuthenticated)
        }
    }

    /// Checks only the credential's own row. Ending a creator also ends its credentials in the same transaction.
    async fn has_live_row(
        &self,
        conn: &mut Conn,
        identity: &AuthIdentity,
    ) -> Result<bool, StoreError> {
        let now = self.0.now();
        Ok(match &identity.subject {
            Subject::LoopbackDisabled { .. } => {
                conn.find_setting(AUTH_DISABLED).await? == Some(Value::Bool(true))
            }
            Subject::LoopbackSetup => !Settled::read(conn).await?.facts.setup_complete,
            Subject::Session(session) => {
                let row = conn.find_auth_session(&to_hex(session.hash())).await?;
                row.is_some_and(|row| now < row.expires_at)
            }
            Subject::ApiKey(key) => {
                let row = conn.find_api_key(&to_hex(key.hash())).await?;
                row.is_some_and(|row| row.expires_at.is_none_or(|end| now < end))
            }
            Subject::Device(presence) => {
                let hash = to_hex(presence.device().hash());
                let row = conn.find_device(&hash).await?;
                row.is_some_and(|row| row.expires_at.is_none_or(|end| now < end))
            }
            Subject::SocketPassword { mark, .. } => {
                let stored = conn.find_password_hash().await?;
                stored.as_deref().map(password_mark).as_ref() == Some(mark)
            }
        })
    }

    /// Returns the condition for every write of this identity: its credential is valid in the database and, before
    /// setup, `auth.local_setup_code` allows the write.
    pub fn guard(&self, identity: &AuthIdentity, before_setup: BeforeSetup) -> Guard {
        let (auth, identity) = (self.clone(), identity.clone());
        Guard::new(move |conn| {
            let (auth, identity) = (auth.clone(), identity.clone());
            Box::pin(async move {
                let refuse = |problem: Problem| StoreError::Refused(Box::new(problem));
                if before_setup == BeforeSetup::AsSet {
                    auth.require_setup_first(&identity).map_err(refuse)?;
                }
                match auth.require_live_row(conn, &identity).await {
                    Ok(()) => Ok(()),
                    Err(AuthError::Store(error)) => Err(error),
                    Err(ended) => Err(refuse(ended.into())),
                }
            })
        })
    }

    /// With `auth.local_setup_code`, a caller without a credential may only read and complete
    /// setup.
    pub fn require_setup_first(&self, identity: &AuthIdentity) -> Result<(), Problem> {
        let has_no_credential = matches!(
            identity.subject,
            Subject::LoopbackDisabled { .. } | Subject::LoopbackSetup
        );
        if has_no_credential
            && self.0.settings.load().given.local_setup_code
            && !self.facts().setup_complete
        {
            return Err(AuthError::SetupFirst.into());
        }
        Ok(())
    }
}
