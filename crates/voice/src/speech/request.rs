//! What may be asked for, and its limits.

use crate::VoiceError;
use crate::provider::TtsId;
use crate::settings::TtsSettings;
use gatehouse_audio::Format;
use std::ops::RangeInclusive;

/// The speeds that are taken.
pub(crate) const SPEED: RangeInclusive<f64> = 0.25..=4.0;
/// What stability and similarity may be.
pub(crate) const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// The longest name of a voice or model.
const MAX_NAME_CHARACTERS: usize = 200;
/// The longest words on how to speak.
const MAX_INSTRUCTIONS_CHARACTERS: usize = 16_000;

/// A text that is to be spoken, and what the caller says of how.
#[derive(Clone, Debug)]
pub struct SpeechRequest {
    /// The text; Markdown is left out of what is said.
    pub text: String,
    /// Who speaks: an id or an alias.
    pub provider: Option<String>,
    /// The persona's id, or `none`; the active one when absent.
    pub persona: Option<String>,
    /// Whose voice.
    pub voice: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// The format's name; mp3 when absent.
    pub format: Option<String>,
    /// 0.25 to 4.
    pub speed: Option<f64>,
    /// 0 to 1.
    pub stability: Option<f64>,
    /// 0 to 1.
    pub similarity_boost: Option<f64>,
    /// How to speak, in words; goes before the persona's.
    pub instructions: Option<String>,
}

impl SpeechRequest {
    /// A text, with everything else as usual.
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

/// A request whose limits were checked.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// Who was asked for.
    pub(crate) provider: Option<TtsId>,
    pub(crate) format: Format,
}

/// Checks what can be checked before anybody is called. Fields have the names of the method's params.
pub(crate) fn check(
    request: &SpeechRequest,
    settings: &TtsSettings,
) -> Result<Checked, VoiceError> {
    if !settings.enabled {
        let hint = "Speech is switched off: call `tts.enable`.";
        return Err(VoiceError::not_configured("voice.tts.enabled", hint));
    }
    let is_nothing = |c: char| c.is_whitespace() || c.is_control();
    if request.text.chars().all(is_nothing) {
        return Err(VoiceError::invalid("text", "must not be empty"));
    }
    let most = settings.max_text_length;
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
    let Some(value) = value else { return Ok(()) };
    let is_good = !value.trim().is_empty()
        && value.chars().nth(MAX_NAME_CHARACTERS).is_none()
        && !value.chars().any(char::is_control);
    if is_good {
        Ok(())
    } else {
        let reason = format!("one line of 1 to {MAX_NAME_CHARACTERS} characters");
        Err(VoiceError::invalid(field, reason))
    }
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
