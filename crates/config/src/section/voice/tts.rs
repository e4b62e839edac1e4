//! `[voice.tts]` and its providers, one entry each: ID, vendor's name and settings.

use super::keys::{
    API_KEY, AUTO, BINARY, BORROWED_KEY, ENABLED, FALLBACK_DOC, LISTED_DOC, PROVIDER_DOC, SHARE,
    SPEED, SPEED_DOC, base_url, file, line, model, names, number, section, unset, with_default,
};
use crate::key::{Guard, Initial, Kind, Rule};

section! {
    "voice.tts" {
        "enabled": ENABLED.doc("Whether text-to-speech is on."),
        "provider": unset(
            Kind::Text(Rule::Provider(PROVIDERS)),
            "\"tts_cloud_2\"",
            PROVIDER_DOC,
        ),
        "providers": names(PROVIDERS, LISTED_DOC),
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
        "fallback": names(PROVIDERS, FALLBACK_DOC),
    }
    "tts_cloud_1" = "elevenlabs" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.elevenlabs.io/v1\""),
        "voice_id": line("\"21m00Tcm4TlvDq8ikWAM\"", "The voice's ID."),
        "model": model("\"eleven_multilingual_v2\""),
        "stability": number(SHARE, "0.5", "Stability of the voice, from 0 to 1."),
        "similarity_boost": number(SHARE, "0.75", "Similarity to the original voice, from 0 to 1."),
    }
    "tts_cloud_2" = "openai" {
        "api_key": BORROWED_KEY,
        "base_url": base_url("\"https://api.openai.com/v1\""),
        "voice": line("\"alloy\"", "The voice: alloy, echo, fable, onyx, nova, shimmer or another."),
        "model": model("\"gpt-4o-mini-tts\""),
        "speed": number(SPEED, "1.0", SPEED_DOC),
    }
    "tts_cloud_3" = "google" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://texttospeech.googleapis.com/v1\""),
        "voice": line("\"en-US-Neural2-C\"", "The voice's name."),
        "language_code": line("\"en-US\"", "The language, as a BCP 47 tag."),
        "speaking_rate": number(SPEED, "1.0", SPEED_DOC),
    }
    "tts_local_1" = "piper" {
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
    "tts_local_2" = "coqui" {
        "endpoint": unset(
            Kind::Text(Rule::WebOrTcpUrl),
            "\"http://127.0.0.1:5002\"",
            "The URL of a Coqui server, used without changes, or tcp://host:port of a Wyoming program; required.",
        )
        .guarded(Guard::StepUp),
        "model": model("\"tts_models/en/ljspeech/vits\"").doc("The model; for a Wyoming program the voice."),
    }
}
