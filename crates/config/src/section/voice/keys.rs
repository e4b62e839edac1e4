//! The table of the voice settings. Definitions that several providers share are written once.

use super::providers::{Named, STT_PROVIDERS, TTS_PROVIDERS};
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};

pub(super) const AUTO: &[&str] = &["always", "off", "inbound", "tagged"];
/// The maximum for a limit on stored audio: 1 TiB.
const MOST_BYTES: i64 = 1 << 40;

impl KeySpec {
    const fn at(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    const fn guarded(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// A setting without a default; it needs an example.
const fn unset(kind: Kind, example: &'static str, doc: &'static str) -> KeySpec {
    KeySpec {
        key: "",
        kind,
        default: Initial::Unset,
        doc,
        example,
        guard: Guard::Write,
        change: Change::Live,
    }
}

const fn with_default(kind: Kind, default: Initial, doc: &'static str) -> KeySpec {
    KeySpec {
        default,
        ..unset(kind, "", doc)
    }
}

const fn line(example: &'static str, doc: &'static str) -> KeySpec {
    unset(Kind::Text(Rule::Line), example, doc)
}

const fn file(example: &'static str, doc: &'static str) -> KeySpec {
    unset(Kind::Text(Rule::File), example, doc).guarded(Guard::StepUp)
}

const fn model(example: &'static str) -> KeySpec {
    line(example, "The provider's model.")
}

const fn base_url(example: &'static str) -> KeySpec {
    let doc = "Base URL with its version segment. A URL without a path means /v1.";
    unset(Kind::Text(Rule::BaseUrl), example, doc).guarded(Guard::StepUp)
}

/// A number; the bounds are in thousandths.
const fn number(bounds: (i32, i32), example: &'static str, doc: &'static str) -> KeySpec {
    let kind = Kind::Number {
        min_thousandths: bounds.0,
        max_thousandths: bounds.1,
    };
    unset(kind, example, doc)
}

const fn names(of: &'static [Named], doc: &'static str) -> KeySpec {
    with_default(Kind::List(Rule::Provider(of)), Initial::Empty, doc)
}

const fn bytes(default: i64, doc: &'static str) -> KeySpec {
    let kind = Kind::Whole {
        min: 0,
        max: MOST_BYTES,
    };
    with_default(kind, Initial::Whole(default), doc)
}

const API_KEY: KeySpec = KeySpec {
    guard: Guard::StepUp,
    change: Change::Never("set it with providers.set_key, which stores it in the vault"),
    ..unset(
        Kind::Text(Rule::Secret),
        "\"…\"",
        "The provider's API key. Prefer providers.set_key, which stores it in the vault.",
    )
};
const BORROWED_KEY: KeySpec = API_KEY.doc(
    "The provider's API key. Prefer providers.set_key, which stores it in the vault. If unset, \
     the key of models.providers.openai or OPENAI_API_KEY is used.",
);
const ENABLED: KeySpec = with_default(Kind::Flag, Initial::Flag(true), "");
const SPEED: (i32, i32) = (250, 4000);
const SHARE: (i32, i32) = (0, 1000);
const LANGUAGE: KeySpec = line("\"en\"", "The expected language, as an ISO 639-1 code.");
const BINARY: &str = "The program. If it is unset or has no path, it is searched for in PATH.";

/// Expands tables of settings and adds the table name to each key.
macro_rules! keys {
    ($($table:literal { $($name:literal: $spec:expr),+ $(,)? })+) => {
        &[$($($spec.at(concat!($table, ".", $name))),+),+]
    };
}

pub(crate) const KEYS: &[KeySpec] = keys! {
    "voice" {
        "local_concurrency": with_default(
            Kind::Whole { min: 1, max: 64 },
            Initial::Whole(2),
            "Local speech programs that run at a time.",
        ),
        "cache_max_bytes": bytes(
            268_435_456,
            "Size of the cache for synthesized speech, in bytes; 0 disables it.",
        ),
        "audio_max_bytes": bytes(
            1_073_741_824,
            "Recorded and synthesized audio of sessions to keep, in bytes; the oldest is deleted \
             first.",
        ),
    }
    "voice.tts" {
        "enabled": ENABLED.doc("Whether text-to-speech is on."),
        "provider": unset(
            Kind::Text(Rule::Provider(TTS_PROVIDERS)),
            "\"tts_cloud_2\"",
            "The provider: tts_cloud_1 (elevenlabs), tts_cloud_2 (openai), tts_cloud_3 (google), \
             tts_local_1 (piper) or tts_local_2 (coqui). If unset, the first that is configured. \
             The tables below accept either name.",
        ),
        "providers": names(TTS_PROVIDERS, "The providers to list; empty lists all."),
        "auto": with_default(
            Kind::Text(Rule::OneOf(AUTO)),
            Initial::Text("off"),
            "Which answers of agents are spoken automatically: always, off, inbound (answers to \
             spoken messages) or tagged (answers that contain [[tts]]).",
        ),
        "max_text_length": with_default(
            Kind::Whole { min: 1, max: 1_000_000 },
            Initial::Whole(4096),
            "Maximum length of a spoken text, in characters.",
        ),
        "fallback": names(
            TTS_PROVIDERS,
            "The providers to try, in this order, if the chosen provider fails.",
        ),
    }
    "voice.tts.tts_cloud_1" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.elevenlabs.io/v1\""),
        "voice_id": line("\"21m00Tcm4TlvDq8ikWAM\"", "The voice's ID."),
        "model": model("\"eleven_multilingual_v2\""),
        "stability": number(SHARE, "0.5", "Stability of the voice, from 0 to 1."),
        "similarity_boost": number(SHARE, "0.75", "Similarity to the original voice, from 0 to 1."),
    }
    "voice.tts.tts_cloud_2" {
        "api_key": BORROWED_KEY,
        "base_url": base_url("\"https://api.openai.com/v1\""),
        "voice": line("\"alloy\"", "The voice: alloy, echo, fable, onyx, nova, shimmer or another."),
        "model": model("\"gpt-4o-mini-tts\""),
        "speed": number(SPEED, "1.0", "Speed, from 0.25 to 4."),
    }
    "voice.tts.tts_cloud_3" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://texttospeech.googleapis.com/v1\""),
        "voice": line("\"en-US-Neural2-C\"", "The voice's name."),
        "language_code": line("\"en-US\"", "The language, as a BCP 47 tag."),
        "speaking_rate": number(SPEED, "1.0", "Speed, from 0.25 to 4."),
    }
    "voice.tts.tts_local_1" {
        "binary_path": file("\"piper\"", BINARY),
        "model_path": file("\"voices/en_US-lessac-medium.onnx\"", "The voice's ONNX file; required."),
        "config_path": file(
            "\"voices/en_US-lessac-medium.onnx.json\"",
            "The voice's JSON file. By default it is next to the ONNX file.",
        ),
        "speaker_id": unset(
            Kind::Whole { min: 0, max: 4_294_967_295 },
            "0",
            "The speaker, for a voice with several.",
        ),
        "length_scale": number(
            (100, 10_000),
            "1.0",
            "Relative duration, from 0.1 to 10; lower is faster.",
        ),
    }
    "voice.tts.tts_local_2" {
        "endpoint": unset(
            Kind::Text(Rule::WebUrl),
            "\"http://127.0.0.1:5002\"",
            "The server's URL, used without changes; required.",
        )
        .guarded(Guard::StepUp),
        "model": model("\"tts_models/en/ljspeech/vits\""),
    }
    "voice.stt" {
        "enabled": ENABLED.doc("Whether speech-to-text is on."),
        "provider": unset(
            Kind::Text(Rule::Provider(STT_PROVIDERS)),
            "\"stt_cloud_1\"",
            "The provider: stt_cloud_1 (whisper), stt_cloud_2 (groq), stt_cloud_3 (deepgram), \
             stt_cloud_4 (google), stt_cloud_5 (mistral), stt_local_1 (voxtral-local), \
             stt_local_2 (whisper-cli) or stt_local_3 (sherpa-onnx). If unset, the first that is \
             configured. The tables below accept either name.",
        ),
        "providers": names(STT_PROVIDERS, "The providers to list; empty lists all."),
        "fallback": names(
            STT_PROVIDERS,
            "The providers to try, in this order, if the chosen provider fails.",
        ),
    }
    "voice.stt.stt_cloud_1" {
        "api_key": BORROWED_KEY,
        "base_url": base_url("\"https://api.openai.com/v1\""),
        "model": model("\"whisper-1\""),
        "language": LANGUAGE,
    }
    "voice.stt.stt_cloud_2" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.groq.com/openai/v1\""),
        "model": model("\"whisper-large-v3-turbo\""),
        "language": LANGUAGE,
    }
    "voice.stt.stt_cloud_3" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.deepgram.com/v1\""),
        "model": model("\"nova-3\""),
        "language": LANGUAGE,
        "smart_format": unset(
            Kind::Flag,
            "true",
            "Format numbers, dates and punctuation for reading.",
        ),
    }
    "voice.stt.stt_cloud_4" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://speech.googleapis.com/v1\""),
        "language": line("\"en-US\"", "The expected language, as a locale."),
        "model": model("\"latest_long\""),
    }
    "voice.stt.stt_cloud_5" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.mistral.ai/v1\""),
        "model": model("\"voxtral-mini-latest\""),
        "language": LANGUAGE,
    }
    "voice.stt.stt_local_1" {
        "endpoint": unset(
            Kind::Text(Rule::BaseUrl),
            "\"http://127.0.0.1:8000/v1\"",
            "The server's URL with its version segment; required. A URL without a path means /v1.",
        )
        .guarded(Guard::StepUp),
        "model": model("\"mistralai/Voxtral-Mini-3B-2507\""),
        "language": LANGUAGE,
    }
    "voice.stt.stt_local_2" {
        "binary_path": file("\"whisper-cli\"", BINARY),
        "model_path": file("\"models/ggml-base.bin\"", "The ggml file of the model; required."),
        "language": LANGUAGE,
    }
    "voice.stt.stt_local_3" {
        "binary_path": file("\"sherpa-onnx-offline\"", BINARY),
        "model_dir": file("\"models/sherpa-onnx-whisper-base\"", "The folder of the model; required."),
        "language": LANGUAGE,
    }
};
