//! Facts about the providers from their vendors' documentation and the specification. Hard-coded, because the providers
//! must not be tested against themselves.

use crate::vendor::coqui::Coqui;
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::google_tts::GoogleTts;
use gatehouse_voice::TtsId;

/// The facts about one provider.
pub struct Facts {
    /// Two voices other than the default.
    pub voices: [&'static str; 2],
    /// The default voice.
    pub usual_voice: Option<&'static str>,
    pub usual_model: Option<&'static str>,
    /// A model other than the default.
    pub model: &'static str,
    /// The limit per request in characters, which equal bytes in these tests.
    pub most: usize,
    /// A format that the provider returns natively.
    pub native: &'static str,
    /// A speed within the range of the provider.
    pub speed: f64,
    /// The lowest and the highest speed.
    pub speeds: Option<[f64; 2]>,
    pub streams: bool,
    /// Request fields that the provider does not support.
    pub ignores: &'static [&'static str],
}

pub const fn facts(id: TtsId) -> Facts {
    match id {
        TtsId::ElevenLabs => Facts {
            voices: [ElevenLabs::VOICE, ElevenLabs::OTHER_VOICE],
            usual_voice: Some("JBFqnCBsd6RMkjVDRZzb"),
            usual_model: Some("eleven_multilingual_v2"),
            model: "eleven_flash_v2_5",
            most: 5000,
            native: "mp3",
            speed: 1.1,
            speeds: Some([0.7, 1.2]),
            streams: true,
            ignores: &["instructions"],
        },
        TtsId::OpenAi => Facts {
            voices: ["nova", "shimmer"],
            usual_voice: Some("alloy"),
            usual_model: Some("gpt-4o-mini-tts"),
            model: "tts-1-hd",
            most: 4096,
            native: "mp3",
            speed: 1.5,
            speeds: Some([0.25, 4.0]),
            streams: true,
            ignores: &["stability", "similarityBoost"],
        },
        TtsId::Google => Facts {
            voices: [GoogleTts::VOICE, GoogleTts::GERMAN_VOICE],
            usual_voice: None,
            usual_model: None,
            model: "-",
            most: 5000,
            native: "mp3",
            speed: 1.5,
            speeds: Some([0.25, 2.0]),
            streams: false,
            ignores: &["model", "stability", "similarityBoost", "instructions"],
        },
        // The values of unsupported fields are not examined.
        TtsId::Piper => Facts {
            voices: ["-", "-"],
            usual_voice: None,
            usual_model: None,
            model: "-",
            most: 4096,
            native: "pcm",
            speed: 2.0,
            speeds: Some([0.25, 4.0]),
            streams: true,
            ignores: &[
                "voiceId",
                "model",
                "stability",
                "similarityBoost",
                "instructions",
            ],
        },
        TtsId::Coqui => Facts {
            voices: [Coqui::SPEAKER, Coqui::OTHER_SPEAKER],
            usual_voice: None,
            usual_model: None,
            model: "tts_models/en/vctk/vits",
            most: 1000,
            native: "wav",
            speed: 1.0,
            speeds: None,
            streams: false,
            ignores: &["speed", "stability", "similarityBoost", "instructions"],
        },
    }
}
