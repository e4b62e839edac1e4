//! Transcription requests and their limits.

use crate::SttId;
use crate::VoiceError;
use crate::provider::ProviderId;
use crate::settings::SectionSettings;
use bytes::Bytes;
use gatehouse_audio::Kind;

/// The largest audio, in bytes.
pub const MAX_AUDIO_BYTES: usize = 25 << 20;
/// The longest prompt.
const MAX_PROMPT_CHARACTERS: usize = 4000;
/// Audio to transcribe, with the caller's options.
#[derive(Clone, Debug)]
pub struct TranscribeRequest {
    pub audio: Bytes,
    /// The format declared by the caller. A recognized format takes precedence.
    pub format: Option<String>,
    /// ISO 639-1, or a locale.
    pub language: Option<String>,
    /// A hint about the content.
    pub prompt: Option<String>,
    /// The ID or alias of the provider.
    pub provider: Option<String>,
    pub model: Option<String>,
    /// Whether to request timestamps from providers that charge for them.
    pub timestamps: bool,
    /// Whether to translate the speech to English.
    pub translate: bool,
}

impl TranscribeRequest {
    /// Returns a request with default options.
    pub const fn new(audio: Bytes) -> Self {
        Self {
            audio,
            format: None,
            language: None,
            prompt: None,
            provider: None,
            model: None,
            timestamps: true,
            translate: false,
        }
    }
}

/// A request within its limits.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// The requested provider.
    pub(crate) provider: Option<SttId>,
    /// The recognized kind of audio.
    pub(crate) kind: Option<Kind>,
}

/// Checks the request before any provider is called.
pub(crate) fn check(
    request: &TranscribeRequest,
    settings: &SectionSettings<SttId>,
    sniffed: Option<Kind>,
) -> Result<Checked, VoiceError> {
    if !settings.enabled {
        let hint = "Transcription is switched off: set `voice.stt.enabled` to true.";
        return Err(VoiceError::not_configured("voice.stt.enabled", hint));
    }
    if request.audio.is_empty() {
        return Err(VoiceError::invalid("audio", "must not be empty"));
    }
    if request.audio.len() > MAX_AUDIO_BYTES {
        return Err(VoiceError::TooLarge {
            max_bytes: MAX_AUDIO_BYTES as u64,
        });
    }
    let declared = request.format.as_deref();
    if let Some(declared) = declared
        && Kind::named(declared).is_none()
    {
        let all = Kind::ALL.map(Kind::as_str).join(", ");
        let reason = format!("expected one of {all}");
        return Err(VoiceError::invalid("format", reason));
    }
    check_language(request.language.as_deref())?;
    let prompt = request.prompt.as_deref().unwrap_or_default();
    if prompt.chars().nth(MAX_PROMPT_CHARACTERS).is_some() {
        let reason = format!("at most {MAX_PROMPT_CHARACTERS} characters");
        return Err(VoiceError::invalid("prompt", reason));
    }
    let kind = kind(declared, sniffed);
    if kind.is_none() && declared.is_none() {
        return Err(VoiceError::invalid(
            "audio",
            "is not audio in a known format",
        ));
    }
    let provider = request.provider.as_deref();
    Ok(Checked {
        provider: provider
            .map(|name| SttId::parse("provider", name))
            .transpose()?,
        kind,
    })
}

/// Refuses a text that is not a language code.
pub(crate) fn check_language(language: Option<&str>) -> Result<(), VoiceError> {
    if language.is_none_or(is_language) {
        return Ok(());
    }
    let reason = "expected a language code such as `en`";
    Err(VoiceError::invalid("language", reason))
}

/// Returns the recognized kind. Raw samples have no signature and may look like an MP3 or AAC frame, so a declared
/// `pcm` takes precedence over a recognized MP3 or AAC.
fn kind(declared: Option<&str>, sniffed: Option<Kind>) -> Option<Kind> {
    match (declared, sniffed) {
        (Some("pcm"), None | Some(Kind::Mp3 | Kind::Aac)) => Kind::named("pcm"),
        (_, sniffed) => sniffed,
    }
}

/// Returns whether `text` is an ISO 639-1 language, optionally followed by a region, script or variant (BCP 47).
fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_rest = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    LANGUAGES.split(' ').any(|code| code == first) && parts.all(is_rest)
}

/// The two-letter codes of ISO 639-1, and `yue`, which providers also support.
pub(crate) const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co \
    cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho \
    hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv jw ka kg ki kj kk kl km kn ko kr ks ku kv kw ky \
    la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om \
    or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te \
    tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu yue";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_codes() {
        for good in ["en", "EN", "en-US", "zh-Hant-TW", "yue", "jw"] {
            assert!(is_language(good), "{good}");
        }
        for bad in ["", "xx", "english", "en_US", "en-", "e", "en-toolongpart"] {
            assert!(!is_language(bad), "{bad}");
        }
    }

    #[test]
    fn what_is_declared_counts_only_where_nothing_is_seen() {
        let pcm = Some(Kind::Pcm { rate: 24_000 });
        assert_eq!(kind(Some("pcm"), None), pcm);
        assert_eq!(kind(Some("pcm"), Some(Kind::Mp3)), pcm);
        assert_eq!(kind(Some("pcm"), Some(Kind::Wav)), Some(Kind::Wav));
        assert_eq!(kind(Some("mp3"), Some(Kind::Flac)), Some(Kind::Flac));
        assert_eq!(kind(Some("mp3"), None), None);
    }
}
