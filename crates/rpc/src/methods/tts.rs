//! `tts.*`: speech synthesis and its providers.

mod convert;

use super::config::choose;
use super::voice_params::{ProvidersParams, provider_of};
use crate::method_entry::{Audit, Call, Method, NoParams, method};
pub use convert::{CONVERT, ConvertParams, ConvertResult};
use gatehouse_domain::{Problem, Scope};
use gatehouse_voice::{ProviderStatus, SpeechRequest, TtsId, TtsStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub const STATUS: Method = method!(
    "tts.status",
    "Returns the provider of text-to-speech and whether it is on.",
    Some(Scope::Read),
    status(NoParams) -> TtsStatus
);

pub const PROVIDERS: Method = method!(
    "tts.providers",
    "Lists the text-to-speech providers that the settings allow to be listed.",
    Some(Scope::Read),
    providers(ProvidersParams) -> Vec<ProviderStatus>
);

pub const ENABLE: Method = method!(
    "tts.enable",
    "Turns text-to-speech on, optionally with another provider.",
    Some(Scope::Write),
    enable(EnableParams) -> EnableResult,
    errors: [Conflict],
    audit: Audit::Transaction("config.set")
);

pub const DISABLE: Method = method!(
    "tts.disable",
    "Turns text-to-speech off.",
    Some(Scope::Write),
    disable(NoParams) -> DisableResult,
    errors: [Conflict],
    audit: Audit::Transaction("config.set")
);

pub const SET_PROVIDER: Method = method!(
    "tts.setProvider",
    "Sets the text-to-speech provider. It need not be configured yet.",
    Some(Scope::Write),
    set_provider(ProviderParams) -> ProviderResult,
    errors: [Conflict],
    audit: Audit::Transaction("config.set")
);

/// Params of `tts.enable`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnableParams {
    /// The provider's ID or vendor name; unchanged by default.
    provider: Option<String>,
}

/// Result of `tts.enable`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EnableResult {
    /// Whether speech is on.
    pub enabled: bool,
    /// The ID of the chosen provider; empty when none is configured.
    pub provider: String,
}

/// Result of `tts.disable`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisableResult {
    /// Whether speech is on.
    pub enabled: bool,
}

/// Params that name a voice provider.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderParams {
    /// The provider's ID or vendor name.
    pub(super) provider: String,
}

/// The chosen voice provider.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProviderResult {
    /// The provider's ID.
    pub provider: &'static str,
}

impl From<ConvertParams> for SpeechRequest {
    fn from(params: ConvertParams) -> Self {
        Self {
            provider: params.provider,
            persona: params.persona,
            voice: params.voice_id,
            model: params.model,
            format: params.format,
            speed: params.speed,
            stability: params.stability,
            similarity_boost: params.similarity_boost,
            ..Self::new(params.text)
        }
    }
}

async fn status(call: Call, _: NoParams) -> Result<TtsStatus, Problem> {
    Ok(call.services.voice.tts_status().await)
}

async fn providers(call: Call, params: ProvidersParams) -> Result<Vec<ProviderStatus>, Problem> {
    Ok(call.services.voice.tts_providers(params.details).await)
}

/// Makes both changes in one transaction. Speech is therefore never on with the previous provider.
async fn enable(call: Call, params: EnableParams) -> Result<EnableResult, Problem> {
    let mut values = vec![("voice.tts.enabled".to_owned(), json!(true))];
    if let Some(name) = &params.provider {
        let id: TtsId = provider_of(name)?;
        values.push(("voice.tts.provider".to_owned(), json!(id)));
    }
    choose(&call, values).await?;
    let now = call.services.voice.tts_status().await;
    Ok(EnableResult {
        enabled: now.enabled,
        provider: now.provider,
    })
}

async fn disable(call: Call, _: NoParams) -> Result<DisableResult, Problem> {
    let off = vec![("voice.tts.enabled".to_owned(), json!(false))];
    choose(&call, off).await?;
    Ok(DisableResult { enabled: false })
}

async fn set_provider(call: Call, params: ProviderParams) -> Result<ProviderResult, Problem> {
    let id: TtsId = provider_of(&params.provider)?;
    choose(&call, vec![("voice.tts.provider".to_owned(), json!(id))]).await?;
    Ok(ProviderResult {
        provider: id.as_str(),
    })
}
