//! Lists and deletion of stored API keys.

use crate::api::{ApiKeyItem, ApiKeyList, Done};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::lineage::{Descendants, may_keep_children};
use crate::live_credential::LiveKey;
use crate::recorded::{Changed, Recorded};
use crate::request_context::Caller;
use crate::state::Auth;
use gatehouse_domain::{ApiKeyId, Scope};
use gatehouse_store::ApiKeyRow;
use serde_json::json;
use std::sync::Arc;

impl Auth {
    /// `GET /api/auth/api-keys`.
    pub async fn list_api_keys(&self, caller: &Caller<'_>) -> Result<ApiKeyList, AuthError> {
        caller.context.require(Scope::Read)?;
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
                only: row.only,
                made_by: row.made_by,
            }
        };
        Ok(ApiKeyList {
            api_keys: rows.into_iter().map(item).collect(),
            presets: self.presets(),
        })
    }

    /// `DELETE /api/auth/api-keys/{id}`. Also ends the credentials that the key created, unless they
    /// are kept.
    pub async fn delete_api_key(
        &self,
        caller: &Caller<'_>,
        id: &ApiKeyId,
        keep_children: bool,
    ) -> Result<Done, AuthError> {
        let identity = caller.context.require(Scope::Admin)?.clone();
        let actor = caller.context.actor();
        let (now, in_job, in_apply) = (self.0.now(), id.clone(), id.clone());
        self.record(
            Recorded::new(kinds::API_KEY_REVOKED, actor, &[Changed::API_KEYS]),
            move |conn| {
                Box::pin(async move {
                    may_keep_children(conn, &identity, keep_children).await?;
                    // Reads the row before it is deleted.
                    let all = conn.list_api_keys().await?;
                    let row = all.into_iter().find(|row| row.id == in_job);
                    let made_by = row.as_ref().and_then(|row| row.made_by.clone());
                    let label = row.map(|row| row.label);
                    if !conn.delete_api_key(&in_job).await? {
                        return Err(AuthError::NotFound("API key"));
                    }
                    let name = format!("api_key {in_job}");
                    let below = if keep_children {
                        Descendants::keep(conn, &name, made_by.as_deref()).await?
                    } else {
                        Descendants::delete(conn, &name, now).await?
                    };
                    let detail =
                        json!({ "api_key": in_job, "label": label, "children": below.count() });
                    Ok((detail, below))
                })
            },
            move |inner, below| {
                below.end_in(inner);
                inner.keys.end_where(|key| *key.id() == in_apply);
            },
        )
        .await?;
        Ok(Done::OK)
    }
}
