//! `stt.*`: speech recognition and its providers.

use super::config::choose;
use super::tts::{ProviderParams, ProviderResult};
use super::voice_params::{Base64, ProvidersParams, provider_of};
use crate::method_entry::{Audit, Call, Method, NoParams, method};
use gatehouse_domain::{Problem, Scope, input};
use gatehouse_services::to_problem;
use gatehouse_voice::{
    ProviderStatus, SttId, SttStatus, SubtitleFormat, TranscribeRequest, Transcript,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;

pub const STATUS: Method = method!(
    "stt.status",
    "Returns the provider of speech-to-text and whether it is on.",
    Some(Scope::Read),
    status(NoParams) -> SttStatus
);

pub const PROVIDERS: Method = method!(
    "stt.providers",
    "Lists the speech-to-text providers that the settings allow to be listed.",
    Some(Scope::Read),
    providers(ProvidersParams) -> Vec<ProviderStatus>
);

pub const SET_PROVIDER: Method = method!(
    "stt.setProvider",
    "Sets the speech-to-text provider. It need not be configured yet.",
    Some(Scope::Write),
    set_provider(ProviderParams) -> ProviderResult,
    errors: [Conflict],
    audit: Audit::Transaction("config.set")
);

pub const TRANSCRIBE: Method = method!(
    "stt.transcribe",
    "Transcribes speech.",
    Some(Scope::Write),
    transcribe(TranscribeParams) -> TranscribeResult,
    long_params: true,
    ends_with_caller: true,
    errors: [PayloadTooLarge, NotConfigured, ProviderFailed, Timeout, VaultSealed],
    audit: Audit::Unrecorded("asks a provider")
);

/// Params of `stt.transcribe`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscribeParams {
    /// The audio, in base64; at most 25 MiB decoded.
    #[schemars(with = "String")]
    audio: Base64,
    /// The format: `mp3`, `opus`, `ogg`, `aac`, `pcm`, `wav`, `webm`, `flac` or `m4a`. The format detected
    /// in the audio takes precedence.
    format: Option<String>,
    /// The expected language, as an ISO 639-1 code.
    language: Option<String>,
    /// Context such as names and words that are likely to occur.
    prompt: Option<String>,
    /// The provider's ID or vendor name; the configured one by default.
    provider: Option<String>,
    /// `json` by default. With `srt` or `vtt` the result also contains subtitles.
    #[serde(
        default,
        alias = "responseFormat",
        deserialize_with = "input::or_default"
    )]
    response_format: ResponseFormat,
}

/// The additional output format of a transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResponseFormat {
    /// No additional output.
    #[default]
    Json,
    /// `SubRip`.
    Srt,
    /// `WebVTT`.
    Vtt,
}

/// Omits the audio and the prompt, which are private.
impl fmt::Debug for TranscribeParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscribeParams")
            .field("format", &self.format)
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

/// Result of `stt.transcribe`.
#[derive(Serialize, JsonSchema)]
pub struct TranscribeResult {
    /// The recognized text.
    #[serde(flatten)]
    pub transcript: Transcript,
    /// The transcript as subtitles, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitles: Option<String>,
}

/// Omits the transcript, which is private.
impl fmt::Debug for TranscribeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscribeResult").finish_non_exhaustive()
    }
}

async fn status(call: Call, _: NoParams) -> Result<SttStatus, Problem> {
    Ok(call.services.voice.stt_status().await)
}

async fn providers(call: Call, params: ProvidersParams) -> Result<Vec<ProviderStatus>, Problem> {
    Ok(call.services.voice.stt_providers(params.details).await)
}

async fn set_provider(call: Call, params: ProviderParams) -> Result<ProviderResult, Problem> {
    let id: SttId = provider_of(&params.provider)?;
    choose(&call, vec![("voice.stt.provider".to_owned(), json!(id))]).await?;
    Ok(ProviderResult {
        provider: id.as_str(),
    })
}

async fn transcribe(call: Call, params: TranscribeParams) -> Result<TranscribeResult, Problem> {
    let audio = params.audio.decoded("audio")?;
    let request = TranscribeRequest {
        format: params.format,
        language: params.language,
        prompt: params.prompt,
        provider: params.provider,
        ..TranscribeRequest::new(audio.into())
    };
    let transcript = call
        .services
        .voice
        .transcribe(request)
        .await
        .map_err(to_problem)?;
    let subtitles = match params.response_format {
        ResponseFormat::Json => None,
        ResponseFormat::Srt => Some(transcript.subtitles(SubtitleFormat::Srt)),
        ResponseFormat::Vtt => Some(transcript.subtitles(SubtitleFormat::Vtt)),
    };
    Ok(TranscribeResult {
        transcript,
        subtitles,
    })
}
