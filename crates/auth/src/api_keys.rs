//! API keys: minted, listed, revoked. The key itself is shown once and kept only as a hash.

use crate::api::{ApiKeyCreated, ApiKeyItem, ApiKeyList, CreateApiKeyRequest, Done};
use crate::audit::kinds;
use crate::check_auth::KEY_PREFIX;
use crate::error::AuthError;
use crate::identity::{AuthIdentity, Subject};
use crate::live::{LiveKey, hash_of, to_hex};
use crate::state::Auth;
use crate::visit::Caller;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{Actor, ApiKeyId, Cidr, Scope, ScopeSet, Timestamp};
use gatehouse_store::{ApiKeyRow, AuditEntry};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;

/// Characters of a key that are kept readable, so that a person can tell keys apart.
const PREFIX_CHARS: usize = 11;
const MAX_LABEL_CHARS: usize = 100;
const MAX_CIDRS: usize = 64;

/// What a key shall be, checked.
struct Wanted {
    label: String,
    scopes: ScopeSet,
    expires_at: Option<Timestamp>,
    allowed_cidrs: Option<Vec<Cidr>>,
}

impl Wanted {
    fn check(request: CreateApiKeyRequest, now: Timestamp) -> Result<Self, AuthError> {
        let label = request.label.trim().to_owned();
        if !(1..=MAX_LABEL_CHARS).contains(&label.chars().count()) {
            let reason = format!("1 to {MAX_LABEL_CHARS} characters");
            return Err(AuthError::field("label", reason));
        }
        if label.chars().any(char::is_control) {
            return Err(AuthError::field("label", "no control characters"));
        }
        let scopes: ScopeSet = request.scopes.into_iter().collect();
        if scopes.is_empty() {
            return Err(AuthError::field("scopes", "at least one scope"));
        }
        if request.expires_at.is_some_and(|end| end <= now) {
            return Err(AuthError::field("expires_at", "lies in the past"));
        }
        match &request.allowed_cidrs {
            // Nowhere at all is surely a mistake; anywhere would be a dangerous reading of it.
            Some(list) if list.is_empty() => {
                let reason = "at least one network; leave it out for anywhere";
                return Err(AuthError::field("allowed_cidrs", reason));
            }
            Some(list) if list.len() > MAX_CIDRS => {
                let reason = format!("at most {MAX_CIDRS} networks");
                return Err(AuthError::field("allowed_cidrs", reason));
            }
            _ => {}
        }
        Ok(Self {
            label,
            scopes,
            expires_at: request.expires_at,
            allowed_cidrs: request.allowed_cidrs,
        })
    }
}

impl Auth {
    /// `POST /api/auth/api-keys`.
    pub async fn create_api_key(
        &self,
        caller: &Caller<'_>,
        request: CreateApiKeyRequest,
    ) -> Result<ApiKeyCreated, AuthError> {
        let identity = caller.visit.require(Scope::Admin)?;
        let wanted: ScopeSet = request.scopes.iter().copied().collect();
        if !identity.scopes.may_grant(wanted) {
            return Err(AuthError::WiderThanCreator);
        }
        if wanted.iter().any(|scope| scope == Scope::Admin) && !self.is_confirmed(identity) {
            return Err(AuthError::ConfirmationRequired);
        }
        let wanted = Wanted::check(request, self.0.now())?;
        let dies_at_setup = dies_at_setup(identity);
        let creator = Some(identity.clone());
        self.mint(caller.visit.actor(), creator, wanted, dies_at_setup)
            .await
    }

    /// As [`Auth::create_api_key`] for the operator at the machine.
    pub(crate) async fn mint_offline(
        &self,
        request: CreateApiKeyRequest,
    ) -> Result<ApiKeyCreated, AuthError> {
        let wanted = Wanted::check(request, self.0.now())?;
        self.mint(Actor::cli(), None, wanted, false).await
    }

    async fn mint(
        &self,
        actor: Actor,
        creator: Option<AuthIdentity>,
        wanted: Wanted,
        dies_at_setup: bool,
    ) -> Result<ApiKeyCreated, AuthError> {
        let inner = &self.0;
        let secret = BASE64URL_NOPAD.encode(&inner.random.bytes::<32>());
        let key = SecretString::from(format!("{KEY_PREFIX}{secret}"));
        let row = ApiKeyRow {
            id: ApiKeyId::generate(&*inner.clock, &*inner.random),
            key_hash: to_hex(&hash_of(key.expose_secret())),
            prefix: key.expose_secret().chars().take(PREFIX_CHARS).collect(),
            label: wanted.label,
            scopes: wanted.scopes,
            allowed_cidrs: wanted.allowed_cidrs,
            created_at: inner.now(),
            expires_at: wanted.expires_at,
            last_used_at: None,
            dies_at_setup,
        };
        let created = ApiKeyCreated {
            id: row.id.clone(),
            key: key.expose_secret().to_owned(),
            prefix: row.prefix.clone(),
            scopes: row.scopes,
        };
        let live = LiveKey::from_row(&row)?;
        let auth = self.clone();
        let (now, random) = (inner.now(), Arc::clone(&inner.random));
        self.change(
            move |conn| {
                Box::pin(async move {
                    // Ended meanwhile, such as by a reset, which this key would outlive.
                    if creator.is_some_and(|identity| !auth.is_live(&identity)) {
                        return Err(AuthError::NotAuthenticated);
                    }
                    // Setup was completed meanwhile: nobody let this caller in any more.
                    if dies_at_setup
                        && crate::state::Settled::read(conn)
                            .await?
                            .facts
                            .setup_complete
                    {
                        return Err(AuthError::NotAuthenticated);
                    }
                    conn.insert_api_key(&row).await?;
                    let entry = AuditEntry {
                        kind: kinds::API_KEY_CREATED,
                        actor: &actor,
                        detail: json!({ "api_key": row.id, "label": row.label, "scopes": row.scopes }),
                    };
                    conn.append_audit(&entry, now, &*random).await?;
                    Ok(())
                })
            },
            move |inner, ()| {
                inner.keys.insert(live);
                inner.announce(&["api_keys"]);
            },
        )
        .await?;
        Ok(created)
    }

    /// `GET /api/auth/api-keys`.
    pub async fn list_api_keys(&self, caller: &Caller<'_>) -> Result<ApiKeyList, AuthError> {
        caller.visit.require(Scope::Read)?;
        let rows = self
            .0
            .store
            .read(|conn| Box::pin(async move { Ok::<_, AuthError>(conn.list_api_keys().await?) }));
        let rows = rows.await?;
        let live = self.0.keys.all();
        let live: std::collections::HashMap<&str, &Arc<LiveKey>> =
            live.iter().map(|key| (key.id().as_str(), key)).collect();
        let item = |row: ApiKeyRow| {
            let used = live.get(row.id.as_str()).and_then(|key| key.last_used_at());
            ApiKeyItem {
                id: row.id,
                label: row.label,
                prefix: row.prefix,
                scopes: row.scopes,
                created_at: row.created_at,
                expires_at: row.expires_at,
                last_used_at: used.max(row.last_used_at),
                allowed_cidrs: row.allowed_cidrs,
            }
        };
        Ok(ApiKeyList {
            api_keys: rows.into_iter().map(item).collect(),
        })
    }

    /// `DELETE /api/auth/api-keys/{id}`.
    pub async fn delete_api_key(
        &self,
        caller: &Caller<'_>,
        id: &ApiKeyId,
    ) -> Result<Done, AuthError> {
        caller.visit.require(Scope::Admin)?;
        let (actor, now) = (caller.visit.actor(), self.0.now());
        let (random, in_job, in_apply) = (Arc::clone(&self.0.random), id.clone(), id.clone());
        self.change(
            move |conn| {
                Box::pin(async move {
                    // Once it is gone, nothing else knows what it was called.
                    let all = conn.list_api_keys().await?;
                    let label = all.into_iter().find(|row| row.id == in_job);
                    let label = label.map(|row| row.label);
                    if !conn.delete_api_key(&in_job).await? {
                        return Err(AuthError::NotFound("API key"));
                    }
                    let entry = AuditEntry {
                        kind: kinds::API_KEY_REVOKED,
                        actor: &actor,
                        detail: json!({ "api_key": in_job, "label": label }),
                    };
                    conn.append_audit(&entry, now, &*random).await?;
                    conn.insert_change("auth_api_keys", now).await?;
                    Ok(())
                })
            },
            move |inner, ()| {
                inner.keys.end_where(|key| *key.id() == in_apply);
                inner.announce(&["api_keys"]);
            },
        )
        .await?;
        Ok(Done::OK)
    }
}

/// Whether the key is minted by somebody whom only `auth_disabled` let in from elsewhere.
const fn dies_at_setup(identity: &AuthIdentity) -> bool {
    matches!(
        identity.subject,
        Subject::LoopbackDisabled { is_local: false }
    )
}
