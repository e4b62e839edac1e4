//! `[voice]`, `[voice.tts]`, `[voice.stt]` and the tables of their providers. Who is configured well
//! enough to be used is not decided here: the parts may be set one after the other.

mod keys;
pub(crate) mod providers;
#[cfg(test)]
mod tests;

pub(crate) use keys::KEYS;

use crate::merge::{Bad, Reader};
use crate::value::InvalidValue;
use providers::{Named, STT_PROVIDERS, TTS_PROVIDERS, id_of};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use url::Url;

/// `[voice]`
#[derive(Clone, Debug)]
pub struct Voice {
    /// How many programs run at a time.
    pub local_concurrency: usize,
    /// How much speech is kept to be given out again; 0 keeps none.
    pub cache_max_bytes: u64,
    /// How much audio of conversations is kept.
    pub audio_max_bytes: u64,
    /// `[voice.tts]`
    pub tts: VoiceTts,
    /// `[voice.stt]`
    pub stt: VoiceStt,
}

/// `[voice.tts]`. Providers stand here by their ids, whatever they were called.
#[derive(Clone, Debug)]
pub struct VoiceTts {
    /// Whether text is spoken.
    pub enabled: bool,
    /// Who speaks.
    pub provider: Option<&'static str>,
    /// Who is shown; all when empty.
    pub shown: Vec<&'static str>,
    /// Which answers are spoken unasked.
    pub auto: AutoSpeak,
    /// The longest text, in characters.
    pub max_text_length: usize,
    /// Who speaks when one fails.
    pub fallback: Vec<&'static str>,
    /// Each provider's own table.
    pub providers: BTreeMap<&'static str, VoiceProvider>,
}

/// `[voice.stt]`, in the same way.
#[derive(Clone, Debug)]
pub struct VoiceStt {
    /// Whether speech is understood.
    pub enabled: bool,
    /// Who listens.
    pub provider: Option<&'static str>,
    /// Who is shown; all when empty.
    pub shown: Vec<&'static str>,
    /// Who listens when one fails.
    pub fallback: Vec<&'static str>,
    /// Each provider's own table.
    pub providers: BTreeMap<&'static str, VoiceProvider>,
}

/// `[voice.tts.<provider>]` or `[voice.stt.<provider>]`: what the provider's table does not have is none.
#[derive(Clone, Debug, Default)]
pub struct VoiceProvider {
    /// `api_key`
    pub api_key: Option<SecretString>,
    /// `base_url`, or `endpoint`; without a slash at the end.
    pub base_url: Option<Url>,
    /// `voice`, or `voice_id`.
    pub voice: Option<String>,
    /// `model`
    pub model: Option<String>,
    /// `language`, or `language_code`.
    pub language: Option<String>,
    /// `speed`, or `speaking_rate`.
    pub speed: Option<f64>,
    /// `stability`
    pub stability: Option<f64>,
    /// `similarity_boost`
    pub similarity_boost: Option<f64>,
    /// `smart_format`
    pub smart_format: Option<bool>,
    /// `binary_path`; a bare name is left as it is, to be searched for on `PATH`.
    pub binary_path: Option<PathBuf>,
    /// `model_path`, or `model_dir`.
    pub model_path: Option<PathBuf>,
    /// `config_path`
    pub config_path: Option<PathBuf>,
    /// `speaker_id`
    pub speaker_id: Option<u32>,
    /// `length_scale`
    pub length_scale: Option<f64>,
}

impl Voice {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            local_concurrency: reader.whole("voice.local_concurrency")?,
            cache_max_bytes: reader.whole("voice.cache_max_bytes")?,
            audio_max_bytes: reader.whole("voice.audio_max_bytes")?,
            tts: VoiceTts {
                enabled: reader.flag("voice.tts.enabled")?,
                provider: one(reader, TTS_PROVIDERS, "voice.tts.provider")?,
                shown: several(reader, TTS_PROVIDERS, "voice.tts.providers")?,
                auto: reader.required("voice.tts.auto")?,
                max_text_length: reader.whole("voice.tts.max_text_length")?,
                fallback: several(reader, TTS_PROVIDERS, "voice.tts.fallback")?,
                providers: tables(reader, "voice.tts", TTS_PROVIDERS)?,
            },
            stt: VoiceStt {
                enabled: reader.flag("voice.stt.enabled")?,
                provider: one(reader, STT_PROVIDERS, "voice.stt.provider")?,
                shown: several(reader, STT_PROVIDERS, "voice.stt.providers")?,
                fallback: several(reader, STT_PROVIDERS, "voice.stt.fallback")?,
                providers: tables(reader, "voice.stt", STT_PROVIDERS)?,
            },
        })
    }
}

fn tables(
    reader: &Reader<'_>,
    section: &str,
    providers: &[Named],
) -> Result<BTreeMap<&'static str, VoiceProvider>, Bad> {
    let table = |(id, _): &Named| {
        Ok((
            *id,
            VoiceProvider::read(reader, &format!("{section}.{id}"))?,
        ))
    };
    providers.iter().map(table).collect()
}

impl VoiceProvider {
    /// A key that a provider does not have is not among the merged ones, and so not set.
    fn read(reader: &Reader<'_>, table: &str) -> Result<Self, Bad> {
        let key = |name: &str| format!("{table}.{name}");
        let text = |name: &str| reader.text(&key(name)).map(str::to_owned);
        let number = |name: &str| reader.number(&key(name));
        let url = |name: &str| reader.optional::<Url>(&key(name));
        let file = |name: &str| reader.file(&key(name));
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
            smart_format: reader
                .is_set(&key("smart_format"))
                .then(|| reader.flag(&key("smart_format")))
                .transpose()?,
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

fn one(reader: &Reader<'_>, of: &[Named], key: &str) -> Result<Option<&'static str>, Bad> {
    let name = reader.text(key);
    name.map(|name| {
        id_of(of, name).map_err(|reason| Bad {
            key: key.to_owned(),
            reason,
        })
    })
    .transpose()
}

/// A provider that is named twice counts once, where it comes first.
fn several(reader: &Reader<'_>, of: &[Named], key: &str) -> Result<Vec<&'static str>, Bad> {
    let mut ids = Vec::new();
    for name in reader.list::<String>(key)? {
        let id = id_of(of, &name).map_err(|reason| Bad {
            key: key.to_owned(),
            reason,
        })?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Which answers of agents are spoken unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSpeak {
    /// All.
    Always,
    /// None.
    Off,
    /// Answers to what was spoken.
    Inbound,
    /// Answers with `[[tts]]` in them.
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
