//! The settings of this crate.

use crate::{ProviderSettings, SttId, TtsId};
pub use gatehouse_config::AutoSpeak;
use secrecy::SecretString;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;
use url::Url;

/// All voice settings.
#[derive(Clone, Debug, Default)]
pub struct VoiceSettings {
    /// `voice.local_concurrency`: the maximum number of concurrent programs.
    pub local_concurrency: usize,
    /// `voice.keep_warm_minutes`: how long an unused program keeps its model loaded; zero starts one per request.
    pub keep_warm: Duration,
    /// `voice.cache_max_bytes`: the size of the cache of synthesized audio; 0 disables it.
    pub cache_max_bytes: u64,
    /// `voice.audio_max_bytes`: the maximum size of the stored audio of conversations.
    pub audio_max_bytes: u64,
    /// The part of `[voice.tts]` that `[voice.stt]` has too.
    pub tts: SectionSettings<TtsId>,
    pub speaking: SpeakingSettings,
    /// `[voice.stt]`
    pub stt: SectionSettings<SttId>,
    /// The model provider `openai`, whose key and address may be borrowed.
    pub openai: Borrowed,
    /// Environment variables passed to programs: `PATH`, `HOME`, `LANG`, `TZ`.
    pub child_variables: Vec<(String, OsString)>,
    pub timeouts: Timeouts,
}

/// Timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The maximum wait for the beginning of a vendor's response.
    pub answer: Duration,
    /// The maximum wait between two chunks of a vendor's response.
    pub idle: Duration,
    /// Total run time of a program, or of a call of a Wyoming program.
    pub program: Duration,
    /// The time after the first attempt in which another attempt may start.
    pub retries_total: Duration,
    /// The wait before the first retry, unless the vendor specifies one. The wait doubles with each
    /// retry.
    pub retry_base: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            answer: Duration::from_mins(2),
            idle: Duration::from_secs(30),
            program: Duration::from_mins(5),
            retries_total: Duration::from_secs(20),
            retry_base: Duration::from_millis(500),
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

/// The keys that `[voice.tts]` and `[voice.stt]` have in common.
#[derive(Clone, Debug)]
pub struct SectionSettings<Id> {
    /// Whether this kind of provider is enabled.
    pub enabled: bool,
    /// The provider. `None` selects the first configured provider.
    pub provider: Option<Id>,
    /// The providers to list; empty lists all.
    pub shown: Vec<Id>,
    /// The providers to try when one fails, in order.
    pub fallback: Vec<Id>,
    /// The providers' own settings.
    pub providers: BTreeMap<Id, ProviderSettings>,
    /// Providers whose address differs from the address that the configured and borrowed keys belong to. Those keys are
    /// not sent to these providers.
    pub moved: BTreeSet<Id>,
}

impl<Id> Default for SectionSettings<Id> {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: None,
            shown: Vec::new(),
            fallback: Vec::new(),
            providers: BTreeMap::new(),
            moved: BTreeSet::new(),
        }
    }
}

/// The other keys of `[voice.tts]`.
#[derive(Clone, Debug)]
pub struct SpeakingSettings {
    /// Which agent answers are spoken automatically.
    pub auto: AutoSpeak,
    /// The longest text, in characters.
    pub max_text_length: usize,
}

impl Default for SpeakingSettings {
    fn default() -> Self {
        Self {
            auto: AutoSpeak::Off,
            max_text_length: 4096,
        }
    }
}
