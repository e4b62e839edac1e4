//! `config.*`: settings, the origin of each value, and run-time changes.

use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_auth::AuthIdentity;
use gatehouse_config::{
    McpServer, Origin, SetError, SettingValue, canonical_key, check_key, find_key, key_is_secret,
    key_needs_admin, key_needs_step_up,
};
use gatehouse_domain::{Actor, Problem, Scope};
use gatehouse_services::Services;
use gatehouse_services::backup::check_recipient;
use gatehouse_services::live_config::changes;
use gatehouse_services::to_problem;
use gatehouse_store::{AuditEntry, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use url::Url;

pub const GET: Method = method!(
    "config.get",
    "Returns the settings in effect and the source of each. Secrets are masked.",
    Some(Scope::Read),
    get(GetParams) -> GetResult
);

pub const SET: Method = method!(
    "config.set",
    "Changes a setting at run time. null restores the value of the file.",
    Some(Scope::Write),
    set(SetParams) -> SetResult,
    errors: [Conflict, ConfirmationRequired],
    audit: Audit::Transaction("config.set")
);

/// Params of `config.get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// The keys or sections to return; all by default.
    keys: Option<Vec<String>>,
}

/// Result of `config.get`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetResult {
    /// One entry per setting.
    pub values: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Setting {
    /// The dotted key.
    pub key: String,
    /// The value. Secrets are masked; null means unset.
    pub value: Value,
    /// The origin of the value: `command_line`, `environment`, `settings`, `toml` or `default`.
    #[schemars(with = "String")]
    pub origin: Origin,
    /// Whether the value is a secret.
    pub secret: bool,
}

impl From<SettingValue> for Setting {
    fn from(
        SettingValue {
            key,
            value,
            origin,
            secret,
        }: SettingValue,
    ) -> Self {
        Self {
            key,
            value,
            origin,
            secret,
        }
    }
}

/// Params of `config.set`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// The dotted key.
    key: String,
    /// The new value; null removes the run-time change.
    value: Value,
}

/// Result of `config.set`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetResult {
    /// The dotted key.
    pub key: String,
    /// The value in effect.
    pub value: Value,
    /// The origin of the value in effect.
    #[schemars(with = "String")]
    pub origin: Origin,
    /// Whether the change takes effect only after a restart; absent when it is already in effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restart_required: bool,
}

async fn get(call: Call, params: GetParams) -> Result<GetResult, Problem> {
    let values = shown(&call, params).await?;
    Ok(GetResult {
        values: values.into_iter().map(Setting::from).collect(),
    })
}

/// Returns the settings named in the params, refreshed from the database.
pub(super) async fn shown(call: &Call, params: GetParams) -> Result<Vec<SettingValue>, Problem> {
    for key in params.keys.iter().flatten() {
        // Any error in a key is an error in the param `keys`.
        check_key(key).map_err(|error| Problem::invalid_params("keys", error.to_string()))?;
    }
    let resolved = call.services.config.refresh(&call.services.store).await?;
    Ok(resolved.values(params.keys.as_deref()))
}

async fn set(call: Call, SetParams { key, value }: SetParams) -> Result<SetResult, Problem> {
    let key = canonical_key(&key).into_owned();
    change(&call, vec![(key.clone(), value)]).await?;
    let resolved = call.services.config.resolved();
    let shown = resolved
        .values(Some(std::slice::from_ref(&key)))
        .into_iter()
        .find(|v| v.key == key);
    let restart_required = find_key(&key).is_some_and(gatehouse_config::KeySpec::restart_required);
    let (value, origin) = shown.map_or((Value::Null, Origin::Default), |shown| {
        (shown.value, shown.origin)
    });
    Ok(SetResult {
        key,
        value,
        origin,
        restart_required,
    })
}

#[derive(Debug, thiserror::Error)]
enum ChangeError {
    #[error("`{key}` cannot be changed")]
    Refused {
        key: String,
        #[source]
        error: SetError,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused { error, .. } => error.into(),
            ChangeError::Store(error) => error.into(),
        }
    }
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

/// Like [`change`]. `field` returns the caller's name for the value of a setting, for errors.
pub(super) async fn change_fields(
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

/// Removes the headers of an MCP server if its URL changes to a different origin and the request does not set new
/// headers. Headers often contain a key, which belongs to the origin. Fixed headers cannot be removed; `services` does
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
    // This comes first, because a server without a URL has no headers.
    let mut all: Vec<_> = removed.map(|headers| (headers, Value::Null)).collect();
    all.extend(values);
    all
}

/// Like [`change`], but skips keys that are fixed at exactly the requested value.
#[cfg(feature = "voice")]
pub(super) async fn choose(call: &Call, values: Vec<(String, Value)>) -> Result<(), Problem> {
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

/// Checks the setting whose format only the crate for backups can read.
fn check_recipient_of(key: &str, value: Value) -> Result<Value, SetError> {
    if let ("backup.recipient", Some(text)) = (&*canonical_key(key), value.as_str()) {
        check_recipient(text).map_err(|reason| SetError::Invalid { reason })?;
    }
    Ok(value)
}

/// Stores the changes, the notification for other nodes and the audit rows in one transaction. It also
/// reads the existing changes that the new ones must be consistent with.
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
                // Changes by a remote caller while auth is disabled are reverted when setup completes. The
                // owner's changes stay.
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
