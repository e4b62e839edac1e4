//! Routes for voice: audio of sessions, streamed speech, and `OpenAI`-compatible paths.

use super::{READ, WRITE, row};
use crate::routes::voice::{openai, session_audio, speech};
use crate::routes::{Route, Verb};
use axum::routing::{get, post};

use Verb::{Get, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "sessions.audio.create",
        (Post, "/api/sessions/{id}/audio"),
        WRITE,
        || post(session_audio::post),
        "Understands a recording and keeps it with the session; the body may also be the audio itself",
    )
    .takes_form::<session_audio::AudioForm>()
    .gives::<gatehouse_voice::HeardAudio>(),
    row(
        "sessions.audio.get",
        (Get, "/api/sessions/{id}/audio/{audio_id}"),
        READ,
        || get(session_audio::get),
        "Audio of a session; ranges are given",
    )
    .gives_bytes("audio/*"),
    row(
        "tts.stream",
        (Post, "/api/tts/stream"),
        WRITE,
        || post(speech::post),
        "Speaks a text; the audio is handed on as it comes",
    )
    .takes::<gatehouse_rpc::methods::tts::ConvertParams>()
    .gives_bytes("audio/*"),
    row(
        "openai.speech",
        (Post, "/v1/audio/speech"),
        WRITE,
        || post(openai::speech::post),
        "Speaks a text, for clients of OpenAI's API",
    )
    .takes::<openai::speech::SpeechBody>()
    .gives_bytes("audio/*"),
    row(
        "openai.transcriptions",
        (Post, "/v1/audio/transcriptions"),
        WRITE,
        || post(openai::transcriptions::post),
        "Understands a recording, for clients of OpenAI's API",
    )
    .takes_form::<openai::transcriptions::TranscriptionForm>()
    .gives::<openai::transcriptions::Transcription>(),
    row(
        "openai.models.list",
        (Get, "/v1/models"),
        READ,
        || get(openai::models::list),
        "Who speaks and listens, for clients of OpenAI's API",
    )
    .gives::<openai::models::ModelList>(),
    row(
        "openai.models.get",
        (Get, "/v1/models/{id}"),
        READ,
        || get(openai::models::get),
        "One of them",
    )
    .gives::<openai::models::Model>(),
];
