//! A fake of `ElevenLabs`. Sources: <https://elevenlabs.io/docs/api-reference/text-to-speech/stream>
//! (parameters, formats, fields), <https://elevenlabs.io/docs/eleven-api/resources/errors> and
//! <https://help.elevenlabs.io/hc/en-us/articles/19572237925521> (statuses), and
//! <https://elevenlabs.io/docs/overview/models> (characters per request).

use super::fake_server::{ReceivedRequest, Server, Verdict, judge};
use super::strict::{self, Look, no};
use super::tone;
use serde_json::json;
use std::ops::Deref;
use url::Url;

const FORMATS: &[&str] = &[
    "mp3_22050_32",
    "mp3_24000_48",
    "mp3_44100_32",
    "mp3_44100_64",
    "mp3_44100_96",
    "mp3_44100_128",
    "mp3_44100_192",
    "pcm_8000",
    "pcm_16000",
    "pcm_22050",
    "pcm_24000",
    "pcm_32000",
    "pcm_44100",
    "pcm_48000",
    "ulaw_8000",
    "alaw_8000",
    "opus_48000_32",
    "opus_48000_64",
    "opus_48000_96",
    "opus_48000_128",
    "opus_48000_192",
];
const MODELS: &[(&str, usize)] = &[
    ("eleven_v3", 5000),
    ("eleven_multilingual_v2", 10_000),
    ("eleven_flash_v2_5", 40_000),
    ("eleven_flash_v2", 30_000),
    ("eleven_turbo_v2_5", 40_000),
    ("eleven_turbo_v2", 30_000),
];
const FIELDS: &[&str] = &[
    "text",
    "model_id",
    "language_code",
    "voice_settings",
    "pronunciation_dictionary_locators",
    "seed",
    "previous_text",
    "next_text",
    "previous_request_ids",
    "next_request_ids",
    "apply_text_normalization",
    "apply_language_text_normalization",
];

pub struct ElevenLabs(Server);

impl Deref for ElevenLabs {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl ElevenLabs {
    pub const KEY: &str = "sk_elevenlabs-4711";
    /// A voice other than the default.
    pub const VOICE: &str = "EXAVITQu4vr4xnSDxMaL";
    pub const OTHER_VOICE: &str = "21m00Tcm4TlvDq8ikWAM";
    const VOICES: &[&str] = &["JBFqnCBsd6RMkjVDRZzb", Self::VOICE, Self::OTHER_VOICE];

    pub async fn start() -> Self {
        Self(Server::start(judge(|seen| strict::verdict(look(seen)))).await)
    }

    pub fn base_url(&self) -> Url {
        self.url("/v1")
    }
}

/// <https://elevenlabs.io/docs/api-reference/voices/get-all>
fn look_at_list(seen: &ReceivedRequest) -> Look<Verdict> {
    strict::route(seen, "GET", "/v1/voices")?;
    strict::header(seen, "xi-api-key", ElevenLabs::KEY, 401)?;
    strict::query(seen, &["show_legacy"], 422)?;
    let list = json!({ "voices": [
        { "voice_id": ElevenLabs::VOICE, "name": "Sarah", "category": "premade", "labels": {} },
        { "voice_id": ElevenLabs::OTHER_VOICE, "name": "Rachel", "category": "premade" },
    ] });
    Ok(Verdict::Fine("application/json", list.to_string().into()))
}

fn look(seen: &ReceivedRequest) -> Look<Verdict> {
    if seen.path == "/v1/voices" {
        return look_at_list(seen);
    }
    let voice = seen
        .path
        .strip_prefix("/v1/text-to-speech/")
        .and_then(|rest| rest.strip_suffix("/stream"))
        .unwrap_or_default();
    strict::route(seen, "POST", &format!("/v1/text-to-speech/{voice}/stream"))?;
    strict::header(seen, "xi-api-key", ElevenLabs::KEY, 401)?;
    let parameters = [
        "output_format",
        "enable_logging",
        "optimize_streaming_latency",
    ];
    strict::query(seen, &parameters, 422)?;
    let format = strict::parameter(seen, "output_format").unwrap_or("mp3_44100_128");
    if !FORMATS.contains(&format) {
        return no(422, format!("no such output format: {format}"));
    }
    let json = seen.json();
    let body = strict::body(seen, &json, 422)?;
    body.knows(FIELDS)?;
    let text = body.needed("text")?;
    let model = body.text("model_id")?.unwrap_or("eleven_multilingual_v2");
    let Some((_, most)) = MODELS.iter().find(|(name, _)| *name == model) else {
        return no(400, format!("no such model: {model}"));
    };
    if text.chars().count() > *most {
        return no(400, "max_character_limit_exceeded");
    }
    if !ElevenLabs::VOICES.contains(&voice) {
        return no(404, "voice_not_found");
    }
    if let Some(settings) = body.object("voice_settings")? {
        settings.knows(&[
            "stability",
            "similarity_boost",
            "style",
            "use_speaker_boost",
            "speed",
        ])?;
        let stability = settings.number("stability", 0.0..=1.0)?;
        settings.number("similarity_boost", 0.0..=1.0)?;
        settings.number("style", 0.0..=1.0)?;
        settings.number("speed", 0.7..=1.2)?;
        if model == "eleven_v3" && stability.is_some_and(|it| (it * 2.0).fract() != 0.0) {
            return no(400, "v3 has stabilities of 0, 0.5 and 1");
        }
    }
    Ok(match format.split_once('_') {
        Some(("mp3", _)) => Verdict::Fine("audio/mpeg", tone::mp3(text)),
        Some(("opus", _)) => Verdict::Fine("audio/opus", tone::opus(text)),
        Some(("pcm", rate)) => Verdict::Fine("audio/pcm", tone::pcm(text, rate.parse().unwrap())),
        _ => return no(501, format!("{format} is not played here")),
    })
}
