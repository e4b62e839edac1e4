//! A fake of the Coqui TTS package's server with a multi-speaker, multilingual model. Sources:
//! `docs/source/server.md` and `TTS/server/server.py` in <https://github.com/idiap/coqui-ai-TTS>. It has no
//! keys, so a key in a request is a leak and yields 400.

use super::fake_server::{ReceivedRequest, Server, Verdict, judge};
use super::strict::{self, Look, no};
use super::tone;
use std::ops::Deref;
use url::Url;

/// A common sample rate of its models.
const RATE: u32 = 22_050;

pub struct Coqui(Server);

impl Deref for Coqui {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Coqui {
    pub const SPEAKER: &str = "p376";
    pub const OTHER_SPEAKER: &str = "Ana Florence";
    const SPEAKERS: &[&str] = &[Self::SPEAKER, Self::OTHER_SPEAKER];
    const LANGUAGES: &[&str] = &["en", "de"];

    pub async fn start() -> Self {
        Self(Server::start(judge(|seen| strict::verdict(look(seen)))).await)
    }

    /// Returns the address, which has no version.
    pub fn base_url(&self) -> Url {
        self.url("/")
    }
}

fn look(seen: &ReceivedRequest) -> Look<Verdict> {
    strict::route(seen, "GET", "/api/tts")?;
    for name in ["authorization", "xi-api-key", "x-goog-api-key"] {
        if seen.header(name).is_some() {
            return no(400, format!("a key came: {name}"));
        }
    }
    let parameters = [
        "text",
        "speaker_id",
        "language_id",
        "speaker_wav",
        "style_wav",
        "model_name",
    ];
    strict::query(seen, &parameters, 400)?;
    if !seen.body.is_empty() {
        return no(400, "a body came with GET");
    }
    let text = strict::parameter(seen, "text").unwrap_or_default();
    if text.trim().is_empty() {
        return no(400, "Text parameter is required");
    }
    for (name, known) in [
        ("speaker_id", Coqui::SPEAKERS),
        ("language_id", Coqui::LANGUAGES),
    ] {
        if strict::parameter(seen, name).is_some_and(|it| !it.is_empty() && !known.contains(&it)) {
            return no(500, format!("TTS synthesis failed: {name}"));
        }
    }
    Ok(Verdict::Fine("audio/wav", tone::wav(text, RATE)))
}
