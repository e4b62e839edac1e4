//! `config.*`: settings, the origin of each value, and run-time changes.

mod change;

use crate::method_entry::{Audit, Call, Method, method};
use change::ChangeError;
pub(crate) use change::change;
pub(super) use change::change_fields;
#[cfg(feature = "voice")]
pub(super) use change::choose;
use gatehouse_config::{Origin, SettingValue, canonical_key, check_key, find_key};
use gatehouse_domain::{Problem, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
        // Every error in a key becomes an error in the param `keys`.
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

impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused { error, .. } => error.into(),
            ChangeError::Store(error) => error.into(),
        }
    }
}
