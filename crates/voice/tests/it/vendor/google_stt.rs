//! A fake of Google Speech-to-Text version 1. The provider's own file names the sources. Errors follow
//! <https://cloud.google.com/apis/design/errors>: a wrong key is `INVALID_ARGUMENT`, 400, and a missing key
//! is `PERMISSION_DENIED`, 403.

use super::fake_server::ReceivedRequest;
use super::listener::{KEY, Listener, Refusal, looks_like, must};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt;
use serde_json::{Map, Value, json};

pub async fn google() -> Listener {
    Listener::start(|seen| async move { rules(&seen) }.boxed()).await
}

const MODELS: &[&str] = &[
    "default",
    "command_and_search",
    "phone_call",
    "video",
    "latest_long",
    "latest_short",
];
const LANGUAGES: &[&str] = &["en-US", "en-GB", "de-DE", "de-CH", "fr-FR"];
const FIELDS: &[&str] = &[
    "encoding",
    "sampleRateHertz",
    "audioChannelCount",
    "languageCode",
    "enableWordTimeOffsets",
    "enableAutomaticPunctuation",
    "speechContexts",
    "model",
];
/// The words of the transcripts, by the loudest sample in thousands. Tests use them to tell the pieces of a recording
/// apart.
const NUMBERS: [&str; 10] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
];

fn object<'a>(value: &'a Value, known: &[&str]) -> Result<&'a Map<String, Value>, Refusal> {
    let object = value
        .as_object()
        .ok_or((400, "expected an object".to_owned()))?;
    for name in object.keys() {
        let is_known = known.contains(&name.as_str());
        must(
            is_known,
            400,
            format!("Invalid JSON payload received. Unknown name \"{name}\""),
        )?;
    }
    Ok(object)
}

fn rules(seen: &ReceivedRequest) -> Result<Value, Refusal> {
    must(seen.path == "/v1/speech:recognize", 404, "no such method")?;
    must(seen.method == "POST", 405, "not this way")?;
    must(
        seen.query.is_empty(),
        400,
        "a key does not belong into the query",
    )?;
    must(
        seen.header("authorization").is_none(),
        401,
        "an API key is no token",
    )?;
    let key = seen.header("x-goog-api-key");
    must(
        key.is_some(),
        403,
        "Method doesn't allow unregistered callers",
    )?;
    must(
        key == Some(KEY),
        400,
        "API key not valid. Please pass a valid API key.",
    )?;
    must(
        seen.header("content-type") == Some("application/json"),
        400,
        "expected JSON",
    )?;
    must(
        seen.body.len() <= 10 << 20,
        400,
        "Request payload size exceeds the limit",
    )?;
    let body = seen.json();
    let body = object(&body, &["config", "audio"])?;
    let none = Value::Null;
    let config = object(body.get("config").unwrap_or(&none), FIELDS)?;
    let audio = object(body.get("audio").unwrap_or(&none), &["content"])?;
    let content = audio
        .get("content")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let audio = STANDARD
        .decode(content)
        .map_err(|_| (400, "Base64 decoding failed".to_owned()))?;
    must(!audio.is_empty(), 400, "RecognitionAudio not set.")?;
    let text = |name: &str| config.get(name).and_then(Value::as_str);
    let language = text("languageCode").unwrap_or_default();
    must(
        LANGUAGES.contains(&language),
        400,
        "Invalid recognition 'config': bad language code.",
    )?;
    let model = text("model").unwrap_or("default");
    must(
        MODELS.contains(&model),
        400,
        "Invalid recognition 'config': Incorrect model specified.",
    )?;
    for name in ["enableWordTimeOffsets", "enableAutomaticPunctuation"] {
        let is_switch = config.get(name).is_none_or(Value::is_boolean);
        must(is_switch, 400, format!("{name} is no boolean"))?;
    }
    phrases(config)?;
    let rate = config.get("sampleRateHertz").and_then(Value::as_u64);
    sound(text("encoding"), rate, &audio)?;
    let has_times = config.get("enableWordTimeOffsets") == Some(&Value::Bool(true));
    Ok(answer(&audio, has_times, language))
}

fn phrases(config: &Map<String, Value>) -> Result<(), Refusal> {
    let contexts = config.get("speechContexts").and_then(Value::as_array);
    for context in contexts.into_iter().flatten() {
        let context = object(context, &["phrases", "boost"])?;
        let phrases = context.get("phrases").and_then(Value::as_array);
        let fits = |phrase: &Value| {
            phrase
                .as_str()
                .is_some_and(|text| text.chars().count() <= 100)
        };
        let are_fine = phrases.is_some_and(|all| all.len() <= 5000 && all.iter().all(fits));
        must(are_fine, 400, "Phrase is too long")?;
    }
    Ok(())
}

/// Checks that the bytes match the encoding and last at most a minute.
fn sound(encoding: Option<&str>, rate: Option<u64>, audio: &[u8]) -> Result<(), Refusal> {
    let is_rated = rate.is_some_and(|rate| (8000..=48_000).contains(&rate));
    let is_what_it_says = match encoding {
        Some("LINEAR16") => {
            must(
                is_rated,
                400,
                "sample_rate_hertz must be between 8000 and 48000",
            )?;
            let seconds = audio.len() as u64 / 2 / rate.unwrap();
            must(
                seconds <= 60,
                400,
                "Sync input too long. For audio longer than 1 min use LongRunningRecognize with a 'uri' parameter.",
            )?;
            audio.len().is_multiple_of(2) && !audio.starts_with(b"RIFF")
        }
        Some("OGG_OPUS") => is_rated && looks_like("ogg", audio),
        Some("WEBM_OPUS") => is_rated && looks_like("webm", audio),
        Some("FLAC") => looks_like("flac", audio),
        None => looks_like("flac", audio) || looks_like("wav", audio),
        Some(other) => return Err((400, format!("Invalid value at 'config.encoding': {other}"))),
    };
    must(
        is_what_it_says,
        400,
        "Invalid recognition 'config': bad encoding.",
    )
}

/// "hello real world", with a number in place of "real" at some loudness levels, and nothing for silence.
fn answer(audio: &[u8], has_times: bool, language: &str) -> Value {
    let samples = audio
        .chunks_exact(2)
        .map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
    let loudest = samples.map(i16::unsigned_abs).max().unwrap_or_default();
    if loudest == 0 {
        return json!({"totalBilledTime": "0s", "requestId": "7"});
    }
    let middle = match loudest {
        1000..=9000 if loudest % 1000 == 0 => NUMBERS[usize::from(loudest / 1000)],
        _ => "real",
    };
    let mut best = json!({"transcript": format!("hello {middle}"), "confidence": 0.9});
    if has_times {
        best["words"] = json!([
            {"startTime": "0s", "endTime": "0.500s", "word": "hello"},
            {"startTime": "0.500s", "endTime": "0.900s", "word": middle},
        ]);
    }
    let mut last = json!({"transcript": " world", "confidence": 0.8});
    if has_times {
        last["words"] = json!([{"startTime": "0.900s", "endTime": "1.400s", "word": "world"}]);
    }
    let language = language.to_ascii_lowercase();
    json!({"results": [
        {"alternatives": [best], "resultEndTime": "0.900s", "languageCode": language},
        {"alternatives": [last], "resultEndTime": "1.490s", "languageCode": language},
    ], "totalBilledTime": "15s", "requestId": "7"})
}
