//! A fake of `OpenAI`'s speech. Sources: <https://platform.openai.com/docs/api-reference/audio/createSpeech>
//! (fields, ranges, voices), <https://platform.openai.com/docs/guides/text-to-speech> (voices of the first
//! models) and <https://platform.openai.com/docs/guides/error-codes> (statuses).

use super::fake_server::{ReceivedRequest, Server, Verdict, judge};
use super::strict::{self, Look, no};
use super::tone;
use std::ops::Deref;
use url::Url;

const FIRST_VOICES: &[&str] = &[
    "alloy", "ash", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer",
];
const LATER_VOICES: &[&str] = &["ballad", "verse", "marin", "cedar"];
const MODELS: &[&str] = &[
    "tts-1",
    "tts-1-hd",
    "gpt-4o-mini-tts",
    "gpt-4o-mini-tts-2025-12-15",
];
const FIELDS: &[&str] = &[
    "model",
    "input",
    "voice",
    "instructions",
    "response_format",
    "speed",
    "stream_format",
];
const MAX_CHARACTERS: usize = 4096;

pub struct OpenAiTts(Server);

impl Deref for OpenAiTts {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl OpenAiTts {
    pub const KEY: &str = "sk-openai-0815";

    pub async fn start() -> Self {
        Self(Server::start(judge(|seen| strict::verdict(look(seen)))).await)
    }

    pub fn base_url(&self) -> Url {
        self.url("/v1")
    }
}

fn look(seen: &ReceivedRequest) -> Look<Verdict> {
    strict::route(seen, "POST", "/v1/audio/speech")?;
    let bearer = format!("Bearer {}", OpenAiTts::KEY);
    strict::header(seen, "authorization", &bearer, 401)?;
    strict::query(seen, &[], 400)?;
    let json = seen.json();
    let body = strict::body(seen, &json, 400)?;
    body.knows(FIELDS)?;
    let model = body.needed("model")?;
    if !MODELS.contains(&model) {
        return no(404, format!("no such model: {model}"));
    }
    let is_first = model.starts_with("tts-1");
    let input = body.needed("input")?;
    if input.chars().count() > MAX_CHARACTERS {
        return no(400, "string_above_max_length");
    }
    let voice = body.needed("voice")?;
    if !FIRST_VOICES.contains(&voice) && (is_first || !LATER_VOICES.contains(&voice)) {
        return no(400, format!("no such voice: {voice}"));
    }
    if body.text("instructions")?.is_some() && is_first {
        return no(400, format!("{model} takes no instructions"));
    }
    body.number("speed", 0.25..=4.0)?;
    let format = body.text("response_format")?.unwrap_or("mp3");
    match tone::named(format, input) {
        Some(verdict) => Ok(verdict),
        None => no(400, format!("no such response format: {format}")),
    }
}
