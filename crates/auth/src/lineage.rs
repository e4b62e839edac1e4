//! The lineage of credentials: a credential is no wider than its maker, and ends with it.

use crate::error::AuthError;
use crate::identity::{AuthIdentity, Subject};
use crate::only::Only;
use crate::state::AuthInner;
use gatehouse_domain::{Cidr, ScopeSet, Timestamp};
use gatehouse_store::{Conn, MadeRow, StoreError};
use std::collections::HashSet;

/// The maximum number of networks per credential.
const MAX_CIDRS: usize = 64;

/// The limits of a credential: operations, networks and lifetime. `None` is unlimited.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) scopes: ScopeSet,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) allowed_cidrs: Option<Vec<Cidr>>,
    pub(crate) only: Option<Only>,
}

impl Limits {
    /// Refuses limits that are invalid for any maker.
    pub(crate) fn check(self, now: Timestamp) -> Result<Self, AuthError> {
        if self.scopes.is_empty() {
            return Err(AuthError::field("scopes", "at least one scope"));
        }
        if self.expires_at.is_some_and(|end| end <= now) {
            return Err(AuthError::field("expires_at", "is in the past"));
        }
        match &self.allowed_cidrs {
            // An empty list is almost certainly a mistake; treating it as "anywhere" would be
            // dangerous.
            Some(list) if list.is_empty() => {
                let reason = "at least one network; omit the field to allow all";
                Err(AuthError::field("allowed_cidrs", reason))
            }
            Some(list) if list.len() > MAX_CIDRS => {
                let reason = format!("at most {MAX_CIDRS} networks");
                Err(AuthError::field("allowed_cidrs", reason))
            }
            _ => Ok(self),
        }
    }

    fn of(maker: &AuthIdentity) -> Self {
        let (expires_at, allowed_cidrs) = match &maker.subject {
            Subject::ApiKey(key) => (key.expires_at(), key.allowed_cidrs()),
            Subject::Device(presence) => {
                let device = presence.device();
                (device.expires_at(), device.allowed_cidrs())
            }
            // A user's key outlives the login that created it.
            _ => (None, None),
        };
        Self {
            scopes: maker.scopes,
            expires_at,
            allowed_cidrs: allowed_cidrs.map(<[Cidr]>::to_vec),
            only: maker.only().cloned(),
        }
    }

    /// Limits a credential that `maker` creates: omitted limits are inherited, and wider ones are
    /// refused.
    pub(crate) fn within(mut self, maker: &AuthIdentity) -> Result<Self, AuthError> {
        let bound = Self::of(maker);
        if !bound.scopes.may_grant(self.scopes) {
            return Err(AuthError::WiderThanMaker("scopes"));
        }
        match (self.expires_at, bound.expires_at) {
            (Some(wanted), Some(end)) if wanted > end => {
                return Err(AuthError::WiderThanMaker("expires_at"));
            }
            (wanted, end) => self.expires_at = wanted.or(end),
        }
        if let Some(networks) = bound.allowed_cidrs {
            let lies_within = |cidr: &Cidr| networks.iter().any(|network| network.covers(*cidr));
            match &self.allowed_cidrs {
                Some(wanted) if !wanted.iter().all(lies_within) => {
                    return Err(AuthError::WiderThanMaker("allowed_cidrs"));
                }
                Some(_) => {}
                None => self.allowed_cidrs = Some(networks),
            }
        }
        if let Some(only) = bound.only {
            match &self.only {
                Some(wanted) if !only.covers(wanted) => {
                    return Err(AuthError::WiderThanMaker("only"));
                }
                Some(_) => {}
                None => self.only = Some(only),
            }
        }
        Ok(self)
    }
}

/// Refuses an identity whose credential has limits. Used for passkeys, passwords and a reset, which
/// have none.
pub(crate) fn require_no_limits(identity: &AuthIdentity) -> Result<(), AuthError> {
    let Limits {
        expires_at,
        allowed_cidrs,
        only,
        ..
    } = Limits::of(identity);
    if expires_at.is_none() && allowed_cidrs.is_none() && only.is_none() {
        Ok(())
    } else {
        Err(AuthError::Limited)
    }
}

/// The credentials that ended together with their maker.
#[derive(Debug, Default)]
pub(crate) struct Descendants(Vec<MadeRow>);

impl Descendants {
    /// Deletes everything that this maker created, directly or indirectly. Runs in the transaction
    /// that ends the maker.
    pub(crate) async fn delete(
        conn: &mut Conn,
        maker: &str,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let made = conn.list_made_by(maker).await?;
        for row in &made {
            match row {
                MadeRow::ApiKey(id) => conn.delete_api_key(id).await?,
                MadeRow::Device(id) => conn.delete_device(id).await?,
            };
        }
        let made = Self(made);
        if made.has_keys() {
            conn.insert_change("auth_api_keys", now).await?;
        }
        if made.has_devices() {
            conn.insert_change("auth_devices", now).await?;
        }
        Ok(made)
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    fn has_keys(&self) -> bool {
        self.0.iter().any(|row| matches!(row, MadeRow::ApiKey(_)))
    }

    fn has_devices(&self) -> bool {
        self.0.iter().any(|row| matches!(row, MadeRow::Device(_)))
    }

    /// Ends the credentials in memory, after the commit.
    pub(crate) fn end_in(&self, inner: &AuthInner) {
        let (mut keys, mut devices) = (HashSet::new(), HashSet::new());
        for row in &self.0 {
            match row {
                MadeRow::ApiKey(id) => keys.insert(id.as_str()),
                MadeRow::Device(id) => devices.insert(id.as_str()),
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
    }
}
