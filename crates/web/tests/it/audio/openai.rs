//! `/v1/audio/*` and `/v1/models`, called like `OpenAI`'s API.

use super::vendor::audio_of;
use super::{Harness, bytes, form, upload, wav};
use gatehouse_testkit::{Actor, Options, Reply};
use serde_json::{Value, json};

/// Returns a client with an API key.
async fn client(harness: &Harness) -> Actor {
    let scopes = ["operator.read", "operator.write"];
    harness.server.api_key(&harness.owner, &scopes).await
}

#[tokio::test]
async fn a_text_is_spoken() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    let request = client.request("POST", "/v1/audio/speech");
    let body = json!({ "model": "gpt-4o-mini-tts", "input": "Hello.", "voice": "coral",
        "instructions": "Cheerful.", "response_format": "opus", "speed": 1.5, "stream_format": "audio" });
    let got = bytes(request.json(&body)).await;
    assert_eq!((got.status, got.header("content-type")), (200, "audio/ogg"));
    assert_eq!(got.body, audio_of("Hello.", "opus"));
    assert_eq!(
        harness.vendor.spoken(),
        [
            json!({ "model": "gpt-4o-mini-tts", "input": "Hello.", "voice": "coral",
            "instructions": "Cheerful.", "response_format": "opus", "speed": 1.5 })
        ]
    );
    // Minimal requests, and a custom voice as an object.
    for (body, model, voice) in [
        (json!({ "input": "Hi." }), "gpt-4o-mini-tts", "alloy"),
        (
            json!({ "input": "Hi.", "model": "openai/tts-1", "voice": { "id": "nova" } }),
            "tts-1",
            "nova",
        ),
        (
            json!({ "input": "Hi.", "model": "tts_cloud_2", "voice": "", "user": "me" }),
            "gpt-4o-mini-tts",
            "alloy",
        ),
    ] {
        let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
        assert_eq!(got.body, audio_of("Hi.", "mp3"), "{body}");
        let asked = harness.vendor.spoken().pop().unwrap();
        assert_eq!(
            (&asked["model"], &asked["voice"]),
            (&json!(model), &json!(voice))
        );
    }
}

#[tokio::test]
async fn what_cannot_be_spoken_is_refused_with_the_clients_own_names() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    for (body, field) in [
        (json!({}), "input"),
        (json!({ "input": "" }), "input"),
        (json!({ "input": "x".repeat(4097) }), "input"),
        (
            json!({ "input": "x", "response_format": "ape" }),
            "response_format",
        ),
        (
            json!({ "input": "x", "stream_format": "json" }),
            "stream_format",
        ),
        (json!({ "input": "x", "speed": 4.01 }), "speed"),
        (json!({ "input": "x", "voice": "a\nb" }), "voice"),
    ] {
        let refused = client.post("/v1/audio/speech", body.clone()).await;
        let received = refused.refused(400, "INVALID_PARAMS");
        assert_eq!(received["field"], field, "{body}");
        assert_eq!(received["error"]["param"], field, "{body}");
        assert_eq!(received["error"]["code"], "INVALID_PARAMS");
    }
    let refused = client
        .post("/v1/audio/speech", json!({ "input": "refuse" }))
        .await;
    refused.refused(502, "PROVIDER_FAILED");
    let piper = client
        .post(
            "/v1/audio/speech",
            json!({ "input": "x", "model": "piper" }),
        )
        .await;
    piper.refused(503, "NOT_CONFIGURED");
    let nobody = harness.server.local().remote();
    let body = json!({ "input": "x" });
    nobody
        .post("/v1/audio/speech", body.clone())
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    let reader = harness
        .server
        .api_key(&harness.owner, &["operator.read"])
        .await;
    reader
        .post("/v1/audio/speech", body)
        .await
        .refused(403, "FORBIDDEN");
}

#[tokio::test]
async fn openais_names_say_nothing_to_others() {
    let coqui = Coqui::start().await;
    let options = Options::default()
        .env("SERVICE_VOICE__TTS__COQUI__ENDPOINT", &coqui.url)
        .env("SERVICE_VOICE__TTS__PROVIDER", "coqui");
    let harness = Harness::with(options).await;
    let client = client(&harness).await;
    for (voice, model) in [
        ("alloy", "tts-1"),
        ("p225", "coqui"),
        ("p226", "coqui/anything"),
    ] {
        let body =
            json!({ "input": "Hi.", "voice": voice, "model": model, "response_format": "wav" });
        let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
        assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
        assert_eq!(got.header("x-provider"), "tts_local_2");
    }
    let voices = coqui.voices.lock().unwrap().clone();
    assert_eq!(
        voices,
        [None, Some("p225".to_owned()), Some("p226".to_owned())]
    );
    // A request that names the vendor uses it.
    let body = json!({ "input": "Hi.", "voice": "nova", "model": "openai/tts-1" });
    let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
    assert_eq!(got.header("x-provider"), "tts_cloud_2");
    assert_eq!(harness.vendor.spoken()[0]["voice"], "nova");
    // A request with a persona of that vendor uses it too.
    let persona = json!({ "id": "ada", "label": "Ada", "provider": "openai" });
    harness
        .owner
        .rpc("voice.personas.create", persona)
        .await
        .unwrap();
    let active = harness
        .owner
        .rpc("voice.personas.set_active", json!({ "id": "ada" }));
    active.await.unwrap();
    let body = json!({ "input": "Hi.", "voice": "onyx", "model": "tts-1-hd" });
    let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
    assert_eq!(got.header("x-persona"), "ada");
    let asked = harness.vendor.spoken().pop().unwrap();
    assert_eq!(
        (&asked["voice"], &asked["model"]),
        (&json!("onyx"), &json!("tts-1-hd"))
    );
}

/// The requested voices.
type Voices = std::sync::Arc<std::sync::Mutex<Vec<Option<String>>>>;

/// A fake Coqui server (`TTS.server`): `GET` or `POST /api/tts` with `text` and `speaker_id`.
struct Coqui {
    url: String,
    voices: Voices,
}

impl Coqui {
    async fn start() -> Self {
        use axum::extract::{RawForm, State};
        async fn speak(State(voices): State<Voices>, RawForm(form): RawForm) -> Vec<u8> {
            let query = format!("http://x/?{}", String::from_utf8(form.to_vec()).unwrap());
            let url = reqwest::Url::parse(&query).unwrap();
            let speaker = url
                .query_pairs()
                .find(|(name, value)| name == "speaker_id" && !value.is_empty());
            voices
                .lock()
                .unwrap()
                .push(speaker.map(|(_, value)| value.into_owned()));
            wav()
        }
        let voices = Voices::default();
        let router = axum::Router::new()
            .route("/api/tts", axum::routing::get(speak).post(speak))
            .with_state(voices.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, voices }
    }
}

async fn transcribe(client: &Actor, fields: &[(&str, &str)]) -> Reply {
    upload(client, "/v1/audio/transcriptions", fields).await
}

#[tokio::test]
async fn a_key_that_ended_during_a_transcription_gets_no_text() {
    let harness = Harness::new().await;
    let call = async |client: Actor| transcribe(&client, &[]).await;
    let reply = harness.revoke_during(call, || {}).await;
    reply.refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn a_recording_is_understood_in_each_format() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    let format = async |format: &str| {
        let fields = [
            ("model", "whisper-1"),
            ("response_format", format),
            ("temperature", "0.2"),
        ];
        transcribe(&client, &fields).await
    };
    assert_eq!(
        transcribe(&client, &[("model", "whisper-1")])
            .await
            .expect(200),
        json!({ "text": "Hello there." })
    );
    assert_eq!(
        format("json").await.expect(200),
        json!({ "text": "Hello there." })
    );
    let text = format("text").await;
    assert_eq!(text.text, "Hello there.\n");
    assert_eq!(
        text.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let srt = format("srt").await;
    assert_eq!(
        srt.text.trim_end(),
        "1\n00:00:00,000 --> 00:00:00,500\nHello there."
    );
    let vtt = format("vtt").await;
    assert_eq!(
        vtt.text.trim_end(),
        "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nHello there."
    );
    assert_eq!(vtt.header("content-type"), Some("text/vtt; charset=utf-8"));
    let verbose = format("verbose_json").await.expect(200);
    assert_eq!(
        (&verbose["task"], &verbose["language"]),
        (&json!("transcribe"), &json!("english"))
    );
    assert_eq!(
        (&verbose["text"], &verbose["duration"]),
        (&json!("Hello there."), &json!(1.0))
    );
    assert_eq!(verbose.get("words"), None);
    let segment = &verbose["segments"][0];
    assert_eq!(
        (&segment["id"], &segment["start"], &segment["end"]),
        (&json!(0), &json!(0.0), &json!(0.5))
    );
    for member in [
        "seek",
        "tokens",
        "temperature",
        "avg_logprob",
        "compression_ratio",
        "no_speech_prob",
    ] {
        assert!(segment.get(member).is_some(), "{member}");
    }
    let words = [
        ("model", "whisper-1"),
        ("response_format", "verbose_json"),
        ("timestamp_granularities[]", "word"),
    ];
    let with_words = transcribe(&client, &words).await.expect(200);
    assert_eq!(with_words.get("segments"), None);
    assert_eq!(
        with_words["words"][1],
        json!({ "word": "there", "start": 0.25, "end": 0.5 })
    );
    let both = [words[1], words[2], ("timestamp_granularities[]", "segment")];
    let with_both = transcribe(&client, &both).await.expect(200);
    assert!(with_both["segments"].is_array() && with_both["words"].is_array());
}

#[tokio::test]
async fn what_is_said_of_a_recording_is_passed_on() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    let fields = [
        ("model", "gpt-4o-transcribe"),
        ("language", "de"),
        ("prompt", "Ada"),
        ("stream", "false"),
    ];
    transcribe(&client, &fields).await.expect(200);
    let heard = harness.vendor.heard().pop().unwrap();
    assert_eq!(heard["model"], ["gpt-4o-transcribe"]);
    assert_eq!(
        (&heard["language"][0], &heard["prompt"][0]),
        (&"de".to_owned(), &"Ada".to_owned())
    );
    for (fields, field) in [
        ([("model", "whisper-1"), ("stream", "yes")], "stream"),
        (
            [("model", "whisper-1"), ("response_format", "xml")],
            "response_format",
        ),
        (
            [("model", "whisper-1"), ("temperature", "2")],
            "temperature",
        ),
        (
            [
                ("model", "whisper-1"),
                ("timestamp_granularities[]", "word"),
            ],
            "timestamp_granularities",
        ),
        (
            [("model", "whisper-1"), ("language", "klingon")],
            "language",
        ),
        ([("model", "whisper-1"), ("model", "whisper-1")], "model"),
    ] {
        let refused = transcribe(&client, &fields).await;
        let received = refused.refused(400, "INVALID_PARAMS");
        assert_eq!(received["field"], field, "{fields:?}");
    }
    let (media_type, body) = form(&[("\"model\"", b"whisper-1")]);
    let at = "/v1/audio/transcriptions";
    let none = client.send_bytes("POST", at, Some(media_type), body).await;
    assert_eq!(none.refused(400, "INVALID_PARAMS")["field"], "file");
    let raw = client
        .send_bytes("POST", at, Some("audio/wav"), wav())
        .await;
    raw.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    transcribe(&client, &[("model", "groq")])
        .await
        .refused(503, "NOT_CONFIGURED");
    assert_eq!(harness.vendor.heard().len(), 1);
}

#[tokio::test]
async fn models_are_those_that_can_be_used() {
    // Hiding providers from lists does not restrict their use.
    let options = Options::default()
        .env("SERVICE_VOICE__TTS__PROVIDERS", "piper")
        .env("SERVICE_VOICE__STT__PROVIDERS", "groq");
    let harness = Harness::with(options).await;
    let client = client(&harness).await;
    let list = client.get("/v1/models").await.expect(200);
    assert_eq!(list["object"], "list");
    let ids = |list: &Value| -> Vec<String> {
        let data = list["data"].as_array().unwrap().iter();
        data.map(|model| model["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        ids(&list),
        [
            "agent/default",
            "tts-1",
            "tts-1-hd",
            "gpt-4o-mini-tts",
            "tts_cloud_2",
            "whisper-1",
            "gpt-4o-transcribe",
            "gpt-4o-mini-transcribe",
            "stt_cloud_1",
        ]
    );
    for id in ids(&list) {
        let one = client.get(&format!("/v1/models/{id}")).await.expect(200);
        assert_eq!((&one["id"], &one["object"]), (&json!(id), &json!("model")));
        assert!(
            one["created"].is_i64() && one["owned_by"].is_string(),
            "{one}"
        );
    }
    // The vendor's name works too. Unconfigured models are missing.
    assert_eq!(
        client.get("/v1/models/whisper").await.expect(200)["id"],
        "stt_cloud_1"
    );
    for missing in ["piper", "gpt-4o", "tts_local_1"] {
        client
            .get(&format!("/v1/models/{missing}"))
            .await
            .refused(404, "NOT_FOUND");
    }
}
