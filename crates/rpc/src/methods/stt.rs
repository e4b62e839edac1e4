//! `stt.*`: who listens, and listening.

use super::config::choose;
use super::tts::{ProviderParams, ProviderResult};
use super::voice_params::{Base64, provider_of};
use crate::method::{Audit, Call, Method, NoParams, method, told};
use gatehouse_domain::{Problem, Scope};
use gatehouse_voice::{
    ProviderStatus, SttId, SttStatus, SubtitleFormat, TranscribeRequest, Transcript,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;

/// `stt.status`.
pub const STATUS: Method = method!(
    "stt.status",
    "Who listens, and whether.",
    Some(Scope::Read),
    status(NoParams) -> SttStatus
);

/// `stt.providers`.
pub const PROVIDERS: Method = method!(
    "stt.providers",
    "Who can listen: those that the settings let be shown.",
    Some(Scope::Read),
    providers(NoParams) -> Vec<ProviderStatus>
);

/// `stt.setProvider`.
pub const SET_PROVIDER: Method = method!(
    "stt.setProvider",
    "Chooses who listens; one that is not configured yet may be chosen.",
    Some(Scope::Write),
    set_provider(ProviderParams) -> ProviderResult,
    errors: [Conflict],
    audit: Audit::Room("config.set")
);

/// `stt.transcribe`.
pub const TRANSCRIBE: Method = method!(
    "stt.transcribe",
    "Turns speech into text.",
    Some(Scope::Write),
    transcribe(TranscribeParams) -> TranscribeResult,
    long_params: true,
    ends_with_caller: true,
    errors: [PayloadTooLarge, NotConfigured, ProviderFailed, Timeout, VaultSealed],
    audit: Audit::Unnoted("asks a provider")
);

/// Params of `stt.transcribe`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscribeParams {
    /// The audio, in base64; at most 25 MiB of it.
    #[schemars(with = "String")]
    audio: Base64,
    /// What it is: `mp3`, `opus`, `ogg`, `aac`, `pcm`, `wav`, `webm`, `flac` or `m4a`; what it looks like
    /// counts more.
    format: Option<String>,
    /// The language to expect, as ISO 639-1.
    language: Option<String>,
    /// What it is about: names and words that may come.
    prompt: Option<String>,
    /// Who listens, by id or vendor's name; the chosen one when absent.
    provider: Option<String>,
    /// `json` when absent; with `srt` or `vtt` there are subtitles besides.
    #[serde(default, alias = "responseFormat")]
    response_format: ResponseFormat,
}

/// What the transcript is made into besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResponseFormat {
    /// Nothing.
    #[default]
    Json,
    /// `SubRip`.
    Srt,
    /// `WebVTT`.
    Vtt,
}

/// Audio and hint are the caller's own.
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
    /// What was heard.
    #[serde(flatten)]
    pub transcript: Transcript,
    /// The same as subtitles, when they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitles: Option<String>,
}

/// What was said is the speaker's own.
impl fmt::Debug for TranscribeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscribeResult").finish_non_exhaustive()
    }
}

async fn status(call: Call, _: NoParams) -> Result<SttStatus, Problem> {
    Ok(call.rooms.voice.stt_status().await)
}

async fn providers(call: Call, _: NoParams) -> Result<Vec<ProviderStatus>, Problem> {
    Ok(call.rooms.voice.stt_providers().await)
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
    let transcript = call.rooms.voice.transcribe(request).await.map_err(told)?;
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
