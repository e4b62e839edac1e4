//! Converts text to speech.

use crate::method_entry::{Audit, Call, Method, method};
use crate::methods::voice_params::{SHARE, SPEED, encode, within};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_voice::{Attempt, Converted, TtsId};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

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

/// Params of `tts.convert`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertParams {
    /// The text. Markdown markup is not spoken.
    pub(super) text: String,
    /// The provider's ID or vendor name; the persona's or the configured one by default.
    pub(super) provider: Option<String>,
    /// The persona's ID, or `none`; the active persona by default.
    #[serde(alias = "personaId", alias = "persona_id")]
    pub(super) persona: Option<String>,
    /// The provider's name or ID of the voice.
    #[serde(rename = "voiceId", alias = "voice_id")]
    pub(super) voice_id: Option<String>,
    pub(super) model: Option<String>,
    /// `mp3` (the default), `opus`, `ogg`, `aac`, `pcm`, `wav` or `flac`.
    pub(super) format: Option<String>,
    /// The speaking speed; 1 is normal.
    #[serde(default, deserialize_with = "speed")]
    #[schemars(range(min = 0.25, max = 4.0))]
    pub(super) speed: Option<f64>,
    /// The stability of the voice; higher is more even.
    #[serde(default, deserialize_with = "share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) stability: Option<f64>,
    /// The similarity to the original voice.
    #[serde(
        default,
        rename = "similarityBoost",
        alias = "similarity_boost",
        deserialize_with = "share"
    )]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) similarity_boost: Option<f64>,
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

/// Validates during deserialization, so an error names the field in the caller's spelling.
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

async fn convert(call: Call, params: ConvertParams) -> Result<ConvertResult, Problem> {
    let made = call.services.voice.convert(params.into()).await;
    let made = made.map_err(to_problem)?;
    Ok(made.into())
}
