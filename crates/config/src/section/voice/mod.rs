//! `[voice]`, `[voice.tts]`, `[voice.stt]` and the tables of their providers. This module does not check whether
//! the configuration of a provider is complete, because the parts may be set one at a time.

pub(crate) mod keys;
pub(crate) mod providers;
pub(crate) mod stt;
#[cfg(test)]
mod tests;
pub(crate) mod tts;
pub(crate) mod wyoming;

use crate::invalid_value::InvalidValue;
use crate::key::Named;
use crate::merge::{InvalidSetting, Reader};
use providers::id_of;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use url::Url;

/// The section `[voice]`.
#[derive(Clone, Debug)]
pub struct Voice {
    /// How many local programs run concurrently.
    pub local_concurrency: usize,
    /// How long an unused local program is kept, in minutes; 0 keeps none.
    pub keep_warm_minutes: u64,
    /// Maximum size of the speech cache; 0 disables it.
    pub cache_max_bytes: u64,
    /// Maximum size of the stored conversation audio.
    pub audio_max_bytes: u64,
    pub tts: VoiceSection,
    pub stt: VoiceSection,
    /// `voice.tts.auto`: which answers are spoken automatically.
    pub auto: AutoSpeak,
    /// `voice.tts.max_text_length`, in characters.
    pub max_text_length: usize,
    pub wyoming: wyoming::Wyoming,
}

/// The keys that `[voice.tts]` and `[voice.stt]` share. Providers are listed by ID, even if the settings
/// use the vendor's name.
#[derive(Clone, Debug)]
pub struct VoiceSection {
    pub enabled: bool,
    pub provider: Option<&'static str>,
    /// The providers to show; all if empty.
    pub shown: Vec<&'static str>,
    /// The providers that are used if the first one fails, in order.
    pub fallback: Vec<&'static str>,
    /// Each provider's own table.
    pub providers: BTreeMap<&'static str, VoiceProvider>,
}

/// `[voice.tts.<provider>]` or `[voice.stt.<provider>]`. Keys that the table of the provider does not have are
/// `None`.
#[derive(Clone, Debug, Default)]
pub struct VoiceProvider {
    pub api_key: Option<SecretString>,
    /// `base_url` or `endpoint`; no trailing slash.
    pub base_url: Option<Url>,
    /// `voice` or `voice_id`.
    pub voice: Option<String>,
    pub model: Option<String>,
    /// `language` or `language_code`.
    pub language: Option<String>,
    /// `speed` or `speaking_rate`.
    pub speed: Option<f64>,
    pub stability: Option<f64>,
    pub similarity_boost: Option<f64>,
    pub smart_format: Option<bool>,
    pub fit_audio_context: Option<bool>,
    /// The path of the program. A name without a directory is kept unchanged and later searched for on `PATH`.
    pub binary_path: Option<PathBuf>,
    /// `model_path` or `model_dir`.
    pub model_path: Option<PathBuf>,
    pub config_path: Option<PathBuf>,
    pub speaker_id: Option<u32>,
    pub length_scale: Option<f64>,
}

impl Voice {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            local_concurrency: reader.whole("voice.local_concurrency")?,
            keep_warm_minutes: reader.whole("voice.keep_warm_minutes")?,
            cache_max_bytes: reader.whole("voice.cache_max_bytes")?,
            audio_max_bytes: reader.whole("voice.audio_max_bytes")?,
            tts: VoiceSection::read(reader, "voice.tts", tts::PROVIDERS)?,
            stt: VoiceSection::read(reader, "voice.stt", stt::PROVIDERS)?,
            auto: reader.required("voice.tts.auto")?,
            max_text_length: reader.whole("voice.tts.max_text_length")?,
            wyoming: wyoming::Wyoming::read(reader)?,
        })
    }
}

impl VoiceSection {
    fn read(reader: &Reader<'_>, section: &str, of: &[Named]) -> Result<Self, InvalidSetting> {
        let key = |name: &str| format!("{section}.{name}");
        let table = |(id, _): &Named| Ok((*id, VoiceProvider::read(reader, &key(id))?));
        Ok(Self {
            enabled: reader.flag(&key("enabled"))?,
            provider: one(reader, of, &key("provider"))?,
            shown: several(reader, of, &key("providers"))?,
            fallback: several(reader, of, &key("fallback"))?,
            providers: of
                .iter()
                .map(table)
                .collect::<Result<_, InvalidSetting>>()?,
        })
    }
}

impl VoiceProvider {
    /// Reads a table. Keys that the provider does not have are absent from the merged values and read as unset.
    fn read(reader: &Reader<'_>, table: &str) -> Result<Self, InvalidSetting> {
        let key = |name: &str| format!("{table}.{name}");
        let text = |name: &str| reader.text(&key(name)).map(str::to_owned);
        let number = |name: &str| reader.number(&key(name));
        let url = |name: &str| reader.optional::<Url>(&key(name));
        let file = |name: &str| reader.file(&key(name));
        let flag = |name: &str| {
            let key = key(name);
            reader.is_set(&key).then(|| reader.flag(&key)).transpose()
        };
        Ok(Self {
            api_key: text("api_key").map(SecretString::from),
            base_url: match url("base_url")? {
                None => url("endpoint")?,
                base_url => base_url,
            },
            voice: text("voice").or_else(|| text("voice_id")),
            model: text("model"),
            language: text("language").or_else(|| text("language_code")),
            speed: number("speed").or_else(|| number("speaking_rate")),
            stability: number("stability"),
            similarity_boost: number("similarity_boost"),
            smart_format: flag("smart_format")?,
            fit_audio_context: flag("fit_audio_context")?,
            binary_path: match text("binary_path") {
                Some(name) if !name.contains('/') => Some(name.into()),
                _ => file("binary_path"),
            },
            model_path: file("model_path").or_else(|| file("model_dir")),
            config_path: file("config_path"),
            speaker_id: reader
                .is_set(&key("speaker_id"))
                .then(|| reader.whole(&key("speaker_id")))
                .transpose()?,
            length_scale: number("length_scale"),
        })
    }
}

fn one(
    reader: &Reader<'_>,
    of: &[Named],
    key: &str,
) -> Result<Option<&'static str>, InvalidSetting> {
    let name = reader.text(key);
    name.map(|name| {
        id_of(of, name).map_err(|reason| InvalidSetting {
            key: key.to_owned(),
            reason,
        })
    })
    .transpose()
}

/// Reads a list of providers. Drops later duplicates.
fn several(
    reader: &Reader<'_>,
    of: &[Named],
    key: &str,
) -> Result<Vec<&'static str>, InvalidSetting> {
    let mut ids = Vec::new();
    for name in reader.list::<String>(key)? {
        let id = id_of(of, &name).map_err(|reason| InvalidSetting {
            key: key.to_owned(),
            reason,
        })?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Which agent answers are spoken automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AutoSpeak {
    /// Every answer is spoken.
    Always,
    /// No answer is spoken.
    #[default]
    Off,
    /// Answers to spoken messages.
    Inbound,
    /// Answers that contain `[[tts]]`.
    Tagged,
}

impl FromStr for AutoSpeak {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "always" => Ok(Self::Always),
            "off" => Ok(Self::Off),
            "inbound" => Ok(Self::Inbound),
            "tagged" => Ok(Self::Tagged),
            _ => Err(InvalidValue::expected_one_of(keys::AUTO)),
        }
    }
}
