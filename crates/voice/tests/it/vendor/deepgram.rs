//! A fake of Deepgram's transcription of recorded audio. The provider's own file names the sources; statuses
//! follow <https://developers.deepgram.com/docs/errors>.

use super::fake_server::ReceivedRequest;
use super::listener::{KEY, Listener, Refusal, ending, looks_like, must};
use futures_util::FutureExt;
use serde_json::{Value, json};

pub async fn deepgram() -> Listener {
    Listener::start(|seen| async move { rules(&seen) }.boxed()).await
}

const MODELS: &[&str] = &[
    "nova-3",
    "nova-3-medical",
    "nova-2",
    "nova",
    "enhanced",
    "base",
    "whisper-large",
];
const LANGUAGES: &[&str] = &["en", "en-US", "de", "fr"];
const SWITCHES: &[&str] = &[
    "punctuate",
    "smart_format",
    "utterances",
    "detect_language",
    "numerals",
];

fn all<'a>(seen: &'a ReceivedRequest, name: &str) -> Vec<&'a str> {
    let of_name = seen.query.iter().filter(|(field, _)| field == name);
    of_name.map(|(_, value)| value.as_str()).collect()
}

fn rules(seen: &ReceivedRequest) -> Result<Value, Refusal> {
    must(seen.path == "/v1/listen", 404, "no such address")?;
    must(seen.method == "POST", 405, "not this way")?;
    let key = format!("Token {KEY}");
    must(
        seen.header("authorization") == Some(&key),
        401,
        "INVALID_AUTH",
    )?;
    for (name, value) in &seen.query {
        let is_switch = SWITCHES.contains(&name.as_str());
        let is_known =
            is_switch || ["model", "language", "keyterm", "keywords"].contains(&name.as_str());
        must(is_known, 400, format!("unknown query parameter {name}"))?;
        let is_boolean = ["true", "false"].contains(&value.as_str());
        must(
            !is_switch || is_boolean,
            400,
            format!("{name} is no boolean"),
        )?;
        let may_repeat = name.starts_with("key");
        must(
            may_repeat || all(seen, name).len() == 1,
            400,
            format!("{name} came twice"),
        )?;
    }
    let is_on = |name: &str| all(seen, name).first() == Some(&"true");
    let model = all(seen, "model").first().copied().unwrap_or("base");
    must(
        MODELS.contains(&model),
        400,
        "No such model/language/tier combination found.",
    )?;
    let language = all(seen, "language").first().copied();
    let is_known = language.is_none_or(|language| LANGUAGES.contains(&language));
    must(
        is_known,
        400,
        "No such model/language/tier combination found.",
    )?;
    must(
        language.is_none() || !is_on("detect_language"),
        400,
        "a language, or its detection",
    )?;
    hints(seen, model)?;
    let media = seen.header("content-type").unwrap_or_default();
    let is_audio = ending(media).is_some_and(|ending| looks_like(ending, &seen.body));
    must(
        is_audio,
        400,
        "Bad Request: failed to process audio: corrupt or unsupported data",
    )?;
    Ok(answer(is_on, language))
}

fn hints(seen: &ReceivedRequest, model: &str) -> Result<(), Refusal> {
    let is_nova_3 = model.starts_with("nova-3");
    let terms = all(seen, "keyterm");
    must(
        terms.is_empty() || is_nova_3,
        400,
        "Keyterm is only available with Nova-3",
    )?;
    must(terms.len() <= 100, 400, "too many key terms")?;
    let characters: usize = terms.iter().map(|term| term.chars().count()).sum();
    must(
        characters <= 1500,
        400,
        "Keyterm limit of 500 tokens exceeded",
    )?;
    let words = all(seen, "keywords");
    let takes_words = !is_nova_3 && !model.starts_with("whisper");
    must(
        words.is_empty() || takes_words,
        400,
        "Keywords are not supported by this model",
    )?;
    let is_word = |word: &&str| !word.is_empty() && !word.contains(' ');
    must(
        words.len() <= 100 && words.iter().all(is_word),
        400,
        "keywords are single words",
    )
}

fn answer(is_on: impl Fn(&str) -> bool, language: Option<&str>) -> Value {
    let is_punctuated = is_on("punctuate") || is_on("smart_format");
    let word = |bare: &str, marked: &str, start: f64, end: f64| {
        let mut word = json!({"word": bare, "start": start, "end": end, "confidence": 0.98});
        if is_punctuated {
            word["punctuated_word"] = json!(marked);
        }
        word
    };
    let transcript = if is_punctuated {
        "Hello real world."
    } else {
        "hello real world"
    };
    let mut channel = json!({"alternatives": [{
        "transcript": transcript,
        "confidence": 0.97,
        "words": [
            word("hello", "Hello", 0.0, 0.5),
            word("real", "real", 0.5, 0.9),
            word("world", "world.", 0.9, 1.4),
        ],
    }]});
    if language.is_none() && is_on("detect_language") {
        channel["detected_language"] = json!("en");
        channel["language_confidence"] = json!(0.99);
    }
    let mut results = json!({"channels": [channel]});
    if is_on("utterances") {
        results["utterances"] = json!([{"start": 0.0, "end": 1.4, "confidence": 0.97, "channel": 0,
            "transcript": transcript, "words": [], "id": "u1"}]);
    }
    json!({
        "metadata": {"transaction_key": "deprecated", "request_id": "r", "sha256": "0", "channels": 1,
            "created": "2026-11-20T00:00:00Z", "duration": 1.5},
        "results": results,
    })
}
