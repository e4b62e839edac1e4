//! `[voice.stt]` and its providers, one entry each: ID, vendor's name and settings.

use super::keys::{
    API_KEY, BINARY, BORROWED_KEY, ENABLED, FALLBACK_DOC, LANGUAGE, LISTED_DOC, PROVIDER_DOC,
    base_url, file, line, model, names, section, unset,
};
use crate::key::{Guard, Kind, Rule};

section! {
    "voice.stt" {
        "enabled": ENABLED.doc("Whether speech-to-text is on."),
        "provider": unset(
            Kind::Text(Rule::Provider(PROVIDERS)),
            "\"stt_cloud_1\"",
            PROVIDER_DOC,
        ),
        "providers": names(PROVIDERS, LISTED_DOC),
        "fallback": names(PROVIDERS, FALLBACK_DOC),
    }
    "stt_cloud_1" = "whisper" {
        "api_key": BORROWED_KEY,
        "base_url": base_url("\"https://api.openai.com/v1\""),
        "model": model("\"whisper-1\""),
        "language": LANGUAGE,
    }
    "stt_cloud_2" = "groq" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.groq.com/openai/v1\""),
        "model": model("\"whisper-large-v3-turbo\""),
        "language": LANGUAGE,
    }
    "stt_cloud_3" = "deepgram" {
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
    "stt_cloud_4" = "google" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://speech.googleapis.com/v1\""),
        "language": line("\"en-US\"", "The expected language, as a locale."),
        "model": model("\"latest_long\""),
    }
    "stt_cloud_5" = "mistral" {
        "api_key": API_KEY,
        "base_url": base_url("\"https://api.mistral.ai/v1\""),
        "model": model("\"voxtral-mini-latest\""),
        "language": LANGUAGE,
    }
    "stt_local_1" = "voxtral-local" {
        "endpoint": unset(
            Kind::Text(Rule::BaseOrTcpUrl),
            "\"http://127.0.0.1:8000/v1\"",
            "The server's URL with its version segment, or tcp://host:port of a Wyoming program; required. If the \
             URL has no path, /v1 is assumed.",
        )
        .guarded(Guard::StepUp),
        "model": model("\"mistralai/Voxtral-Mini-3B-2507\""),
        "language": LANGUAGE,
    }
    "stt_local_2" = "whisper-cli" {
        "binary_path": file("\"whisper-cli\"", BINARY),
        "model_path": file("\"models/ggml-base.bin\"", "The ggml file of the model; required."),
        "language": LANGUAGE,
        "fit_audio_context": unset(
            Kind::Flag,
            "true",
            "Process only as much of the window of 30 seconds as a recording needs, which is faster. If it is not \
             set, it is true.",
        ),
    }
    "stt_local_3" = "sherpa-onnx" {
        "binary_path": file("\"sherpa-onnx-offline\"", BINARY),
        "model_dir": file("\"models/sherpa-onnx-whisper-base\"", "The folder of the model; required."),
        "language": LANGUAGE,
    }
}
