//! What the settings say of this room.

use crate::provider::{SttId, TtsId};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct VoiceSettings {
    /// `voice.local_concurrency`: programs at a time.
    pub local_concurrency: usize,
    /// `voice.cache_max_bytes`: how much synthesised audio is kept; 0 keeps none.
    pub cache_max_bytes: u64,
    /// `voice.audio_max_bytes`: how much audio of conversations is kept.
    pub audio_max_bytes: u64,
    /// `[voice.tts]`
    pub tts: TtsSettings,
    /// `[voice.stt]`
    pub stt: SttSettings,
    /// The model provider `openai`, whose key and address may be borrowed.
    pub openai: Borrowed,
    /// What programs inherit of this process's environment: `PATH`, `HOME`, `LANG`, `TZ`.
    pub child_variables: Vec<(String, OsString)>,
    /// How long others may take.
    pub patience: Patience,
}

/// How long others may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A vendor until it begins to answer.
    pub answer: Duration,
    /// A vendor between two pieces of its answer.
    pub idle: Duration,
    /// A program in all.
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

/// A key that another part of the settings has.
#[derive(Clone, Debug, Default)]
pub struct Borrowed {
    /// `models.providers.openai.base_url`, when it is set.
    pub base_url: Option<Url>,
    /// `models.providers.openai.api_key`.
    pub api_key: Option<SecretString>,
    /// `OPENAI_API_KEY`
    pub environment: Option<SecretString>,
}

/// `[voice.tts]`
#[derive(Clone, Debug)]
pub struct TtsSettings {
    /// Whether there is any speech.
    pub enabled: bool,
    /// Who speaks; the first that is configured when absent.
    pub provider: Option<TtsId>,
    /// Who is shown; all when empty.
    pub shown: Vec<TtsId>,
    /// What of agents' answers is spoken.
    pub auto: AutoSpeak,
    /// The longest text, in characters.
    pub max_text_length: usize,
    /// Who is tried when one fails, in this order.
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
    /// Whether anything is understood.
    pub enabled: bool,
    /// Who listens; the first that is configured when absent.
    pub provider: Option<SttId>,
    /// Who is shown; all when empty.
    pub shown: Vec<SttId>,
    /// Who is tried when one fails, in this order.
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

/// `[voice.tts.<provider>]`. The table of settings says which of these a provider has; the name there is
/// in the comment where it differs.
#[derive(Clone, Debug, Default)]
pub struct TtsProviderSettings {
    /// `api_key`
    pub api_key: Option<SecretString>,
    /// `base_url`, or `endpoint`.
    pub base_url: Option<Url>,
    /// The address is not the one that `api_key` and the borrowed keys belong to: they are not sent
    /// there.
    pub moved: bool,
    /// `voice`, or `voice_id`.
    pub voice: Option<String>,
    /// `model`
    pub model: Option<String>,
    /// `language_code`
    pub language: Option<String>,
    /// `speed`, or `speaking_rate`.
    pub speed: Option<f64>,
    /// `stability`
    pub stability: Option<f64>,
    /// `similarity_boost`
    pub similarity_boost: Option<f64>,
    /// `binary_path`
    pub binary_path: Option<PathBuf>,
    /// `model_path`
    pub model_path: Option<PathBuf>,
    /// `config_path`
    pub config_path: Option<PathBuf>,
    /// `speaker_id`
    pub speaker_id: Option<u32>,
    /// `length_scale`: lower is faster.
    pub length_scale: Option<f64>,
}

/// `[voice.stt.<provider>]`, in the same way.
#[derive(Clone, Debug, Default)]
pub struct SttProviderSettings {
    /// `api_key`
    pub api_key: Option<SecretString>,
    /// `base_url`, or `endpoint`.
    pub base_url: Option<Url>,
    /// The address is not the one that `api_key` and the borrowed keys belong to: they are not sent
    /// there.
    pub moved: bool,
    /// `model`
    pub model: Option<String>,
    /// `language`
    pub language: Option<String>,
    /// `smart_format`
    pub smart_format: Option<bool>,
    /// `binary_path`
    pub binary_path: Option<PathBuf>,
    /// `model_path`, or `model_dir`.
    pub model_path: Option<PathBuf>,
}

/// What of agents' answers is spoken without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AutoSpeak {
    /// Everything.
    Always,
    /// Nothing.
    #[default]
    Off,
    /// Answers to what was spoken.
    Inbound,
    /// Answers with `[[tts]]` in them.
    Tagged,
}
