//! Speech requests and their limits.

use crate::TtsId;
use crate::VoiceError;
use crate::provider::ProviderId;
use crate::settings::VoiceSettings;
use gatehouse_audio::Format;
use std::ops::RangeInclusive;

/// The accepted speeds.
pub(crate) const SPEED: RangeInclusive<f64> = 0.25..=4.0;
/// The accepted values of stability and similarity.
pub(crate) const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// The longest name of a voice or model.
const MAX_NAME_CHARACTERS: usize = 200;
/// The longest instructions.
const MAX_INSTRUCTIONS_CHARACTERS: usize = 16_000;

/// A text to speak, with the caller's options.
#[derive(Clone, Debug)]
pub struct SpeechRequest {
    /// The text. Markdown syntax is not spoken.
    pub text: String,
    /// The ID or alias of the provider.
    pub provider: Option<String>,
    /// The persona's ID, or the string `none` for no persona. If absent, the active persona speaks.
    pub persona: Option<String>,
    pub voice: Option<String>,
    pub model: Option<String>,
    /// The name of the format; mp3 by default.
    pub format: Option<String>,
    /// 0.25 to 4.
    pub speed: Option<f64>,
    /// 0 to 1.
    pub stability: Option<f64>,
    /// 0 to 1.
    pub similarity_boost: Option<f64>,
    /// Instructions on how to speak. They replace the persona's.
    pub instructions: Option<String>,
}

impl SpeechRequest {
    /// Returns a request with default options.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            provider: None,
            persona: None,
            voice: None,
            model: None,
            format: None,
            speed: None,
            stability: None,
            similarity_boost: None,
            instructions: None,
        }
    }
}

/// A request within its limits.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// The requested provider.
    pub(crate) provider: Option<TtsId>,
    pub(crate) format: Format,
}

/// Validates the request before any provider is called. Errors use the field names of the method's params.
pub(crate) fn check(
    request: &SpeechRequest,
    settings: &VoiceSettings,
) -> Result<Checked, VoiceError> {
    check_enabled(settings)?;
    let is_nothing = |c: char| c.is_whitespace() || c.is_control();
    if request.text.chars().all(is_nothing) {
        return Err(VoiceError::invalid("text", "must not be empty"));
    }
    let most = settings.speaking.max_text_length;
    if request.text.chars().nth(most).is_some() {
        let reason = format!("at most {most} characters");
        return Err(VoiceError::invalid("text", reason));
    }
    number("speed", request.speed, &SPEED)?;
    number("stability", request.stability, &SHARE)?;
    number("similarityBoost", request.similarity_boost, &SHARE)?;
    name("voiceId", request.voice.as_deref())?;
    name("model", request.model.as_deref())?;
    let instructions = request.instructions.as_deref().unwrap_or_default();
    if instructions
        .chars()
        .nth(MAX_INSTRUCTIONS_CHARACTERS)
        .is_some()
    {
        let reason = format!("at most {MAX_INSTRUCTIONS_CHARACTERS} characters");
        return Err(VoiceError::invalid("instructions", reason));
    }
    let provider = request.provider.as_deref();
    Ok(Checked {
        provider: provider
            .map(|name| TtsId::parse("provider", name))
            .transpose()?,
        format: format(request.format.as_deref())?,
    })
}

pub(crate) fn check_enabled(settings: &VoiceSettings) -> Result<(), VoiceError> {
    if settings.tts.enabled {
        return Ok(());
    }
    let hint = "Speech is switched off: call `tts.enable`.";
    Err(VoiceError::not_configured("voice.tts.enabled", hint))
}

fn number(field: &str, value: Option<f64>, range: &RangeInclusive<f64>) -> Result<(), VoiceError> {
    match value {
        Some(value) if !range.contains(&value) => {
            let reason = format!(
                "expected a number from {} to {}",
                range.start(),
                range.end()
            );
            Err(VoiceError::invalid(field, reason))
        }
        _ => Ok(()),
    }
}

fn name(field: &str, value: Option<&str>) -> Result<(), VoiceError> {
    if value.is_none_or(is_name) {
        return Ok(());
    }
    let reason = format!("one line of 1 to {MAX_NAME_CHARACTERS} characters");
    Err(VoiceError::invalid(field, reason))
}

/// Returns whether `value` can name a voice or model in a request.
pub(crate) fn is_name(value: &str) -> bool {
    !value.trim().is_empty()
        && value.chars().nth(MAX_NAME_CHARACTERS).is_none()
        && !value.chars().any(char::is_control)
}

fn format(name: Option<&str>) -> Result<Format, VoiceError> {
    let Some(name) = name else {
        return Ok(Format::Mp3);
    };
    Format::parse(name).ok_or_else(|| {
        let all = Format::ALL.map(Format::as_str).join(", ");
        VoiceError::invalid("format", format!("expected one of {all}"))
    })
}
