//! `check_auth()`: the only authentication decision, for every request and every socket login. Its rows follow the
//! order of the table in the specification. A credential in memory needs no database read. A store failure is an
//! error and never admits a caller.

mod look_up;

use crate::client_address::Client;
use crate::cookie::SessionCookies;
use crate::devices::live::{DevicePresence, LiveDevice};
use crate::identity::{AuthIdentity, Decision, Subject};
use crate::live_credential::{KEY_PREFIX, Live, LiveKey, TOKEN_PREFIX, hash_of};
use crate::live_map::LiveMap;
use crate::locality::Locality;
use crate::state::{Auth, AuthFacts, Settled};
use crate::throttle::ThrottleClass;
use gatehouse_config::DisabledScope;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use look_up::ReadRecord;
use std::net::IpAddr;
use std::sync::Arc;

/// Length of a session's cookie value: 32 bytes in base64url.
pub(crate) const SESSION_CHARS: usize = 43;
/// Length of an API key: the prefix and 32 bytes in base64url.
const KEY_CHARS: usize = KEY_PREFIX.len() + SESSION_CHARS;

/// A kind of credential that is a token with a prefix.
struct TokenKind<'a, T> {
    prefix: &'static str,
    map: &'a LiveMap<T>,
    read: ReadRecord<T>,
    /// Whether a credential may be used from this client's address.
    may_be_used_from: fn(&T, IpAddr) -> bool,
}

/// The parts of a request that the decision depends on.
#[derive(Clone, Copy)]
pub struct CheckInput<'a> {
    /// Whether the connection is local.
    pub locality: Locality,
    /// The client that rate limits apply to.
    pub client: &'a Client,
    /// The request's rate limit. A request over its limit costs no database read.
    pub class: Option<ThrottleClass>,
    /// The request's session cookies.
    pub sessions: SessionCookies<'a>,
    /// The request's Bearer token.
    pub api_key: Option<&'a str>,
    /// The request's device token. Only a socket's `connect` has one.
    pub device_token: Option<&'a str>,
}

impl Auth {
    /// Decides whether to admit a request, and with which identity. The first matching row wins.
    pub async fn check_auth(&self, input: &CheckInput<'_>) -> Result<Decision, StoreError> {
        let mut facts = self.facts();
        if (facts.auth_disabled || !facts.setup_complete) && !self.memory_is_fresh() {
            // Another node may have completed setup, so memory is not enough to admit a caller without a
            // credential.
            facts = Box::pin(self.0.facts_read.share(|| self.look_up_facts())).await?;
        }
        let allowed = |identity| Ok(Decision::Allowed(identity));
        // Row 1: authentication is disabled.
        let is_local = input.locality.is_local();
        if facts.auth_disabled && self.row_1_reaches(is_local) {
            return allowed(AuthIdentity::loopback(Subject::LoopbackDisabled {
                is_local,
            }));
        }
        // Rows 2 and 3: setup is not complete. No credential is checked.
        if !facts.setup_complete {
            return if is_local {
                allowed(AuthIdentity::loopback(Subject::LoopbackSetup))
            } else {
                Ok(Decision::SetupRequired)
            };
        }
        let now = self.0.now();
        // Row 4: a session.
        if let Some(session) = self.session(input, now).await? {
            return allowed(AuthIdentity::session(session));
        }
        // Row 5: an API key or a device token.
        if let Some(token) = input.api_key
            && let Some(key) = self
                .find_by_token(&self.api_keys(), token, input, now)
                .await?
        {
            return allowed(AuthIdentity::api_key(key));
        }
        if let Some(token) = input.device_token
            && let Some(device) = self
                .find_by_token(&self.devices(), token, input, now)
                .await?
        {
            return allowed(AuthIdentity::device(DevicePresence::begin(device)));
        }
        // Row 6: no valid credential.
        Ok(Decision::Unauthorized)
    }

    /// Returns whether row 1 applies to this caller while auth is disabled.
    pub(crate) fn row_1_reaches(&self, is_local: bool) -> bool {
        is_local || self.0.settings.load().given.disabled_scope == DisabledScope::All
    }

    async fn look_up_facts(&self) -> Result<AuthFacts, StoreError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { Settled::read(conn).await }));
        Ok(read.await?.facts)
    }

    /// Finds the live credential with this token, in memory or else in the database, and records its use.
    async fn find_by_token<T: Live + Send + Sync + 'static>(
        &self,
        kind: &TokenKind<'_, T>,
        token: &str,
        input: &CheckInput<'_>,
        now: Timestamp,
    ) -> Result<Option<Arc<T>>, StoreError> {
        if token.len() != KEY_CHARS || !token.starts_with(kind.prefix) {
            return Ok(None);
        }
        let hash = hash_of(token);
        let found = match kind.map.find(&hash) {
            Some(credential) if self.memory_is_fresh() => Some(credential),
            _ if self.may_look(kind.map, input) => {
                Box::pin(self.look_up(kind.map, hash, kind.read)).await?
            }
            _ => None,
        };
        let live = found.filter(|credential| {
            credential.is_live(now) && (kind.may_be_used_from)(credential, input.client.vouched_ip)
        });
        if let Some(credential) = &live {
            credential.touch(now);
        }
        Ok(live)
    }

    fn api_keys(&self) -> TokenKind<'_, LiveKey> {
        TokenKind {
            prefix: KEY_PREFIX,
            map: &self.0.keys,
            read: |conn, hex| {
                Box::pin(async move {
                    let row = conn.find_api_key(&hex).await?;
                    row.as_ref().map(LiveKey::from_row).transpose()
                })
            },
            may_be_used_from: LiveKey::may_be_used_from,
        }
    }

    fn devices(&self) -> TokenKind<'_, LiveDevice> {
        TokenKind {
            prefix: TOKEN_PREFIX,
            map: &self.0.devices,
            read: |conn, hex| {
                Box::pin(async move {
                    let row = conn.find_device(&hex).await?;
                    row.as_ref().map(LiveDevice::from_row).transpose()
                })
            },
            may_be_used_from: LiveDevice::may_be_used_from,
        }
    }
}
