//! Sessions and API keys in memory: the data that `check_auth()` needs, and the state that requests change without
//! a database write. This module does not depend on the map or the database.

mod key;

use data_encoding::HEXLOWER;
use gatehouse_domain::{AuthSessionId, Cidr, Timestamp};
use gatehouse_store::{AuthSessionRow, StoreError};
pub use key::LiveKey;
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The prefix of every API key.
pub(crate) const KEY_PREFIX: &str = "mk_";
/// The prefix of every device token.
pub(crate) const TOKEN_PREFIX: &str = "gd_";

/// The SHA-256 of a credential as sent.
pub(crate) type TokenHash = [u8; 32];

/// The minimum interval between database writes of a credential's last use.
const FLUSH_AFTER_MS: i64 = 60_000;

pub(crate) fn hash_of(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

pub(crate) fn to_hex(hash: &TokenHash) -> String {
    HEXLOWER.encode(hash)
}

pub(crate) fn from_hex(text: &str, what: &'static str) -> Result<TokenHash, StoreError> {
    let bytes = HEXLOWER.decode(text.as_bytes());
    let hash = bytes.ok().and_then(|bytes| TokenHash::try_from(bytes).ok());
    hash.ok_or(StoreError::Damaged { what })
}

/// Returns whether the client is in one of the networks. `None` means no restriction.
pub(crate) fn is_within(networks: Option<&[Cidr]>, client: IpAddr) -> bool {
    networks.is_none_or(|list| list.iter().any(|cidr| cidr.contains(client)))
}

/// When a credential was last used, and when that was last written.
#[derive(Debug)]
pub(crate) struct Usage {
    used_ms: AtomicI64,
    written_ms: AtomicI64,
    ended: AtomicBool,
}

impl Usage {
    pub(crate) const fn new(last: i64) -> Self {
        Self {
            used_ms: AtomicI64::new(last),
            written_ms: AtomicI64::new(last),
            ended: AtomicBool::new(false),
        }
    }

    pub(crate) fn touch(&self, now: Timestamp) {
        let now = now.as_millis();
        if self.used_ms.load(Ordering::Relaxed) != now {
            self.used_ms.store(now, Ordering::Relaxed);
        }
    }

    /// Returns the last use, if any.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        let used = self.used_ms.load(Ordering::Relaxed);
        (used > 0).then(|| Timestamp::from_millis(used))
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn written(&self, at: Timestamp) {
        self.written_ms.fetch_max(at.as_millis(), Ordering::Relaxed);
    }

    /// Returns the last use if it must be written: it is unwritten, and the last write is at least a minute ago or
    /// `all` is true.
    pub(crate) fn due(&self, now: Timestamp, all: bool) -> Option<Timestamp> {
        let used = self.used_ms.load(Ordering::Relaxed);
        let written = self.written_ms.load(Ordering::Relaxed);
        let ripe = all || now.as_millis().saturating_sub(written) >= FLUSH_AFTER_MS;
        (used > written && ripe).then(|| Timestamp::from_millis(used))
    }
}

/// Common operations of live credentials, for the map and the flush.
pub(crate) trait Live {
    fn hash(&self) -> &TokenHash;
    fn usage(&self) -> &Usage;
    fn is_expired(&self, now: Timestamp) -> bool;

    fn is_live(&self, now: Timestamp) -> bool {
        !self.usage().is_ended() && !self.is_expired(now)
    }

    fn touch(&self, now: Timestamp) {
        self.usage().touch(now);
    }

    fn end(&self) {
        self.usage().end();
    }

    /// Returns the last use that should be written now.
    fn due(&self, now: Timestamp, all: bool) -> Option<Timestamp> {
        self.usage().due(now, all)
    }

    /// Records that this last use was written.
    fn written(&self, at: Timestamp) {
        self.usage().written(at);
    }
}

/// How a session's user logged in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum LoginMethod {
    Password,
    Passkey,
}

impl LoginMethod {
    /// Returns the spelling in the database and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Passkey => "passkey",
        }
    }

    pub(crate) fn from_text(text: &str) -> Self {
        if text == "passkey" {
            Self::Passkey
        } else {
            Self::Password
        }
    }
}

/// A session in memory.
pub struct LiveSession {
    id: AuthSessionId,
    hash: TokenHash,
    expires_at: Timestamp,
    usage: Usage,
}

impl fmt::Debug for LiveSession {
    /// Omits the hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveSession").field(&self.id).finish()
    }
}

impl LiveSession {
    pub(crate) fn from_row(row: &AuthSessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.clone(),
            hash: from_hex(&row.token_hash, "hash of a session")?,
            expires_at: row.expires_at,
            usage: Usage::new(row.last_seen_at.as_millis()),
        })
    }

    pub const fn id(&self) -> &AuthSessionId {
        &self.id
    }

    /// Returns when the session ends, regardless of its use.
    pub const fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    pub fn last_seen_at(&self) -> Timestamp {
        Timestamp::from_millis(self.usage.used_ms.load(Ordering::Relaxed))
    }
}

impl Live for LiveSession {
    fn hash(&self) -> &TokenHash {
        &self.hash
    }

    fn usage(&self) -> &Usage {
        &self.usage
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }
}
