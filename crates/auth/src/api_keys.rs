//! API keys: create, list, revoke. The key itself is returned once and stored only as a hash.

mod stored;

use crate::api::{ApiKeyCreated, CreateApiKeyRequest};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::identity::{AuthIdentity, Subject};
use crate::lineage::Limits;
use crate::live_credential::{KEY_PREFIX, LiveKey, hash_of, to_hex};
use crate::only::{Only, TargetKinds};
use crate::recorded::{Changed, Recorded};
use crate::request_context::Caller;
use crate::state::Auth;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{Actor, ApiKeyId, Scope, ScopeSet, visible};
use gatehouse_store::ApiKeyRow;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

/// The number of characters of a key that are stored in plain text, so that users can tell keys apart.
const PREFIX_CHARS: usize = 11;
const MAX_LABEL_CHARS: usize = 100;

/// Trims and validates a credential's name.
pub(crate) fn check_label(label: &str) -> Result<String, AuthError> {
    let label = label.trim();
    if !(1..=MAX_LABEL_CHARS).contains(&label.chars().count()) {
        let reason = format!("1 to {MAX_LABEL_CHARS} characters");
        return Err(AuthError::field("label", reason));
    }
    if !visible::is_name(label) {
        let reason = "no characters that hide or reorder text";
        return Err(AuthError::field("label", reason));
    }
    Ok(label.to_owned())
}

impl Auth {
    /// `POST /api/auth/api-keys`.
    pub async fn create_api_key(
        &self,
        caller: &Caller<'_>,
        request: CreateApiKeyRequest,
    ) -> Result<ApiKeyCreated, AuthError> {
        let maker = caller.context.require(Scope::Admin)?;
        let wanted: ScopeSet = request.scopes.iter().copied().collect();
        if wanted.iter().any(|scope| scope == Scope::Admin) {
            self.require_confirmed(maker).await?;
        }
        let (label, limits) = self.read_key_request(request)?;
        let limits = limits.within(maker)?;
        self.mint(caller.context.actor(), Some(maker.clone()), label, limits)
            .await
    }

    /// Returns whether there is an API key with this ID.
    pub async fn has_api_key(&self, id: &str) -> Result<bool, AuthError> {
        let rows = self
            .0
            .store
            .read(|conn| Box::pin(async move { Ok::<_, AuthError>(conn.list_api_keys().await?) }));
        Ok(rows.await?.iter().any(|row| row.id.as_str() == id))
    }

    /// Like [`Auth::create_api_key`], for the operator at the command line.
    pub(crate) async fn mint_offline(
        &self,
        request: CreateApiKeyRequest,
    ) -> Result<ApiKeyCreated, AuthError> {
        let (label, limits) = self.read_key_request(request)?;
        self.mint(Actor::cli(), None, label, limits).await
    }

    fn read_key_request(
        &self,
        request: CreateApiKeyRequest,
    ) -> Result<(String, Limits), AuthError> {
        let label = check_label(&request.label)?;
        let limits = Limits {
            scopes: request.scopes.into_iter().collect(),
            expires_at: request.expires_at,
            allowed_cidrs: request.allowed_cidrs,
            only: self.read_only(request.only.as_deref(), TargetKinds::MethodsAndPaths)?,
        };
        Ok((label, limits.check(self.0.now())?))
    }

    async fn mint(
        &self,
        actor: Actor,
        maker: Option<AuthIdentity>,
        label: String,
        limits: Limits,
    ) -> Result<ApiKeyCreated, AuthError> {
        let inner = &self.0;
        let secret = BASE64URL_NOPAD.encode(&inner.random.bytes::<32>());
        let key = SecretString::from(format!("{KEY_PREFIX}{secret}"));
        let made_by = maker.as_ref().map(AuthIdentity::actor_name);
        let row = ApiKeyRow {
            id: ApiKeyId::generate(&*inner.clock, &*inner.random),
            key_hash: to_hex(&hash_of(key.expose_secret())),
            prefix: key.expose_secret().chars().take(PREFIX_CHARS).collect(),
            label,
            scopes: limits.scopes,
            allowed_cidrs: limits.allowed_cidrs,
            created_at: inner.now(),
            expires_at: limits.expires_at,
            last_used_at: None,
            made_by: made_by.or_else(|| Some(actor.name.clone())),
            only: limits.only.as_ref().map(Only::to_texts),
            dies_at_setup: maker.as_ref().is_some_and(dies_at_setup),
        };
        let created = ApiKeyCreated {
            id: row.id.clone(),
            key: key.expose_secret().to_owned(),
            prefix: row.prefix.clone(),
            scopes: row.scopes,
        };
        let live = LiveKey::from_row(&row)?;
        let auth = self.clone();
        self.record(
            Recorded::new(kinds::API_KEY_CREATED, actor, &[Changed::API_KEYS]),
            move |conn| {
                Box::pin(async move {
                    if let Some(maker) = &maker {
                        auth.require_live_row(conn, maker).await?;
                    }
                    conn.insert_api_key(&row).await?;
                    let detail = json!({
                        "api_key": row.id, "label": row.label, "scopes": row.scopes,
                        "only": row.only,
                    });
                    Ok((detail, ()))
                })
            },
            move |inner, ()| drop(inner.keys.insert(live)),
        )
        .await?;
        Ok(created)
    }
}

/// Returns whether the caller is remote and was admitted only because of `auth_disabled`.
pub(crate) const fn dies_at_setup(identity: &AuthIdentity) -> bool {
    matches!(
        identity.subject,
        Subject::LoopbackDisabled { is_local: false }
    )
}
