//! A fake of Google Cloud Text-to-Speech. Sources:
//! <https://cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize> and `cloud_tts.proto`
//! (fields, ranges, the response). Unknown fields yield 400 according to
//! <https://cloud.google.com/apis/design/errors>. An unknown key yields 400 and a missing one 403 according
//! to <https://cloud.google.com/docs/authentication/api-keys-use>.

use super::fake_server::{ReceivedRequest, Server, Verdict, judge};
use super::strict::{self, Look, Object, no};
use super::tone;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::ops::Deref;
use url::Url;

const MAX_BYTES: usize = 5000;
const RATES: &[f64] = &[
    8000.0, 12_000.0, 16_000.0, 22_050.0, 24_000.0, 44_100.0, 48_000.0,
];

pub struct GoogleTts(Server);

impl Deref for GoogleTts {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl GoogleTts {
    pub const KEY: &str = "AIza-google-12";
    pub const VOICE: &str = "en-US-Neural2-A";
    pub const GERMAN_VOICE: &str = "de-DE-Neural2-B";
    /// A voice of a family without pitch.
    pub const CHIRP_VOICE: &str = "en-US-Chirp3-HD-Kore";
    const VOICES: &[&str] = &[Self::VOICE, Self::GERMAN_VOICE, Self::CHIRP_VOICE];
    const LANGUAGES: &[&str] = &["en-US", "de-DE", "fr-FR"];

    pub async fn start() -> Self {
        Self(Server::start(judge(|seen| strict::verdict(look(seen)))).await)
    }

    pub fn base_url(&self) -> Url {
        self.url("/v1")
    }
}

fn look_at_key(seen: &ReceivedRequest) -> Look<()> {
    if seen.header("x-goog-api-key").is_none() {
        return no(403, "no key");
    }
    strict::header(seen, "x-goog-api-key", GoogleTts::KEY, 400)
}

/// <https://cloud.google.com/text-to-speech/docs/reference/rest/v1/voices/list>
fn look_at_list(seen: &ReceivedRequest) -> Look<Verdict> {
    strict::route(seen, "GET", "/v1/voices")?;
    look_at_key(seen)?;
    strict::query(seen, &["languageCode"], 400)?;
    let voices = GoogleTts::VOICES.iter().map(|name| {
        json!({ "languageCodes": [&name[..5]], "name": name, "ssmlGender": "FEMALE",
            "naturalSampleRateHertz": 24_000 })
    });
    let list = json!({ "voices": voices.collect::<Vec<_>>() });
    Ok(Verdict::Fine("application/json", list.to_string().into()))
}

fn look(seen: &ReceivedRequest) -> Look<Verdict> {
    if seen.path == "/v1/voices" {
        return look_at_list(seen);
    }
    strict::route(seen, "POST", "/v1/text:synthesize")?;
    look_at_key(seen)?;
    strict::query(seen, &[], 400)?;
    let json = seen.json();
    let body = strict::body(seen, &json, 400)?;
    body.knows(&["input", "voice", "audioConfig", "advancedVoiceOptions"])?;
    let (Some(input), Some(voice), Some(audio)) = (
        body.object("input")?,
        body.object("voice")?,
        body.object("audioConfig")?,
    ) else {
        return no(400, "input, voice and audioConfig are required");
    };
    input.knows(&["text"])?;
    let text = input.needed("text")?;
    if text.len() > MAX_BYTES {
        return no(400, "the input is longer than 5000 bytes");
    }
    let name = look_at_voice(&voice)?;
    look_at_audio(&audio, name)?;
    let rate = audio.number("sampleRateHertz", 8000.0..=48_000.0)?;
    if rate.is_some_and(|rate| !RATES.contains(&rate)) {
        return no(400, "the sample rate is not supported");
    }
    let rate = rate.map_or(tone::RATE, |rate| rate as u32);
    let bytes = match audio.needed("audioEncoding")? {
        "LINEAR16" => tone::wav(text, rate),
        "MP3" => tone::mp3(text),
        "OGG_OPUS" => tone::opus(text),
        other => return no(400, format!("no such encoding: {other}")),
    };
    // With line breaks and two spaces, as the vendor formats it.
    let answer = format!(
        "{{\n  \"audioContent\": \"{}\"\n}}\n",
        STANDARD.encode(bytes)
    );
    Ok(Verdict::Fine(
        "application/json; charset=UTF-8",
        answer.into(),
    ))
}

fn look_at_voice<'a>(voice: &Object<'a>) -> Look<Option<&'a str>> {
    voice.knows(&["languageCode", "name", "ssmlGender"])?;
    let language = voice.needed("languageCode")?;
    if !GoogleTts::LANGUAGES.contains(&language) {
        return no(400, format!("no voices for {language}"));
    }
    let name = voice.text("name")?;
    if let Some(name) = name {
        if !GoogleTts::VOICES.contains(&name) {
            return no(400, format!("the voice {name} does not exist"));
        }
        if !name.starts_with(language) {
            return no(400, format!("{language} is not the language of {name}"));
        }
    }
    Ok(name)
}

fn look_at_audio(audio: &Object<'_>, voice: Option<&str>) -> Look<()> {
    audio.knows(&[
        "audioEncoding",
        "speakingRate",
        "pitch",
        "volumeGainDb",
        "sampleRateHertz",
        "effectsProfileId",
    ])?;
    audio.number("speakingRate", 0.25..=2.0)?;
    let pitch = audio.number("pitch", -20.0..=20.0)?;
    if pitch.is_some() && voice == Some(GoogleTts::CHIRP_VOICE) {
        return no(
            400,
            "this voice does not support pitch parameters at this time",
        );
    }
    Ok(())
}
