//! The requests of programs written for `OpenAI`'s audio API, with the gateway as base URL.
//!
//! Sources, as of November 2026:
//! - Open `WebUI`: `backend/open_webui/routers/audio.py` (`POST {base}/audio/speech` with the page's `input`
//!   and `voice`, the setting `model`, and what `AUDIO_TTS_OPENAI_PARAMS` adds; `POST
//!   {base}/audio/transcriptions` as a form of `file`, `model` and sometimes `language`, repeated without
//!   `language` if that was refused; `GET {base}/audio/voices` and `/audio/models`, without a key and with
//!   built-in names if they fail), `src/lib/apis/audio/index.ts`, and
//!   <https://docs.openwebui.com/features/chat-conversations/audio/speech-to-text/env-variables/>.
//! - Home Assistant, the integration `openai_tts`: `openaitts_engine.py`, `api_validation.py` of
//!   <https://github.com/sfortis/openai_tts>. It is configured with the full URL.
//! - Home Assistant, the integration `openai_whisper_cloud`: `stt.py`, `config_flow.py` of
//!   <https://github.com/fabio-garavini/ha-openai-whisper-stt-api>, with its provider `Custom`, which is
//!   configured with the full URL.
//! - Home Assistant's own `openai_conversation`: `tts.py` and `stt.py` of
//!   <https://github.com/home-assistant/core>. It has no setting for the base URL; other programs send the
//!   same requests.

use super::vendor::{TRANSCRIPT, audio_of, sound};
use super::{Gateway, wav};
use gatehouse_audio::{Format, encode};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

impl Gateway {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.request(method, format!("{}/v1{path}", self.server.url))
    }

    /// Requests speech as this program does; returns the response, and the request that the vendor received.
    async fn speak(&self, agent: &str, body: &Value) -> (Response, Value) {
        let request = self.request(Method::POST, "/audio/speech");
        let answer = request.bearer_auth(&self.key).header("user-agent", agent);
        let answer = answer.json(body).send().await.unwrap();
        (answer, self.vendor.spoken().pop().unwrap_or_default())
    }
}

const OPEN_WEBUI: &str = "Python/3.11 aiohttp/3.13.2";
const OPENAI_TTS: &str = "HomeAssistant-OpenAI-TTS";
const OPENAI_PYTHON: &str = "AsyncOpenAI/Python 2.21.0";
const REQUESTS: &str = "python-requests/2.32.5";

/// Program, user agent and request body, and the fields that the vendor receives in addition.
fn speeches() -> Vec<(&'static str, &'static str, Value, Value)> {
    let with_mp3 = json!({ "response_format": "mp3" });
    vec![
        (
            "Open WebUI, as it comes",
            OPEN_WEBUI,
            json!({ "input": "Read this aloud.", "voice": "alloy", "model": "tts-1" }),
            with_mp3.clone(),
        ),
        (
            "Open WebUI, with parameters, and the name of a user",
            OPEN_WEBUI,
            json!({ "input": "Read this aloud.", "voice": "shimmer", "model": "gpt-4o-mini-tts",
                "response_format": "opus", "speed": 1.25, "instructions": "Calm." }),
            json!({}),
        ),
        (
            "openai_tts, when it is set up",
            "HomeAssistant/2026.11.2 aiohttp/3.13.2 Python/3.13",
            json!({ "model": "tts-1", "input": ".", "voice": "alloy", "response_format": "mp3" }),
            json!({}),
        ),
        (
            "openai_tts",
            OPENAI_TTS,
            json!({ "model": "tts-1-hd", "input": "The door is open.", "voice": "shimmer",
                "response_format": "mp3", "speed": 1.0 }),
            json!({}),
        ),
        (
            "openai_tts, streaming, with an extra payload",
            OPENAI_TTS,
            json!({ "model": "gpt-4o-mini-tts", "input": "The door is open.", "voice": "verse",
                "response_format": "opus", "speed": 0.9, "instructions": "Whisper.",
                "chat_template_kwargs": { "seed": 7 } }),
            json!({ "chat_template_kwargs": null }),
        ),
        (
            "openai_tts, for chimes",
            OPENAI_TTS,
            json!({ "model": "tts-1", "input": "Es klingelt. Grüße 😀", "voice": "nova",
                "response_format": "wav", "speed": 1.0 }),
            json!({}),
        ),
        (
            "openai_conversation",
            OPENAI_PYTHON,
            json!({ "model": "gpt-4o-mini-tts", "voice": "marin", "input": "It is 7 o'clock.",
                "instructions": "None", "speed": 1.0, "response_format": "mp3" }),
            json!({}),
        ),
    ]
}

#[tokio::test]
async fn what_they_send_is_spoken() {
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    for (who, agent, body, more) in speeches() {
        let (answer, asked) = gateway.speak(agent, &body).await;
        let format = body["response_format"].as_str().unwrap_or("mp3");
        assert_eq!(answer.status(), 200, "{who}");
        let media_type = answer.headers()["content-type"].to_str().unwrap();
        assert_eq!(
            media_type,
            Format::parse(format).unwrap().mime_type(),
            "{who}"
        );
        let audio = answer.bytes().await.unwrap();
        assert_eq!(
            audio,
            audio_of(asked["input"].as_str().unwrap(), format),
            "{who}"
        );
        let mut expected = body.clone();
        let fields = expected.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        fields.retain(|_, value| !value.is_null());
        assert_eq!(asked, expected, "{who}");
    }
    // User names, which Open WebUI can add, are not forwarded.
    let body = json!({ "input": "Read this aloud.", "voice": "alloy", "model": "tts-1" });
    let request = gateway
        .request(Method::POST, "/audio/speech")
        .bearer_auth(&gateway.key);
    let request = request.header("X-OpenWebUI-User-Email", "ada@example.org");
    let answer = request.json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(gateway.vendor.requests_with("ada@example.org"), 0);
    gateway.check_keys();
}

/// Returns a form as these programs encode it (RFC 7578): the fields, then the file with its name and media type.
fn form(fields: &[(&str, &str)], file: (&str, &str), audio: &[u8]) -> Vec<u8> {
    let mut form = Vec::new();
    let disposition = "--0f1e2d\r\nContent-Disposition: form-data; name=";
    for (name, value) in fields {
        form.extend(format!("{disposition}\"{name}\"\r\n\r\n{value}\r\n").into_bytes());
    }
    let (name, media_type) = file;
    form.extend(format!("{disposition}\"file\"; filename=\"{name}\"\r\n").into_bytes());
    if !media_type.is_empty() {
        form.extend(format!("Content-Type: {media_type}\r\n").into_bytes());
    }
    form.extend(b"\r\n");
    form.extend(audio);
    form.extend(b"\r\n--0f1e2d--\r\n");
    form
}

/// Program, user agent, form fields, and the file's name and media type.
type Recording = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    (&'static str, &'static str),
);

const RECORDINGS: [Recording; 5] = [
    (
        "Open WebUI, in the language of its page",
        REQUESTS,
        &[("model", "whisper-1"), ("language", "en")],
        ("9d1c8a9e-7d0a-4a53-9b4e-5e3f0c6a7b21.wav", ""),
    ),
    (
        "Open WebUI, made smaller",
        OPEN_WEBUI,
        &[("model", "gpt-4o-transcribe")],
        (
            "9d1c8a9e-7d0a-4a53-9b4e-5e3f0c6a7b21.mp3",
            "application/octet-stream",
        ),
    ),
    (
        "openai_whisper_cloud",
        REQUESTS,
        &[
            ("model", "whisper-1"),
            ("language", "de"),
            ("temperature", "0"),
            ("prompt", ""),
            ("response_format", "json"),
        ],
        ("audio.wav", "audio/wav"),
    ),
    (
        "openai_conversation",
        OPENAI_PYTHON,
        &[
            ("model", "gpt-4o-mini-transcribe"),
            ("language", "en"),
            (
                "prompt",
                "The following conversation is a smart home user talking.",
            ),
            ("response_format", "json"),
        ],
        ("a.wav", "audio/x-wav"),
    ),
    (
        "openai_conversation, from a satellite that sends Opus",
        OPENAI_PYTHON,
        &[
            ("model", "whisper-1"),
            ("language", "pt"),
            ("response_format", "json"),
        ],
        ("a.ogg", "audio/ogg"),
    ),
];

#[tokio::test]
async fn what_they_send_is_understood() {
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let post = async |agent: &str, form: Vec<u8>| {
        let request = gateway.request(Method::POST, "/audio/transcriptions");
        let request = request
            .bearer_auth(&gateway.key)
            .header("user-agent", agent);
        let request = request.header("content-type", "multipart/form-data; boundary=0f1e2d");
        request.body(form).send().await.unwrap()
    };
    for (who, agent, fields, file) in RECORDINGS {
        let (_, ending) = file.0.rsplit_once('.').unwrap();
        let audio = encode(&sound(24_000), Format::parse(ending).unwrap()).unwrap();
        let answer = post(agent, form(fields, file, &audio)).await;
        assert_eq!(answer.status(), 200, "{who}");
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer, json!({ "text": TRANSCRIPT }), "{who}");
        let heard = gateway.vendor.heard().pop().unwrap();
        for (name, value) in fields {
            let asked = heard.get(*name).map(|all| all[0].as_str());
            match *name {
                "model" | "language" => assert_eq!(asked, Some(*value), "{who}"),
                "prompt" => assert_eq!(asked.unwrap_or_default(), *value, "{who}"),
                _ => {}
            }
        }
    }
    // Open WebUI retries without the language when the first request fails.
    let fields = [("model", "whisper-1"), ("language", "auto")];
    let file = ("a.wav", "");
    let refused = post(REQUESTS, form(&fields, file, &wav())).await;
    assert_eq!(refused.status(), 400);
    let again = post(REQUESTS, form(&fields[..1], file, &wav())).await;
    assert_eq!(again.status(), 200);
    gateway.check_keys();
}

#[tokio::test]
async fn what_they_ask_before_is_answered() {
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let get = async |path: &str, key: &str| {
        let mut request = gateway.request(Method::GET, path);
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        let answer = request.send().await.unwrap();
        (answer.status(), answer.json::<Value>().await.unwrap())
    };
    // openai_whisper_cloud looks for its model in the list, and recognizes a wrong key by 401.
    let (status, list) = get("/models", &gateway.reader).await;
    assert_eq!(status, StatusCode::OK);
    let models = list["data"].as_array().unwrap();
    assert!(
        models.iter().any(|model| model["id"] == "whisper-1"),
        "{list}"
    );
    assert_eq!(get("/models", "mk_wrong").await.0, StatusCode::UNAUTHORIZED);
    // Open WebUI asks without a key, and falls back to OpenAI's voice and model names.
    for (path, status) in [
        ("/audio/voices", StatusCode::OK),
        ("/audio/models", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(get(path, "").await.0, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(get(path, &gateway.reader).await.0, status, "{path}");
    }
    // openai_tts distinguishes a wrong key, and one that may not speak, from other errors.
    let (_, _, body, _) = speeches().remove(2);
    for (key, status) in [("mk_wrong", 401), (&gateway.reader, 403)] {
        let request = gateway
            .request(Method::POST, "/audio/speech")
            .bearer_auth(key);
        let answer = request.json(&body).send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
    // The vendor received one request: for its list of voices.
    assert_eq!(gateway.vendor.requests(), 1);
}
