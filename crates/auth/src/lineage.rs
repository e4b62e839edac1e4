//! The creators of credentials. A credential has no wider limits than its creator, and ends with it.

mod descendants;

use crate::error::AuthError;
use crate::identity::{AuthIdentity, Subject};
use crate::live_credential::{Live, to_hex};
use crate::only::Only;
pub(crate) use descendants::Descendants;
use gatehouse_domain::{AuthSessionId, Cidr, ScopeSet, Timestamp};
use gatehouse_store::{Conn, StoreError};
use std::collections::{HashMap, HashSet};

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
    /// Refuses limits that are invalid for any creator.
    pub(crate) fn check(self, now: Timestamp) -> Result<Self, AuthError> {
        if self.scopes.is_empty() {
            return Err(AuthError::field("scopes", "at least one scope"));
        }
        if self.expires_at.is_some_and(|end| end <= now) {
            return Err(AuthError::field("expires_at", "is in the past"));
        }
        match &self.allowed_cidrs {
            // An empty list is probably a mistake. Treating it as unrestricted would be dangerous.
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

    /// Limits a credential that `maker` creates. Omitted limits are inherited, and wider limits are refused.
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

/// Refuses an identity whose credential has limits. Used for passkeys, passwords and resets, which cannot have
/// limits.
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

/// Refuses to keep the credentials that a revoked key or device created, if the caller is a key or device, or a
/// session that a key opened. Otherwise a leaked key could revoke itself and leave credentials that never end.
pub(crate) async fn may_keep_children(
    conn: &mut Conn,
    identity: &AuthIdentity,
    keep_children: bool,
) -> Result<(), AuthError> {
    if keep_children && lasting_maker(conn, identity).await?.is_some() {
        Err(AuthError::KeepsChildren)
    } else {
        Ok(())
    }
}

/// Reads the API key or device whose end also ends the passkeys that this identity registers. This is the identity
/// itself; for a session, it is the key or device that registered the passkey of the session. The value is not kept
/// in memory, because [`Descendants::keep`] changes it.
pub(crate) async fn lasting_maker(
    conn: &mut Conn,
    identity: &AuthIdentity,
) -> Result<Option<String>, StoreError> {
    Ok(match &identity.subject {
        Subject::ApiKey(_) | Subject::Device(_) => Some(identity.actor_name()),
        Subject::Session(session) => {
            let row = conn.find_auth_session(&to_hex(session.hash())).await?;
            row.and_then(|row| row.made_by)
        }
        _ => None,
    })
}

/// Like [`lasting_maker`], for the name of an identity in `made_by`.
async fn lasting_maker_of(conn: &mut Conn, name: &str) -> Result<Option<String>, StoreError> {
    if name.starts_with("session ") {
        let makers = conn.list_makers_of(name).await?;
        let session = makers.into_iter().find(|row| row.name == name);
        return Ok(session.and_then(|row| row.made_by));
    }
    let lasts = name.starts_with("api_key ") || name.starts_with("device ");
    Ok(lasts.then(|| name.to_owned()))
}

/// Prepares the deletion of the sessions `ended` and of everything that they created. Keeps the keys and devices
/// that created the session `kept` directly or indirectly, because `kept` ends with them. If a session in `ended`
/// created such a key or device, the creator of that session becomes its creator.
pub(crate) async fn keep_makers_of(
    conn: &mut Conn,
    kept: &AuthSessionId,
    ended: &[AuthSessionId],
) -> Result<(), StoreError> {
    let ended: HashSet<String> = ended.iter().map(|id| format!("session {id}")).collect();
    let makers = conn.list_makers_of(&format!("session {kept}")).await?;
    let made_by: HashMap<String, Option<String>> = makers
        .into_iter()
        .map(|row| (row.name, row.made_by))
        .collect();
    for (name, maker) in &made_by {
        let Some(maker) = maker.as_ref().filter(|maker| ended.contains(*maker)) else {
            continue;
        };
        let above = made_by.get(maker).cloned().flatten();
        conn.update_made_by_of(name, above.as_deref()).await?;
    }
    Ok(())
}
