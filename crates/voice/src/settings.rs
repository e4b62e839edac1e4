//! The settings of this crate.

use crate::provider::{SttId, TtsId};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// All voice settings.
#[derive(Clone, Debug, Default)]
pub struct VoiceSettings {
    /// `voice.local_concurrency`: the maximum number of concurrent programs.
    pub local_concurrency: usize,
    /// `voice.cache_max_bytes`: the size of the cache of synthesized audio; 0 disables it.
    pub cache_max_bytes: u64,
    /// `voice.audio_max_bytes`: how much audio of conversations is kept.
    pub audio_max_bytes: u64,
    /// `[voice.tts]`
    pub tts: TtsSettings,
    /// `[voice.stt]`
    pub stt: SttSettings,
    /// The model provider `openai`, whose key and address may be borrowed.
    pub openai: Borrowed,
    /// Environment variables passed to programs: `PATH`, `HOME`, `LANG`, `TZ`.
    pub child_variables: Vec<(String, OsString)>,
    pub patience: Patience,
}

/// Timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until a vendor begins to respond.
    pub answer: Duration,
    /// Between two chunks of a vendor's response.
    pub idle: Duration,
    /// Total run time of a program.
    pub program: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            answer: Duration::from_mins(2),
            idle: Duration::from_secs(30),
            program: Duration::from_mins(5),
        }
    }
}

/// Credentials from another section of the settings.
#[derive(Clone, Debug, Default)]
pub struct Borrowed {
    /// `models.providers.openai.base_url`, if set.
    pub base_url: Option<Url>,
    /// `models.providers.openai.api_key`.
    pub api_key: Option<SecretString>,
    /// `OPENAI_API_KEY`
    pub environment: Option<SecretString>,
}

/// `[voice.tts]`
#[derive(Clone, Debug)]
pub struct TtsSettings {
    /// Whether speech is enabled.
    pub enabled: bool,
    /// The provider; `None` selects the first that is configured.
    pub provider: Option<TtsId>,
    /// The providers to list; empty lists all.
    pub shown: Vec<TtsId>,
    /// Which agent answers are spoken automatically.
    pub auto: AutoSpeak,
    /// The longest text, in characters.
    pub max_text_length: usize,
    /// The providers to try when one fails, in order.
    pub fallback: Vec<TtsId>,
    /// The providers' own settings.
    pub providers: BTreeMap<TtsId, TtsProviderSettings>,
}

impl Default for TtsSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: None,
            shown: Vec::new(),
            auto: AutoSpeak::Off,
            max_text_length: 4096,
            fallback: Vec::new(),
            providers: BTreeMap::new(),
        }
    }
}

/// `[voice.stt]`
#[derive(Clone, Debug)]
pub struct SttSettings {
    /// Whether transcription is enabled.
    pub enabled: bool,
    /// The provider; `None` selects the first that is configured.
    pub provider: Option<SttId>,
    /// The providers to list; empty lists all.
    pub shown: Vec<SttId>,
    /// The providers to try when one fails, in order.
    pub fallback: Vec<SttId>,
    /// The providers' own settings.
    pub providers: BTreeMap<SttId, SttProviderSettings>,
}

impl Default for SttSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: None,
            shown: Vec::new(),
            fallback: Vec::new(),
            providers: BTreeMap::new(),
        }
    }
}

/// `[voice.tts.<provider>]`. The settings table defines which of these fields a provider has. The comments
/// give the names of settings that differ from the field.
#[derive(Clone, Debug, Default)]
pub struct TtsProviderSettings {
    pub api_key: Option<SecretString>,
    /// `base_url`, or `endpoint`.
    pub base_url: Option<Url>,
    /// The address is not the one that `api_key` and the borrowed keys belong to, so they are not sent there.
    pub moved: bool,
    /// `voice`, or `voice_id`.
    pub voice: Option<String>,
    pub model: Option<String>,
    /// `language_code`
    pub language: Option<String>,
    /// `speed`, or `speaking_rate`.
    pub speed: Option<f64>,
    pub stability: Option<f64>,
    pub similarity_boost: Option<f64>,
    pub binary_path: Option<PathBuf>,
    pub model_path: Option<PathBuf>,
    pub config_path: Option<PathBuf>,
    pub speaker_id: Option<u32>,
    /// `length_scale`: lower is faster.
    pub length_scale: Option<f64>,
}

/// `[voice.stt.<provider>]`, in the same form as [`TtsProviderSettings`].
#[derive(Clone, Debug, Default)]
pub struct SttProviderSettings {
    pub api_key: Option<SecretString>,
    /// `base_url`, or `endpoint`.
    pub base_url: Option<Url>,
    /// The address is not the one that `api_key` and the borrowed keys belong to, so they are not sent there.
    pub moved: bool,
    pub model: Option<String>,
    pub language: Option<String>,
    pub smart_format: Option<bool>,
    pub binary_path: Option<PathBuf>,
    /// `model_path`, or `model_dir`.
    pub model_path: Option<PathBuf>,
}

/// Which agent answers are spoken automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AutoSpeak {
    /// Every answer.
    Always,
    /// No answer.
    #[default]
    Off,
    /// Answers to spoken messages.
    Inbound,
    /// Answers that contain `[[tts]]`.
    Tagged,
}
