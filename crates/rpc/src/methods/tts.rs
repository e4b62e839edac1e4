//! `tts.*`: who speaks, and speaking.

use super::config::choose;
use super::voice_params::{SHARE, SPEED, encode, provider_of, within};
use crate::method::{Audit, Call, Method, NoParams, method, told};
use gatehouse_domain::{Problem, Scope};
use gatehouse_voice::{Attempt, Converted, ProviderStatus, SpeechRequest, TtsId, TtsStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use std::fmt;

/// `tts.status`.
pub const STATUS: Method = method!(
    "tts.status",
    "Who speaks, and whether.",
    Some(Scope::Read),
    status(NoParams) -> TtsStatus
);

/// `tts.providers`.
pub const PROVIDERS: Method = method!(
    "tts.providers",
    "Who can speak: those that the settings let be shown.",
    Some(Scope::Read),
    providers(NoParams) -> Vec<ProviderStatus>
);

/// `tts.enable`.
pub const ENABLE: Method = method!(
    "tts.enable",
    "Switches speech on; with a provider, chooses who speaks.",
    Some(Scope::Write),
    enable(EnableParams) -> EnableResult,
    errors: [Conflict],
    audit: Audit::Room("config.set")
);

/// `tts.disable`.
pub const DISABLE: Method = method!(
    "tts.disable",
    "Switches speech off.",
    Some(Scope::Write),
    disable(NoParams) -> DisableResult,
    errors: [Conflict],
    audit: Audit::Room("config.set")
);

/// `tts.setProvider`.
pub const SET_PROVIDER: Method = method!(
    "tts.setProvider",
    "Chooses who speaks; one that is not configured yet may be chosen.",
    Some(Scope::Write),
    set_provider(ProviderParams) -> ProviderResult,
    errors: [Conflict],
    audit: Audit::Room("config.set")
);

/// `tts.convert`.
pub const CONVERT: Method = method!(
    "tts.convert",
    "Speaks a text and answers with the audio.",
    Some(Scope::Write),
    convert(ConvertParams) -> ConvertResult,
    long_params: true,
    ends_with_caller: true,
    errors: [NotConfigured, ProviderFailed, Timeout, VaultSealed],
    audit: Audit::Unnoted("asks a provider")
);

/// Params of `tts.enable`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnableParams {
    /// Who is to speak, by id or vendor's name; who spoke before when absent.
    provider: Option<String>,
}

/// Result of `tts.enable`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EnableResult {
    /// Whether there is speech.
    pub enabled: bool,
    /// Who speaks; empty when nobody is configured.
    pub provider: String,
}

/// Result of `tts.disable`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisableResult {
    /// Whether there is speech.
    pub enabled: bool,
}

/// Params that name a provider of voice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderParams {
    /// The provider, by id or vendor's name.
    pub(super) provider: String,
}

/// A provider of voice that was chosen.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProviderResult {
    /// Its id.
    pub provider: &'static str,
}

/// Params of `tts.convert`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertParams {
    /// The text; Markdown is left out of what is said.
    text: String,
    /// Who speaks, by id or vendor's name; the persona's or the chosen one when absent.
    provider: Option<String>,
    /// The persona's id, or `none`; the active one when absent.
    #[serde(alias = "personaId", alias = "persona_id")]
    persona: Option<String>,
    /// The voice, by its name or id at the provider.
    #[serde(rename = "voiceId", alias = "voice_id")]
    voice_id: Option<String>,
    /// The model.
    model: Option<String>,
    /// `mp3` when absent; `opus`, `ogg`, `aac`, `pcm` or `wav`.
    format: Option<String>,
    /// 1 is as usual.
    #[serde(default, deserialize_with = "speed")]
    #[schemars(range(min = 0.25, max = 4.0))]
    speed: Option<f64>,
    /// How even.
    #[serde(default, deserialize_with = "share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    stability: Option<f64>,
    /// How close to the original voice.
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

/// The text is the caller's own.
impl fmt::Debug for ConvertParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvertParams")
            .field("provider", &self.provider)
            .field("persona", &self.persona)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// Checked while it is read, so that a refusal has the field's name as the caller wrote it.
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
    /// What it is.
    pub format: &'static str,
    /// The same as a media type.
    pub mime_type: &'static str,
    /// How long it lasts, measured; 0 when it could not be.
    pub duration_ms: u64,
    /// How many bytes of audio.
    pub size: usize,
    /// Who spoke.
    pub provider: TtsId,
    /// Whose persona it was.
    pub persona: Option<String>,
    /// Whether it was spoken before and kept.
    pub cached: bool,
    /// Who was asked, in order.
    pub attempts: Vec<Attempt>,
    /// What the caller should know.
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
    Ok(call.rooms.voice.tts_status().await)
}

async fn providers(call: Call, _: NoParams) -> Result<Vec<ProviderStatus>, Problem> {
    Ok(call.rooms.voice.tts_providers().await)
}

/// Both changes are one transaction: nobody finds speech on with the provider of before.
async fn enable(call: Call, params: EnableParams) -> Result<EnableResult, Problem> {
    let mut values = vec![("voice.tts.enabled".to_owned(), json!(true))];
    if let Some(name) = &params.provider {
        let id: TtsId = provider_of(name)?;
        values.push(("voice.tts.provider".to_owned(), json!(id)));
    }
    choose(&call, values).await?;
    let now = call.rooms.voice.tts_status().await;
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
    let made = call.rooms.voice.convert(params.into()).await;
    let made = made.map_err(told)?;
    Ok(made.into())
}
