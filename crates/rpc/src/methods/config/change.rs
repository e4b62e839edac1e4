//! Checks and stores changes of settings.

use crate::method_entry::Call;
use gatehouse_auth::AuthIdentity;
use gatehouse_config::{
    McpServer, SetError, canonical_key, key_is_secret, key_needs_admin, key_needs_step_up,
};
use gatehouse_domain::{Actor, Problem, Scope};
use gatehouse_services::{Services, backup::check_recipient, live_config::changes, to_problem};
use gatehouse_store::{AuditEntry, StoreError};
use serde_json::{Value, json};
use std::sync::Arc;
use url::Url;

#[derive(Debug, thiserror::Error)]
pub(super) enum ChangeError {
    #[error("`{key}` cannot be changed")]
    Refused {
        key: String,
        #[source]
        error: SetError,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `field` returns the caller's name for the value of a setting.
fn problem_of(error: ChangeError, field: fn(&str) -> &str) -> Problem {
    match error {
        ChangeError::Refused {
            key,
            error: SetError::Invalid { reason },
        } => Problem::invalid_params(field(&key), reason.to_string()),
        error => to_problem(error),
    }
}

/// Stores and applies changes if the caller may make all of them. Every method that changes a setting uses
/// this function or [`change_fields`].
pub(crate) async fn change(call: &Call, values: Vec<(String, Value)>) -> Result<(), Problem> {
    change_fields(call, values, |_| "value").await
}

/// Changes settings like [`change`]. `field` returns the caller's name for the value of a setting,
/// for errors.
pub(in super::super) async fn change_fields(
    call: &Call,
    values: Vec<(String, Value)>,
    field: fn(&str) -> &str,
) -> Result<(), Problem> {
    let values = without_headers_of_moved(call, values);
    let auth = &call.services.auth;
    if values.iter().any(|(key, _)| key_needs_admin(key)) {
        auth.require_scope(&call.identity, Scope::Admin)?;
    }
    if values.iter().any(|(key, _)| key_needs_step_up(key)) {
        auth.require_step_up(&call.identity).await?;
    }
    let stored = store_changes(&call.services, &call.identity, call.actor(), values).await;
    stored.map_err(|error| problem_of(error, field))?;
    call.services.apply_settings().await
}

/// Removes the headers of an MCP server if its URL changes to a different origin and the request sets no new headers.
/// Headers often contain a key, which belongs to the old origin. Fixed headers cannot be removed, but `services` does
/// not send them.
fn without_headers_of_moved(call: &Call, values: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let config = &call.services.config;
    let resolved = config.resolved();
    let headers_of_moved = |(key, value): &(String, Value)| {
        let name = key.strip_prefix("mcp.servers.")?.strip_suffix(".url")?;
        let Some(McpServer::Url { url: now, .. }) = resolved.settings.mcp.servers.get(name) else {
            return None;
        };
        let url = value.as_str().and_then(|url| Url::parse(url).ok());
        let moves = url.is_none_or(|url| url.origin() != now.origin());
        moves.then(|| format!("mcp.servers.{name}.headers"))
    };
    let removed = values
        .iter()
        .filter_map(headers_of_moved)
        .filter(|headers| {
            let is_given = values.iter().any(|(key, _)| key == headers);
            !is_given && config.layers().fixed_by(headers).is_none()
        });
    // This value comes first, because a server without a URL has no headers.
    let mut all: Vec<_> = removed.map(|headers| (headers, Value::Null)).collect();
    all.extend(values);
    all
}

/// Changes settings like [`change`], but skips keys that are fixed at exactly the requested value.
#[cfg(feature = "voice")]
pub(in super::super) async fn choose(
    call: &Call,
    values: Vec<(String, Value)>,
) -> Result<(), Problem> {
    let (config, resolved) = (&call.services.config, call.services.config.resolved());
    let stands = |key: &String, value: &Value| {
        let shown = resolved.values(Some(std::slice::from_ref(key)));
        config.layers().fixed_by(key).is_some() && shown.iter().any(|now| now.value == *value)
    };
    let wanted: Vec<_> = values
        .into_iter()
        .filter(|(key, value)| !stands(key, value))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    change(call, wanted).await
}

/// Checks the setting whose format only the backup crate can parse.
fn check_recipient_of(key: &str, value: Value) -> Result<Value, SetError> {
    if let ("backup.recipient", Some(text)) = (&*canonical_key(key), value.as_str()) {
        check_recipient(text).map_err(|reason| SetError::Invalid { reason })?;
    }
    Ok(value)
}

/// Stores the changes, the notification for other nodes and the audit rows in one transaction. In it, also reads the
/// existing changes, with which the new ones must be consistent.
async fn store_changes(
    services: &Arc<Services>,
    identity: &AuthIdentity,
    actor: Actor,
    values: Vec<(String, Value)>,
) -> Result<(), ChangeError> {
    let (store, services) = (services.store.clone(), Arc::clone(services));
    let by_stranger = identity.is_unauthenticated_remote();
    let written = store.write(move |conn| {
        Box::pin(async move {
            let now = services.clock.now();
            let mut current = changes(conn.list_settings().await?);
            for (key, value) in values {
                let layers = services.config.layers();
                let checked = layers.check_set(&key, &value, &current);
                let checked = checked.and_then(|value| check_recipient_of(&key, value));
                let value = checked.map_err(|error| ChangeError::Refused {
                    key: key.clone(),
                    error,
                })?;
                // If auth is disabled, changes by a remote caller are reverted when setup is complete. The owner's
                // changes are kept.
                if by_stranger {
                    conn.keep_setting_before_setup(&key).await?;
                } else {
                    conn.forget_setting_before_setup(&key).await?;
                }
                if value.is_null() {
                    current.remove(&key);
                    conn.delete_setting(&key).await?;
                } else {
                    current.insert(key.clone(), value.clone());
                    conn.update_setting(&key, &value, now).await?;
                }
                let shown = if key_is_secret(&key) {
                    Value::Null
                } else {
                    value
                };
                let detail = json!({ "key": key, "value": shown });
                let entry = AuditEntry {
                    kind: "config.set",
                    actor: &actor,
                    detail,
                };
                conn.append_audit(&entry, now, &*services.random).await?;
            }
            conn.insert_change("settings", now).await?;
            Ok::<_, ChangeError>(())
        })
    });
    written.await
}
