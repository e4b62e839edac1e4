//! What each provider can do: the one table. What a provider cannot do is said here, and nowhere else.

use crate::provider::{SttId, TtsId};
use gatehouse_audio::{Format, Kind};
use std::ops::RangeInclusive;

/// What a provider of speech can do.
#[derive(Clone, Debug)]
pub(crate) struct TtsCapability {
    /// Formats that it gives itself; others are made here from samples.
    pub(crate) native: &'static [Format],
    /// The longest text of one request, in characters.
    pub(crate) max_characters: usize,
    /// The same in bytes.
    pub(crate) max_bytes: usize,
    /// Whether it takes a voice's name or id in a request.
    pub(crate) voice: bool,
    /// Whether it takes a model.
    pub(crate) model: bool,
    /// How much of a persona's prompt it follows.
    pub(crate) instructions: Instructions,
    /// The speeds that it takes; others are moved to the nearest.
    pub(crate) speed: Option<RangeInclusive<f64>>,
    /// Whether it takes `stability` and `similarity_boost`.
    pub(crate) stability: bool,
    /// Whether it takes a pitch.
    pub(crate) pitch: bool,
    /// Whether its first bytes come before the last are made.
    pub(crate) streams: bool,
    /// Whether it runs here, or on a server of one's own, and needs no key.
    pub(crate) is_local: bool,
}

/// How much of a persona's prompt a provider follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// All of it, as a field of the request, by models that can.
    Full,
    /// What a binding says: voice, stability, rate, pitch.
    Partial,
    /// Nothing.
    None,
}

/// What a provider of text can do.
#[derive(Clone, Debug)]
pub(crate) struct SttCapability {
    /// Kinds of audio that it takes as they are; others become 16 kHz WAV here.
    pub(crate) accepts: fn(Kind) -> bool,
    /// The largest audio of one request.
    pub(crate) max_bytes: usize,
    /// Which times it gives.
    pub(crate) times: Times,
    /// Whether it says how sure it is.
    pub(crate) confidence: bool,
    /// Whether it takes a hint of what is talked about.
    pub(crate) prompt: bool,
    /// Whether it says which language it heard.
    pub(crate) detects_language: bool,
    /// Whether it runs here, or on a server of one's own, and needs no key.
    pub(crate) is_local: bool,
}

/// Which times a provider gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Of each word.
    Words,
    /// Of each sentence or so.
    Segments,
    /// None.
    None,
}

/// What this provider can do.
///
/// Sources are in the providers' own files.
pub(crate) const fn tts(id: TtsId) -> TtsCapability {
    match id {
        TtsId::ElevenLabs => TtsCapability {
            native: &[Format::Mp3, Format::Opus, Format::Ogg, Format::Pcm],
            max_characters: 5000,
            max_bytes: usize::MAX,
            voice: true,
            model: true,
            instructions: Instructions::Partial,
            speed: Some(0.7..=1.2),
            stability: true,
            pitch: false,
            streams: true,
            is_local: false,
        },
        TtsId::OpenAi => TtsCapability {
            native: &[
                Format::Mp3,
                Format::Opus,
                Format::Ogg,
                Format::Aac,
                Format::Pcm,
                Format::Wav,
            ],
            max_characters: 4096,
            max_bytes: usize::MAX,
            voice: true,
            model: true,
            instructions: Instructions::Full,
            speed: Some(0.25..=4.0),
            stability: false,
            pitch: false,
            streams: true,
            is_local: false,
        },
        TtsId::Google => TtsCapability {
            native: &[Format::Mp3, Format::Opus, Format::Ogg, Format::Wav],
            max_characters: usize::MAX,
            max_bytes: 5000,
            voice: true,
            model: false,
            instructions: Instructions::Partial,
            speed: Some(0.25..=2.0),
            stability: false,
            pitch: true,
            streams: false,
            is_local: false,
        },
        TtsId::Piper => TtsCapability {
            // It says bare samples as it goes.
            native: &[],
            max_characters: 4096,
            max_bytes: usize::MAX,
            voice: false,
            model: false,
            instructions: Instructions::None,
            speed: Some(0.25..=4.0),
            stability: false,
            pitch: false,
            streams: true,
            is_local: true,
        },
        TtsId::Coqui => TtsCapability {
            native: &[Format::Wav],
            max_characters: 1000,
            max_bytes: 4000,
            voice: true,
            model: true,
            instructions: Instructions::None,
            speed: None,
            stability: false,
            pitch: false,
            streams: false,
            is_local: true,
        },
    }
}

/// What this provider can do.
pub(crate) const fn stt(id: SttId) -> SttCapability {
    /// The kinds that `OpenAI`'s transcription takes, and those that follow it.
    const fn common(kind: Kind) -> bool {
        !matches!(kind, Kind::Aac | Kind::Pcm { .. })
    }
    /// Mistral's: MPEG-4 is not in its list.
    const fn without_m4a(kind: Kind) -> bool {
        common(kind) && !matches!(kind, Kind::M4a)
    }
    /// Deepgram's: whatever has a header.
    const fn with_header(kind: Kind) -> bool {
        !matches!(kind, Kind::Pcm { .. })
    }
    /// Google's, and that of programs: 16-bit mono WAV only, and that is made here.
    const fn none(_: Kind) -> bool {
        false
    }
    const MIB: usize = 1 << 20;
    /// Two hours of samples.
    const SAMPLES: usize = 256 * MIB;
    let cloud = SttCapability {
        accepts: common,
        max_bytes: 25 * MIB,
        times: Times::Words,
        confidence: false,
        prompt: true,
        detects_language: true,
        is_local: false,
    };
    match id {
        // How likely its words were to the model.
        SttId::OpenAi | SttId::Groq => SttCapability {
            confidence: true,
            ..cloud
        },
        SttId::Deepgram => SttCapability {
            accepts: with_header,
            confidence: true,
            max_bytes: 2_000_000_000,
            ..cloud
        },
        // Its requests hold a minute; longer audio is cut into as many as it takes. This is an hour.
        SttId::Google => SttCapability {
            accepts: none,
            max_bytes: 128 * MIB,
            confidence: true,
            detects_language: false,
            ..cloud
        },
        // A language and times exclude each other.
        SttId::Mistral => SttCapability {
            accepts: without_m4a,
            max_bytes: 500_000_000,
            times: Times::Segments,
            ..cloud
        },
        // Its instruction has no room for a hint.
        SttId::Voxtral => SttCapability {
            times: Times::None,
            prompt: false,
            detects_language: false,
            is_local: true,
            ..cloud
        },
        SttId::WhisperCli => SttCapability {
            accepts: none,
            max_bytes: SAMPLES,
            is_local: true,
            ..cloud
        },
        SttId::SherpaOnnx => SttCapability {
            accepts: none,
            max_bytes: SAMPLES,
            prompt: false,
            detects_language: false,
            is_local: true,
            ..cloud
        },
    }
}
