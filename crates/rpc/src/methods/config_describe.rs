//! `config.describe`: metadata of settings, for building forms. `config.get` returns the values.

use super::config::GetParams;
use crate::method_entry::{Call, Method, method};
use gatehouse_config::{Change, KeySpec, Kind, Rule, find_key};
use gatehouse_domain::{Problem, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Number, Value};

pub const DESCRIBE: Method = method!(
    "config.describe",
    "Describes the settings: their kinds, bounds and defaults, who may change them and when a \
     change takes effect.",
    Some(Scope::Read),
    describe(GetParams) -> DescribeResult
);

/// Result of `config.describe`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DescribeResult {
    /// The settings that `config.get` returns for the same keys, in the same order.
    pub settings: Vec<SettingDescription>,
    /// All settings, by key, whose new value takes effect at the next start of this node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restart_pending: Vec<String>,
}

/// The metadata of one setting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingDescription {
    /// The dotted key.
    pub key: String,
    /// A one-line description.
    pub doc: &'static str,
    /// The type of the value.
    pub kind: SettingKind,
    /// The minimum of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub min: Option<Number>,
    /// The maximum of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub max: Option<Number>,
    /// The permitted values of a text or of each text in a list; absent when any text is permitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<&'static str>,
    /// The default; null when there is none or when it derives from other settings.
    pub default: Value,
    /// An example for a setting without a default.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub example: Value,
    /// Whether the value is a secret.
    pub secret: bool,
    /// How a change takes effect.
    pub change: SettingChange,
    /// With `elsewhere`, the operation that changes the setting; with `never`, the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Whether a change needs `operator.admin`.
    pub admin: bool,
    /// Whether a change needs a recent confirmation.
    pub confirmed: bool,
}

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// True or false.
    Flag,
    /// An integer.
    Whole,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list of texts.
    List,
    /// An object with text values: environment variables.
    Variables,
    /// An object with text values: HTTP headers.
    Headers,
    /// An object with one entry per model: `context`, `max_output`, `tools`, `vision`, `reasoning`,
    /// `price_in`, `price_out` and `price_cached`.
    Models,
}

/// How a change takes effect.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingChange {
    /// Immediately.
    Live,
    /// At the next start.
    Restart,
    /// Only through another operation.
    Elsewhere,
    /// Not while the gateway is running.
    Never,
}

impl SettingDescription {
    fn of(key: String, spec: &KeySpec) -> Self {
        let (kind, min, max, rule) = match spec.kind {
            Kind::Flag => (SettingKind::Flag, None, None, None),
            Kind::Whole { min, max } => {
                let max = Some(max).filter(|max| *max < i64::MAX);
                let max = max.map(Number::from);
                (SettingKind::Whole, Some(min.into()), max, None)
            }
            Kind::Number {
                min_thousandths,
                max_thousandths,
            } => (
                SettingKind::Number,
                Number::from_f64(f64::from(min_thousandths) / 1000.0),
                Number::from_f64(f64::from(max_thousandths) / 1000.0),
                None,
            ),
            Kind::Text(rule) => (SettingKind::Text, None, None, Some(rule)),
            Kind::List(rule) => (SettingKind::List, None, None, Some(rule)),
            Kind::Variables => (SettingKind::Variables, None, None, None),
            Kind::Headers => (SettingKind::Headers, None, None, None),
            Kind::Models => (SettingKind::Models, None, None, None),
        };
        let one_of = match rule {
            Some(Rule::OneOf(words)) => words.to_vec(),
            Some(Rule::Provider(providers)) => providers.iter().map(|(id, _)| *id).collect(),
            _ => Vec::new(),
        };
        let (change, reason) = match spec.change {
            Change::Live => (SettingChange::Live, None),
            Change::Restart => (SettingChange::Restart, None),
            Change::Elsewhere(what) => (SettingChange::Elsewhere, Some(what)),
            Change::Never(why) => (SettingChange::Never, Some(why)),
        };
        Self {
            key,
            doc: spec.doc,
            kind,
            min,
            max,
            one_of,
            default: spec.default_json(),
            example: spec.example_json(),
            secret: spec.is_secret(),
            change,
            reason,
            admin: spec.needs_admin(),
            confirmed: spec.needs_step_up(),
        }
    }
}

async fn describe(call: Call, params: GetParams) -> Result<DescribeResult, Problem> {
    let shown = super::config::shown(&call, params).await?;
    let described = shown.into_iter().filter_map(|setting| {
        let spec = find_key(&setting.key)?;
        Some(SettingDescription::of(setting.key, spec))
    });
    Ok(DescribeResult {
        settings: described.collect(),
        restart_pending: call.services.config.restart_pending(),
    })
}
