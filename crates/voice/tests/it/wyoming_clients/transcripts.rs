//! Transcripts in pieces: `transcript-start`, `transcript-chunk`, `transcript-stop`.

use super::{Received, Served, event, kinds, read, read_until, recording};
use crate::harness::stt_at;
use crate::vendor::fake_server::Behavior;
use crate::vendor::{listener, openai_stt};
use gatehouse_voice::{ProviderSettings, SttId, VoiceSettings};
use serde_json::json;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

fn settings(vendor: &listener::Listener, model: &str) -> VoiceSettings {
    let url = vendor.server.url("/v1");
    let mut settings = stt_at(SttId::OpenAi, url.as_str(), listener::KEY);
    let openai = settings.stt.providers.get_mut(&SttId::OpenAi).unwrap();
    openai.model = Some(model.to_owned());
    settings
}

/// Returns whether the answer to `describe` offers streamed transcripts, and streamed texts.
async fn described(client: &mut BufReader<TcpStream>) -> (bool, bool) {
    let describe = event(&json!({ "type": "describe" }));
    client.write_all(&describe).await.unwrap();
    let info = read(client).await.unwrap().data;
    let asr = info["asr"][0]["supports_transcript_streaming"].as_bool();
    let tts = info["tts"][0]["supports_synthesize_streaming"].as_bool();
    (asr.unwrap(), tts.unwrap_or(true))
}

fn chunks(events: &[Received]) -> Vec<&str> {
    let chunks = events
        .iter()
        .filter(|event| event.kind == "transcript-chunk");
    chunks.map(Received::text).collect()
}

#[tokio::test]
async fn a_transcript_comes_in_pieces_if_the_provider_streams_it() {
    let vendor = openai_stt::openai().await;
    let served = Served::with(settings(&vendor, "gpt-4o-transcribe")).await;
    let mut client = BufReader::new(served.connect(1).await);
    assert_eq!(described(&mut client).await, (true, true));
    client.write_all(&recording()).await.unwrap();
    let events = read_until(&mut client, "transcript-stop").await;
    assert_eq!(
        kinds(&events),
        [
            "transcript-start",
            "transcript-chunk",
            "transcript",
            "transcript-stop"
        ]
    );
    assert_eq!(chunks(&events), ["Hello", " real", " world."]);
    assert_eq!(events[4].text(), "Hello real world.");
    assert!(vendor.server.complaints().is_empty());
    vendor.server.set_behavior(Behavior::Status(500, None));
    client.write_all(&recording()).await.unwrap();
    assert_eq!(read(&mut client).await.unwrap().kind, "error");
    assert_eq!(read(&mut client).await, None);
}

#[tokio::test]
async fn a_transcript_comes_at_once_if_the_provider_does_not_stream_it() {
    let vendor = openai_stt::openai().await;
    let served = Served::with(settings(&vendor, "whisper-1")).await;
    let mut client = BufReader::new(served.connect(1).await);
    assert_eq!(described(&mut client).await, (false, true));
    client.write_all(&recording()).await.unwrap();
    client
        .write_all(&event(&json!({ "type": "ping" })))
        .await
        .unwrap();
    let events = read_until(&mut client, "pong").await;
    assert_eq!(kinds(&events), ["transcript", "pong"]);
    assert_eq!(events[0].data["language"], "en");
}

#[tokio::test]
async fn a_named_provider_that_does_not_stream_sends_one_piece() {
    let (vendor, other) = (openai_stt::openai().await, openai_stt::groq().await);
    let mut both = settings(&vendor, "gpt-4o-transcribe");
    let groq = ProviderSettings {
        base_url: Some(other.server.url("/openai/v1")),
        api_key: Some(listener::KEY.into()),
        ..ProviderSettings::default()
    };
    both.stt.providers.insert(SttId::Groq, groq);
    let served = Served::with(both).await;
    let mut client = BufReader::new(served.connect(1).await);
    assert_eq!(described(&mut client).await, (true, true));
    let named =
        json!({ "type": "transcribe", "data": { "name": "stt_cloud_2", "language": "de" } });
    let sent = [event(&named), recording()].concat();
    client.write_all(&sent).await.unwrap();
    let events = read_until(&mut client, "transcript-stop").await;
    assert_eq!(chunks(&events), ["Hello real world."]);
    assert_eq!(events[0].data["language"], "de");
    assert_eq!(events[2].data["language"], "de");
    assert!(vendor.server.requests().is_empty());
}
