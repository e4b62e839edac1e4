//! `tts.*`: speech synthesis and its providers.

use super::config::choose;
use super::voice_params::{ProvidersParams, SHARE, SPEED, encode, provider_of, within};
use crate::method_entry::{Audit, Call, Method, NoParams, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_voice::{Attempt, Converted, ProviderStatus, SpeechRequest, TtsId, TtsStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use std::fmt;

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

pub const CONVERT: Method = method!(
    "tts.convert",
    "Converts text to speech and returns the audio.",
    Some(Scope::Write),
    convert(ConvertParams) -> ConvertResult,
    long_params: true,
    ends_with_caller: true,
    errors: [NotConfigured, ProviderFailed, Timeout, VaultSealed],
    audit: Audit::Unrecorded("asks a provider")
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

/// Params of `tts.convert`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertParams {
    /// The text. Markdown markup is not spoken.
    text: String,
    /// The provider's ID or vendor name; the persona's or the configured one by default.
    provider: Option<String>,
    /// The persona's ID, or `none`; the active persona by default.
    #[serde(alias = "personaId", alias = "persona_id")]
    persona: Option<String>,
    /// The provider's name or ID of the voice.
    #[serde(rename = "voiceId", alias = "voice_id")]
    voice_id: Option<String>,
    model: Option<String>,
    /// `mp3` (the default), `opus`, `ogg`, `aac`, `pcm`, `wav` or `flac`.
    format: Option<String>,
    /// The speaking speed; 1 is normal.
    #[serde(default, deserialize_with = "speed")]
    #[schemars(range(min = 0.25, max = 4.0))]
    speed: Option<f64>,
    /// The stability of the voice; higher is more even.
    #[serde(default, deserialize_with = "share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    stability: Option<f64>,
    /// The similarity to the original voice.
    #[serde(
        default,
        rename = "similarityBoost",
        alias = "similarity_boost",
        deserialize_with = "share"
    )]
    #[schemars(range(min = 0.0, max = 1.0))]
    similarity_boost: Option<f64>,
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

/// Omits the text, which is private.
impl fmt::Debug for ConvertParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvertParams")
            .field("provider", &self.provider)
            .field("persona", &self.persona)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// Validates while deserializing, so an error names the field as the caller wrote it.
fn speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    within(deserializer, &SPEED)
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    within(deserializer, &SHARE)
}

/// Result of `tts.convert`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConvertResult {
    /// The audio, in base64.
    pub audio: String,
    /// The audio format.
    pub format: &'static str,
    /// The media type of the audio.
    pub mime_type: &'static str,
    /// The measured duration in milliseconds; 0 if it could not be measured.
    pub duration_ms: u64,
    /// The size of the audio in bytes.
    pub size: usize,
    /// The provider that spoke.
    pub provider: TtsId,
    /// The ID of the persona, if any.
    pub persona: Option<String>,
    /// Whether the audio comes from the cache or from an identical request.
    pub cached: bool,
    /// The providers that were tried, in order.
    pub attempts: Vec<Attempt>,
    /// A warning for the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl fmt::Debug for ConvertResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvertResult")
            .field("format", &self.format)
            .field("size", &self.size)
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

impl From<Converted> for ConvertResult {
    fn from(made: Converted) -> Self {
        Self {
            audio: encode(&made.audio),
            format: made.format.as_str(),
            mime_type: made.format.mime_type(),
            duration_ms: made.duration_ms,
            size: made.audio.len(),
            provider: made.provider,
            persona: made.persona,
            cached: made.cached,
            attempts: made.attempts,
            warning: made.warning,
        }
    }
}

async fn status(call: Call, _: NoParams) -> Result<TtsStatus, Problem> {
    Ok(call.services.voice.tts_status().await)
}

async fn providers(call: Call, params: ProvidersParams) -> Result<Vec<ProviderStatus>, Problem> {
    Ok(call.services.voice.tts_providers(params.details).await)
}

/// Makes both changes in one transaction, so speech is never on with the previous provider.
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

async fn convert(call: Call, params: ConvertParams) -> Result<ConvertResult, Problem> {
    let made = call.services.voice.convert(params.into()).await;
    let made = made.map_err(to_problem)?;
    Ok(made.into())
}
