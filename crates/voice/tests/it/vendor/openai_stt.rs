//! Fakes of `OpenAI`'s transcription and of compatible vendors: Groq, Mistral, vLLM. The providers' own files
//! name the sources; statuses follow the vendors' pages on errors.

use super::fake_server::ReceivedRequest;
use super::listener::{Listener, Refusal, ending, looks_like, must};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart};
use axum::http::Request;
use futures_util::FutureExt;
use serde_json::{Value, json};

/// The vendor to fake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    OpenAi,
    Groq,
    Mistral,
    Vllm,
}

impl Vendor {
    /// Returns the only model that translates.
    const fn translator(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("whisper-1"),
            Self::Groq => Some("whisper-large-v3"),
            Self::Mistral | Self::Vllm => None,
        }
    }
}

/// The languages of the responses, by code and by name.
const LANGUAGES: &[(&str, &str)] = &[("en", "english"), ("de", "german"), ("fr", "french")];
/// The name of the model that vLLM serves.
pub const SERVED: &str = "mistralai/Voxtral-Mini-3B-2507";

pub async fn openai() -> Listener {
    Listener::start(|seen| rules(Vendor::OpenAi, seen).boxed()).await
}

pub async fn groq() -> Listener {
    Listener::start(|seen| rules(Vendor::Groq, seen).boxed()).await
}

pub async fn mistral() -> Listener {
    Listener::start(|seen| rules(Vendor::Mistral, seen).boxed()).await
}

pub async fn vllm() -> Listener {
    Listener::start(|seen| rules(Vendor::Vllm, seen).boxed()).await
}

/// A received form.
#[derive(Debug, Default)]
pub struct Form {
    pub fields: Vec<(String, String)>,
    pub file_name: String,
    pub media_type: String,
    pub audio: Bytes,
}

impl Form {
    /// Returns every value of a field.
    pub fn all(&self, name: &str) -> Vec<&str> {
        let of_name = self.fields.iter().filter(|(field, _)| field == name);
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    fn one(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let all = self.all(name);
        must(all.len() < 2, 400, format!("{name} came twice"))?;
        Ok(all.first().copied())
    }
}

/// Parses a form strictly.
pub async fn form(seen: &ReceivedRequest) -> Result<Form, Refusal> {
    let bad = |why: String| (400, why);
    let media_type = seen.header("content-type").unwrap_or_default();
    let mut request = Request::builder()
        .header("content-type", media_type)
        .body(Body::from(seen.body.clone()))
        .unwrap();
    DefaultBodyLimit::disable().apply(&mut request);
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|error| bad(error.to_string()))?;
    let mut form = Form::default();
    let mut files = 0;
    while let Some(part) = parts.next_field().await.map_err(|e| bad(e.to_string()))? {
        let name = part.name().unwrap_or_default().to_owned();
        if name != "file" {
            must(part.file_name().is_none(), 400, "a field is a file")?;
            let value = part.text().await.map_err(|e| bad(e.to_string()))?;
            form.fields.push((name, value));
            continue;
        }
        files += 1;
        part.file_name()
            .unwrap_or_default()
            .clone_into(&mut form.file_name);
        part.content_type()
            .unwrap_or_default()
            .clone_into(&mut form.media_type);
        form.audio = part.bytes().await.map_err(|e| bad(e.to_string()))?;
    }
    must(files == 1, 400, "expected one file")?;
    Ok(form)
}

async fn rules(vendor: Vendor, seen: ReceivedRequest) -> Result<Value, Refusal> {
    let base = if vendor == Vendor::Groq {
        "/openai/v1"
    } else {
        "/v1"
    };
    let path = seen.path.strip_prefix(base).unwrap_or_default();
    let key = format!("Bearer {}", super::listener::KEY);
    let wanted = (vendor != Vendor::Vllm).then_some(key.as_str());
    must(
        seen.header("authorization") == wanted,
        401,
        "Incorrect API key",
    )?;
    must(seen.query.is_empty(), 400, "nothing belongs into the query")?;
    if vendor == Vendor::Vllm && path == "/models" && seen.method == "GET" {
        return Ok(json!({"object": "list", "data": [
            {"id": SERVED, "object": "model", "owned_by": "vllm"},
            {"id": "another", "object": "model", "owned_by": "vllm"},
        ]}));
    }
    let translates = path == "/audio/translations" && vendor.translator().is_some();
    must(
        path == "/audio/transcriptions" || translates,
        404,
        "no such address",
    )?;
    must(seen.method == "POST", 405, "not this way")?;
    must(
        seen.body.len() <= 25 << 20,
        413,
        "Maximum content size limit exceeded",
    )?;
    let form = form(&seen).await?;
    file(vendor, &form)?;
    let model = form.one("model")?.unwrap_or_default();
    must(!model.is_empty(), 400, "you must provide a model parameter")?;
    if translates {
        return translation(vendor, model, &form);
    }
    let unknown = if vendor == Vendor::Mistral { 400 } else { 404 };
    must(
        models(vendor).contains(&model),
        unknown,
        "The model does not exist",
    )?;
    let language = form.one("language")?;
    let code = language.unwrap_or("en");
    must(
        LANGUAGES.iter().any(|(known, _)| *known == code),
        400,
        format!("Invalid language {code}: expected ISO-639-1"),
    )?;
    match vendor {
        Vendor::OpenAi => openai_rules(model, &form)?,
        Vendor::Groq => whisper_rules(&form)?,
        Vendor::Mistral => mistral_rules(&form)?,
        Vendor::Vllm => vllm_rules(&form)?,
    }
    Ok(answer(vendor, &form, code))
}

fn models(vendor: Vendor) -> &'static [&'static str] {
    match vendor {
        Vendor::OpenAi => &[
            "whisper-1",
            "gpt-4o-transcribe",
            "gpt-4o-mini-transcribe",
            "gpt-4o-mini-transcribe-2025-12-15",
            "gpt-4o-transcribe-diarize",
        ],
        Vendor::Groq => &["whisper-large-v3-turbo", "whisper-large-v3"],
        Vendor::Mistral => &["voxtral-mini-latest", "voxtral-mini-2507"],
        Vendor::Vllm => &[SERVED, "another"],
    }
}

/// Checks that the file has a name, is of an accepted kind, and matches the extension of its name.
fn file(vendor: Vendor, form: &Form) -> Result<(), Refusal> {
    let (_, name) = form.file_name.rsplit_once('.').unwrap_or_default();
    let taken: &[&str] = match vendor {
        Vendor::Mistral => &["wav", "mp3", "flac", "ogg", "webm"],
        _ => &["flac", "mp3", "m4a", "ogg", "wav", "webm"],
    };
    let formats = taken.join(", ");
    must(
        taken.contains(&name),
        400,
        format!("Supported formats: {formats}"),
    )?;
    let media = ending(&form.media_type);
    must(media == Some(name), 400, "the media type is not the name's")?;
    must(!form.audio.is_empty(), 400, "the audio is too short")?;
    let is_audio = looks_like(name, &form.audio);
    must(
        is_audio,
        400,
        "Audio file might be corrupted or unsupported",
    )
}

fn only(form: &Form, known: &[&str]) -> Result<(), Refusal> {
    for (name, _) in &form.fields {
        let is_known = known.contains(&name.as_str());
        must(is_known, 400, format!("Unknown parameter: {name}"))?;
    }
    Ok(())
}

fn openai_rules(model: &str, form: &Form) -> Result<(), Refusal> {
    if model == "whisper-1" {
        return whisper_rules(form);
    }
    let tells_speakers = model.ends_with("diarize");
    let mut known = vec!["model", "language", "response_format", "chunking_strategy"];
    let formats: &[&str] = if tells_speakers {
        &["json", "text", "diarized_json"]
    } else {
        known.extend(["prompt", "include[]", "stream"]);
        &["json"]
    };
    must(
        ["true", "false"].contains(&form.one("stream")?.unwrap_or("false")),
        400,
        "stream is no boolean",
    )?;
    only(form, &known)?;
    let format = form.one("response_format")?.unwrap_or("json");
    must(
        formats.contains(&format),
        400,
        format!("response_format '{format}' is not compatible with model '{model}'"),
    )?;
    let strategy = form.one("chunking_strategy")?;
    must(
        !tells_speakers || strategy == Some("auto"),
        400,
        "chunking_strategy is required",
    )?;
    let included = form.all("include[]");
    must(
        included.iter().all(|what| *what == "logprobs"),
        400,
        "no such include",
    )
}

fn whisper_rules(form: &Form) -> Result<(), Refusal> {
    let granularities = "timestamp_granularities[]";
    only(
        form,
        &[
            "model",
            "language",
            "prompt",
            "response_format",
            "temperature",
            granularities,
        ],
    )?;
    form.one("prompt")?;
    let format = form.one("response_format")?.unwrap_or("json");
    must(
        ["json", "text", "srt", "vtt", "verbose_json"].contains(&format),
        400,
        "no such format",
    )?;
    let wanted = form.all(granularities);
    let is_verbose = format == "verbose_json";
    must(
        wanted.is_empty() || is_verbose,
        400,
        "timestamps need verbose_json",
    )?;
    must(
        wanted.iter().all(|g| ["word", "segment"].contains(g)),
        400,
        "no such granularity",
    )
}

fn mistral_rules(form: &Form) -> Result<(), Refusal> {
    only(
        form,
        &[
            "model",
            "language",
            "temperature",
            "diarize",
            "context_bias",
            "timestamp_granularities",
        ],
    )?;
    let times = form.all("timestamp_granularities");
    must(
        times.iter().all(|g| ["segment", "word"].contains(g)),
        422,
        "no such granularity",
    )?;
    let excluded = !times.is_empty() && form.one("language")?.is_some();
    must(
        !excluded,
        400,
        "timestamp_granularities is not compatible with language",
    )?;
    let bias = form.all("context_bias");
    must(bias.len() <= 100, 422, "at most 100 items")?;
    let is_item = |item: &&str| !item.is_empty() && !item.contains([',', ' ', '\t', '\n']);
    must(
        bias.iter().all(is_item),
        422,
        "context_bias does not match ^[^,\\s]+$",
    )
}

fn vllm_rules(form: &Form) -> Result<(), Refusal> {
    only(form, &["model", "language", "response_format"])?;
    let format = form.one("response_format")?.unwrap_or("json");
    must(
        format != "verbose_json",
        400,
        "Currently do not support verbose_json for this model",
    )?;
    must(["json", "text"].contains(&format), 400, "no such format")
}

/// <https://platform.openai.com/docs/api-reference/audio/createTranslation> and
/// <https://console.groq.com/docs/speech-to-text>
fn translation(vendor: Vendor, model: &str, form: &Form) -> Result<Value, Refusal> {
    only(form, &["model", "prompt", "response_format", "temperature"])?;
    must(
        vendor.translator() == Some(model),
        400,
        "The model does not support translation",
    )?;
    form.one("prompt")?;
    let format = form.one("response_format")?.unwrap_or("json");
    let mut answer = json!({"text": " Good morning."});
    if format == "verbose_json" {
        answer["task"] = json!("translate");
        answer["language"] = json!("english");
        answer["duration"] = json!(1.5);
        answer["segments"] = json!([{"id": 0, "seek": 0, "start": 0.0, "end": 1.5,
            "text": " Good morning.", "tokens": [1, 2], "temperature": 0.0, "avg_logprob": -0.25,
            "compression_ratio": 0.8, "no_speech_prob": 0.01}]);
    }
    Ok(answer)
}

/// `TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in `OpenAI`'s OpenAPI document.
pub fn events(deltas: &[&str], text: &str) -> String {
    let deltas = deltas
        .iter()
        .map(|delta| json!({"type": "transcript.text.delta", "delta": delta}));
    let done = json!({"type": "transcript.text.done", "text": text, "usage": {
        "type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19,
        "input_token_details": {"text_tokens": 0, "audio_tokens": 14},
    }});
    let events = deltas
        .chain([done])
        .map(|event| format!("data: {event}\n\n"));
    events.collect()
}

/// "Hello real world.", with the requested details.
fn answer(vendor: Vendor, form: &Form, code: &str) -> Value {
    if form.all("stream") == ["true"] {
        let deltas = ["Hello", " real", " world."];
        return json!(events(&deltas, "Hello real world."));
    }
    let segment = json!({"id": 0, "seek": 0, "start": 0.0, "end": 1.5, "text": " Hello real world.",
        "tokens": [1, 2, 3, 4], "temperature": 0.0, "avg_logprob": -0.25,
        "compression_ratio": 0.8, "no_speech_prob": 0.01});
    let name = LANGUAGES
        .iter()
        .find(|(known, _)| *known == code)
        .unwrap()
        .1;
    let format = form.all("response_format");
    let mut answer = json!({"text": " Hello real world."});
    let mut put = |name: &str, value: Value| answer[name] = value;
    match (vendor, format.first().copied()) {
        (Vendor::Mistral, _) => {
            put("model", json!("voxtral-mini-2602"));
            put(
                "language",
                form.all("language")
                    .first()
                    .map_or(json!("en"), |l| json!(l)),
            );
            let has_times = !form.all("timestamp_granularities").is_empty();
            let sent = json!([{"type": "transcription_segment", "text": " Hello real world.",
                "start": 0.0, "end": 1.5}]);
            put("segments", if has_times { sent } else { json!([]) });
            put(
                "usage",
                json!({"prompt_audio_seconds": 2, "prompt_tokens": 4,
                "completion_tokens": 4, "total_tokens": 8}),
            );
        }
        (Vendor::Vllm, _) => put("usage", json!({"type": "duration", "seconds": 2})),
        (_, Some("verbose_json")) => {
            put("task", json!("transcribe"));
            put("language", json!(name));
            put("duration", json!(1.5));
            let wanted = form.all("timestamp_granularities[]");
            if wanted.contains(&"word") {
                put(
                    "words",
                    json!([
                        {"word": "Hello", "start": 0.0, "end": 0.5},
                        {"word": "real", "start": 0.5, "end": 0.9},
                        {"word": "world", "start": 0.9, "end": 1.4},
                    ]),
                );
            }
            if wanted.is_empty() || wanted.contains(&"segment") {
                put("segments", json!([segment]));
            }
        }
        (_, Some("diarized_json")) => {
            put("task", json!("transcribe"));
            put("duration", json!(1.5));
            put(
                "segments",
                json!([{"type": "transcript.text.segment", "id": "seg_1", "start": 0.0,
                "end": 1.5, "text": " Hello real world.", "speaker": "A"}]),
            );
        }
        _ if form.all("include[]").contains(&"logprobs") => put(
            "logprobs",
            json!([
                {"token": "Hello", "logprob": -0.5, "bytes": [72]},
                {"token": " world", "logprob": 0.0, "bytes": [32]},
            ]),
        ),
        _ => (),
    }
    answer
}
