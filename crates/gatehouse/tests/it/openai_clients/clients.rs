//! `OpenAI`'s own clients for Python and Node: only the base URL and the key are set.

use super::Gateway;
use super::vendor::{REFUSAL, REFUSED, TRANSCRIPT, TRANSLATION, Vendor, audio_of};
use crate::clients::Client;
use crate::process::Installation;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A status, and the client's error class for it.
pub(super) type ClientFailure = (u16, &'static str);

pub(super) fn clients() -> Vec<Client> {
    crate::clients::clients("OpenAI's clients", "GATEHOUSE_TEST_OPENAI_CLIENTS")
}

impl Client {
    /// Runs these jobs with this key; returns the result of each.
    pub(super) async fn run_jobs(
        &self,
        gateway: &Gateway,
        key: &str,
        jobs: &[Value],
    ) -> Vec<Value> {
        let order =
            json!({ "base_url": format!("{}/v1", gateway.server.url), "key": key, "jobs": jobs });
        let Value::Array(answers) = self.run(&order).await else {
            panic!("{}: not a list", self.language);
        };
        assert_eq!(answers.len(), jobs.len(), "{}", self.language);
        answers
    }

    /// Runs jobs that must fail. Both clients report equivalent error classes. Returns the messages.
    pub(super) async fn refused(
        &self,
        gateway: &Gateway,
        key: &str,
        jobs: &[(Value, ClientFailure)],
    ) -> Vec<String> {
        let orders: Vec<Value> = jobs.iter().map(|(job, _)| job.clone()).collect();
        let answers = self.run_jobs(gateway, key, &orders).await;
        let mut messages = Vec::new();
        for ((job, (status, class)), answer) in jobs.iter().zip(answers) {
            assert_eq!(
                answer["status"], *status,
                "{} {job} {answer}",
                self.language
            );
            assert_eq!(answer["error"], *class, "{} {job} {answer}", self.language);
            messages.push(answer["message"].as_str().unwrap().to_owned());
        }
        messages
    }

    /// Returns the client's error class for a status without its own class.
    pub(super) fn any_status(&self) -> &'static str {
        match self.language {
            "Python" => "APIStatusError",
            _ => "APIError",
        }
    }
}

fn speech(text: &str, format: &str) -> Value {
    json!({ "do": "speech", "with": { "model": "tts-1", "voice": "nova", "input": text,
        "response_format": format, "speed": 1.25 } })
}

fn transcription(file: &str, more: &Value) -> Value {
    let mut with = json!({ "model": "whisper-1", "file": file });
    let fields = with.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    json!({ "do": "transcribe", "with": with })
}

#[tokio::test]
async fn they_speak() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    for client in &clients {
        let language = client.language;
        let file = gateway.file("speech.mp3", b"").await;
        let mut jobs: Vec<Value> = ["mp3", "opus", "flac", "wav", "pcm"]
            .map(|format| speech("Good morning.", format))
            .into();
        let styled = json!({ "model": "gpt-4o-mini-tts", "voice": "coral", "input": "As little.",
            "instructions": "Cheerful." });
        jobs.push(json!({ "do": "speech", "with": styled }));
        let long = "A sentence of a longer text. ".repeat(100);
        let mut to_a_file = speech(&long, "mp3");
        to_a_file["do"] = json!("stream");
        to_a_file["to"] = json!(file);
        jobs.push(to_a_file);
        let answers = client.run_jobs(&gateway, &gateway.key, &jobs).await;
        let spoken = gateway.vendor.spoken();
        for (n, format) in ["mp3", "opus", "flac", "wav", "pcm"].iter().enumerate() {
            let audio = STANDARD.decode(answers[n]["ok"].as_str().unwrap()).unwrap();
            assert_eq!(
                audio,
                audio_of("Good morning.", format),
                "{language} {format}"
            );
            assert_eq!(spoken[n], jobs[n]["with"], "{language}");
        }
        let audio = STANDARD.decode(answers[5]["ok"].as_str().unwrap()).unwrap();
        assert_eq!(audio, audio_of("As little.", "mp3"), "{language}");
        assert_eq!(spoken[5]["instructions"], "Cheerful.");
        assert_eq!(answers[6]["ok"], "audio/mpeg", "{language} {}", answers[6]);
        let streamed = tokio::fs::read(&file).await.unwrap();
        let text = spoken[6]["input"].as_str().unwrap();
        assert_eq!(text, long);
        assert_eq!(streamed, audio_of(text, "mp3"), "{language}");
    }
    gateway.check_keys();
}

#[tokio::test]
async fn they_transcribe() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let file = gateway.recording().await;
    let words = json!([{ "word": "Hello", "start": 0.125, "end": 0.25 },
        { "word": "there", "start": 0.25, "end": 0.5 }]);
    for client in &clients {
        let language = client.language;
        let wanted = [
            json!({ "language": "en", "prompt": "Ada", "temperature": 0.2 }),
            json!({ "response_format": "json" }),
            json!({ "response_format": "text" }),
            json!({ "response_format": "srt" }),
            json!({ "response_format": "vtt" }),
            json!({ "response_format": "verbose_json" }),
            json!({ "response_format": "verbose_json", "timestamp_granularities": ["word"] }),
            json!({ "response_format": "verbose_json", "timestamp_granularities": ["word", "segment"] }),
            json!({ "model": "gpt-4o-mini-transcribe" }),
        ];
        let jobs = wanted.map(|more| transcription(&file, &more));
        let answers = client.run_jobs(&gateway, &gateway.key, &jobs).await;
        let ok: Vec<&Value> = answers.iter().map(|answer| &answer["ok"]).collect();
        for n in [0, 1, 8] {
            assert_eq!(*ok[n], json!({ "text": TRANSCRIPT }), "{language} {n}");
        }
        let line = |n: usize| ok[n].as_str().unwrap().trim_end();
        assert_eq!(line(2), TRANSCRIPT, "{language}");
        let srt = "1\n00:00:00,125 --> 00:00:00,500\nHello there.";
        assert_eq!(line(3), srt, "{language}");
        let vtt = "WEBVTT\n\n00:00:00.125 --> 00:00:00.500\nHello there.";
        assert_eq!(line(4), vtt, "{language}");
        for (n, has_words, has_segments) in [(5, false, true), (6, true, false), (7, true, true)] {
            let verbose = ok[n];
            assert_eq!(verbose["text"], TRANSCRIPT, "{language} {n}");
            assert_eq!(verbose["duration"].as_f64(), Some(1.0), "{language} {n}");
            assert_eq!(verbose["language"], "english", "{language} {n}");
            let expected = has_words.then_some(&words);
            assert_eq!(verbose.get("words"), expected, "{language} {n}");
            assert_eq!(
                verbose.get("segments").is_some(),
                has_segments,
                "{language} {n}"
            );
        }
        let segment = &ok[7]["segments"][0];
        assert_eq!(
            (&segment["start"], &segment["end"]),
            (&json!(0.125), &json!(0.5))
        );
        let heard = gateway.vendor.heard();
        assert_eq!(heard.len(), jobs.len(), "{language}");
        let first = &heard[0];
        assert_eq!(
            (&first["language"], &first["prompt"]),
            (&vec!["en".into()], &vec!["Ada".into()])
        );
        assert_eq!(heard[8]["model"], ["gpt-4o-mini-transcribe"], "{language}");
    }
    gateway.check_keys();
}

#[tokio::test]
async fn they_translate() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let file = gateway.recording().await;
    for client in &clients {
        let language = client.language;
        let job = |more: Value| {
            let mut job = transcription(&file, &more);
            job["do"] = json!("translate");
            job
        };
        let jobs = [
            job(json!({ "prompt": "Ada", "temperature": 0.2 })),
            job(json!({ "response_format": "text" })),
            job(json!({ "response_format": "verbose_json" })),
        ];
        let answers = client.run_jobs(&gateway, &gateway.key, &jobs).await;
        assert_eq!(
            answers[0]["ok"],
            json!({ "text": TRANSLATION }),
            "{language}"
        );
        let text = answers[1]["ok"].as_str().unwrap().trim_end();
        assert_eq!(text, TRANSLATION, "{language}");
        let verbose = &answers[2]["ok"];
        assert_eq!(verbose["language"], "english", "{language} {verbose}");
        assert_eq!(verbose["segments"][0]["text"], TRANSLATION, "{language}");
        assert_eq!(gateway.vendor.heard()[0]["prompt"], ["Ada"], "{language}");
        let bad = [(
            job(json!({ "model": "gpt-4o-transcribe" })),
            (400, "BadRequestError"),
        )];
        client.refused(&gateway, &gateway.key, &bad).await;
    }
    gateway.check_keys();
}

#[tokio::test]
async fn they_receive_events() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let file = gateway.recording().await;
    let kinds = |answer: &Value| -> Vec<String> {
        let events = answer["ok"].as_array().unwrap().iter();
        events
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    };
    for client in &clients {
        let language = client.language;
        let mut spoken = speech("Good morning.", "wav");
        spoken["do"] = json!("speech_events");
        spoken["with"]["stream_format"] = json!("sse");
        let heard = |model: &str| {
            let mut job = transcription(&file, &json!({ "model": model }));
            job["do"] = json!("transcribe_events");
            job
        };
        let jobs = [
            spoken,
            heard("gpt-4o-transcribe"),
            heard("stt_cloud_1"),
            json!({ "do": "voices" }),
        ];
        let answers = client.run_jobs(&gateway, &gateway.key, &jobs).await;
        let kinds_of_speech = kinds(&answers[0]);
        let (last, deltas) = kinds_of_speech.split_last().unwrap();
        assert_eq!(last, "speech.audio.done", "{language}");
        assert!(deltas.iter().all(|kind| kind == "speech.audio.delta"));
        let events = answers[0]["ok"].as_array().unwrap();
        let audio = events[..deltas.len()]
            .iter()
            .flat_map(|event| STANDARD.decode(event["audio"].as_str().unwrap()).unwrap());
        let audio: Vec<u8> = audio.collect();
        assert!(audio == audio_of("Good morning.", "wav"), "{language}");
        let text = ["transcript.text.delta", "transcript.text.done"];
        assert_eq!(
            kinds(&answers[1]),
            [text[0], text[0], text[1]],
            "{language}"
        );
        let done = &answers[1]["ok"][2];
        assert_eq!(done["text"], TRANSCRIPT, "{language}");
        assert_eq!(done["usage"]["total_tokens"], 19, "{language}");
        assert_eq!(kinds(&answers[2]), text, "{language}");
        assert_eq!(answers[2]["ok"][0]["delta"], TRANSCRIPT, "{language}");
        let voices = answers[3]["ok"]["voices"].as_array().unwrap();
        assert_eq!(voices[0], json!({ "id": "alloy", "name": "alloy" }));
    }
    gateway.check_keys();
}

#[tokio::test]
async fn they_list_models() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    for client in &clients {
        let one = |id: &str| json!({ "do": "model", "with": { "id": id } });
        let jobs = [
            json!({ "do": "models" }),
            one("whisper-1"),
            one("tts_cloud_2"),
            // The clients encode the slash.
            one("agent/default"),
        ];
        let answers = client.run_jobs(&gateway, &gateway.reader, &jobs).await;
        let expected = json!([
            "agent/default",
            "vendor/m1",
            "tts-1",
            "tts-1-hd",
            "gpt-4o-mini-tts",
            "tts_cloud_2",
            "whisper-1",
            "gpt-4o-transcribe",
            "gpt-4o-mini-transcribe",
            "stt_cloud_1"
        ]);
        assert_eq!(answers[0]["ok"], expected, "{}", client.language);
        let got = [(1, "whisper-1"), (2, "tts_cloud_2"), (3, "agent/default")];
        for (n, id) in got {
            let model = &answers[n]["ok"];
            assert_eq!(
                (&model["id"], &model["object"]),
                (&json!(id), &json!("model"))
            );
        }
        let missing = [
            (one("gpt-4o"), (404, "NotFoundError")),
            (one("agent/nobody"), (404, "NotFoundError")),
        ];
        client.refused(&gateway, &gateway.reader, &missing).await;
    }
}

#[tokio::test]
async fn what_is_refused_is_an_error_of_the_clients_own() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    let file = gateway.recording().await;
    let everything = || {
        let models = json!({ "do": "models" });
        [
            speech("Good morning.", "mp3"),
            transcription(&file, &json!({})),
            models,
        ]
    };
    // Until a user logs in, the key is known and the vault is sealed.
    for client in &clients {
        let jobs = everything().map(|job| (job, (423, client.any_status())));
        client.refused(&gateway, &gateway.key, &jobs).await;
    }
    gateway.unseal().await;
    let wrong = format!("{}x", gateway.key);
    let with = |mut job: Value, key: &str| {
        job["key"] = json!(key);
        job
    };
    let bad = (400, "BadRequestError");
    let mut jobs: Vec<(Value, ClientFailure)> = vec![
        (speech("Good morning.", "ape"), bad),
        (
            transcription(&file, &json!({ "response_format": "xml" })),
            bad,
        ),
        (
            with(speech("Good morning.", "mp3"), &gateway.reader),
            (403, "PermissionDeniedError"),
        ),
    ];
    jobs.extend(everything().map(|job| (with(job, &wrong), (401, "AuthenticationError"))));
    for client in &clients {
        let messages = client.refused(&gateway, &gateway.key, &jobs).await;
        for message in &messages[..1] {
            assert!(
                message.contains("`response_format`"),
                "{} {message}",
                client.language
            );
            assert!(message.contains("mp3"), "{} {message}", client.language);
        }
        for message in messages {
            assert!(
                !message.contains(&gateway.key),
                "{} {message}",
                client.language
            );
        }
    }
    assert_eq!(
        gateway.vendor.requests(),
        0,
        "nobody may ask the vendor this"
    );
    for client in &clients {
        let failed = [(speech(REFUSED, "mp3"), (502, "InternalServerError"))];
        let messages = client.refused(&gateway, &gateway.key, &failed).await;
        assert!(!messages[0].contains(REFUSAL), "{}", messages[0]);
    }
    gateway.check_keys();
}

#[tokio::test]
async fn who_has_no_speaker_and_no_listener_says_so() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::with(Installation::new(), Vendor::start().await).await;
    gateway.unseal().await;
    let file = gateway.recording().await;
    for client in &clients {
        let jobs = [
            speech("Good morning.", "mp3"),
            transcription(&file, &json!({})),
        ];
        let jobs = jobs.map(|job| (job, (503, "InternalServerError")));
        client.refused(&gateway, &gateway.key, &jobs).await;
        let models = [json!({ "do": "models" })];
        let answers = client.run_jobs(&gateway, &gateway.key, &models).await;
        assert_eq!(
            answers[0]["ok"],
            json!(["agent/default"]),
            "{}",
            client.language
        );
    }
}
