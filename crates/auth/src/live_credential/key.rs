//! API keys in memory.

use super::{Live, TokenHash, Usage, from_hex, is_within};
use crate::only::Only;
use gatehouse_domain::{ApiKeyId, Cidr, ScopeSet, Timestamp};
use gatehouse_store::{ApiKeyRow, StoreError};
use std::fmt;
use std::net::IpAddr;

/// An API key in memory.
pub struct LiveKey {
    id: ApiKeyId,
    hash: TokenHash,
    scopes: ScopeSet,
    allowed_cidrs: Option<Vec<Cidr>>,
    expires_at: Option<Timestamp>,
    only: Option<Only>,
    dies_at_setup: bool,
    usage: Usage,
}

impl fmt::Debug for LiveKey {
    /// Omits the hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveKey").field(&self.id).finish()
    }
}

impl LiveKey {
    pub(crate) fn from_row(row: &ApiKeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.clone(),
            hash: from_hex(&row.key_hash, "hash of an API key")?,
            scopes: row.scopes,
            allowed_cidrs: row.allowed_cidrs.clone(),
            expires_at: row.expires_at,
            only: Only::from_row(row.only.as_deref(), "API key")?,
            dies_at_setup: row.dies_at_setup,
            usage: Usage::new(row.last_used_at.map_or(0, Timestamp::as_millis)),
        })
    }

    pub const fn id(&self) -> &ApiKeyId {
        &self.id
    }

    pub const fn scopes(&self) -> ScopeSet {
        self.scopes
    }

    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Returns the networks from which the key may be used; `None` is any.
    pub(crate) fn allowed_cidrs(&self) -> Option<&[Cidr]> {
        self.allowed_cidrs.as_deref()
    }

    /// Returns the methods and paths that the key may call; `None` is all.
    pub(crate) const fn only(&self) -> Option<&Only> {
        self.only.as_ref()
    }

    pub fn last_used_at(&self) -> Option<Timestamp> {
        self.usage.last()
    }

    pub(crate) const fn dies_at_setup(&self) -> bool {
        self.dies_at_setup
    }

    /// Returns whether the key has a scope and its networks contain the client.
    pub(crate) fn may_be_used_from(&self, client: IpAddr) -> bool {
        !self.scopes.is_empty() && is_within(self.allowed_cidrs(), client)
    }
}

impl Live for LiveKey {
    fn hash(&self) -> &TokenHash {
        &self.hash
    }

    fn usage(&self) -> &Usage {
        &self.usage
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }
}
