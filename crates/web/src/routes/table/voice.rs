//! Routes for voice: audio of sessions, streamed speech, and `OpenAI`-compatible paths.

use super::{READ, WRITE, row};
use crate::route::{Route, Verb};
use crate::routes::endpoint::{get, post};
use crate::routes::openai::formatted;
use crate::routes::voice::{openai, session_audio, speech};
use crate::socket::talk;

use Verb::{Get, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "sessions.audio.create",
        (Post, "/api/sessions/{id}/audio"),
        WRITE,
        || post(session_audio::post),
        "Transcribes a recording and stores it with the session; the body may also be the audio \
         itself",
    )
    .takes_form::<session_audio::AudioForm>()
    .gives::<gatehouse_voice::HeardAudio>(),
    row(
        "sessions.audio.get",
        (Get, "/api/sessions/{id}/audio/{audio_id}"),
        READ,
        || get(session_audio::get),
        "Audio of a session; supports range requests",
    )
    .gives_bytes("audio/*"),
    row(
        "tts.stream",
        (Post, "/api/tts/stream"),
        WRITE,
        || post(speech::post),
        "Converts text to speech and streams the audio",
    )
    .takes::<gatehouse_rpc::methods::tts::ConvertParams>()
    .gives_bytes("audio/*"),
    row(
        "ws.talk",
        (Get, "/ws/talk"),
        WRITE,
        || get(talk::open),
        "A spoken conversation with an agent, over a WebSocket",
    ),
    row(
        "openai.speech",
        (Post, "/v1/audio/speech"),
        WRITE,
        || post(formatted(openai::speech::post)),
        "Converts text to speech, for clients of OpenAI's API; with the `stream_format` sse, the answer is \
         server-sent events",
    )
    .takes::<openai::speech::SpeechBody>()
    .gives_bytes("audio/*"),
    row(
        "openai.voices",
        (Get, "/v1/audio/voices"),
        READ,
        || get(formatted(openai::voices::get)),
        "Lists the voices of the speech provider, or of the one that `model` in the query names",
    )
    .gives::<openai::voices::VoiceList>(),
    row(
        "openai.transcriptions",
        (Post, "/v1/audio/transcriptions"),
        WRITE,
        || post(formatted(openai::transcriptions::post)),
        "Transcribes a recording, for clients of OpenAI's API; with `stream`, the answer is server-sent \
         events",
    )
    .takes_form::<openai::transcriptions::TranscriptionForm>()
    .gives::<openai::recognition::Transcription>(),
    row(
        "openai.translations",
        (Post, "/v1/audio/translations"),
        WRITE,
        || post(formatted(openai::translations::post)),
        "Translates a recording to English, for clients of OpenAI's API",
    )
    .takes_form::<openai::translations::TranslationForm>()
    .gives::<openai::recognition::Transcription>(),
];
