//! Texts that are spoken while they arrive: `synthesize-start`, `synthesize-chunk`, `synthesize-stop`.

use super::{Served, audio, event, kinds, read, read_until};
use crate::harness::tts_at;
use crate::vendor::fake_server::Behavior;
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::tone;
use gatehouse_voice::{TtsId, VoiceSettings};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};

const FIRST: &str = "Hello there, this is the first sentence.";
const SECOND: &str = "And this is the second one.";

fn settings(vendor: &OpenAiTts) -> VoiceSettings {
    tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY)
}

fn start() -> Vec<u8> {
    let voice = json!({ "name": "tts_cloud_2", "speaker": "nova" });
    event(&json!({ "type": "synthesize-start", "data": { "voice": voice } }))
}

fn chunk(text: &str) -> Vec<u8> {
    event(&json!({ "type": "synthesize-chunk", "data": { "text": text } }))
}

/// Returns the events after the last chunk, with the whole text for servers that accept no pieces.
fn stop(whole: &str) -> Vec<u8> {
    let whole = json!({ "type": "synthesize", "data": { "text": whole } });
    let stop = json!({ "type": "synthesize-stop" });
    [event(&whole), event(&stop)].concat()
}

/// Returns the texts that the vendor was asked to speak.
fn asked(vendor: &OpenAiTts) -> Vec<Value> {
    let requests = vendor.requests();
    requests
        .iter()
        .map(|seen| seen.json()["input"].clone())
        .collect()
}

#[tokio::test]
async fn a_text_is_spoken_sentence_by_sentence_while_it_arrives() {
    let vendor = OpenAiTts::start().await;
    let served = Served::with(settings(&vendor)).await;
    let mut client = BufReader::new(served.connect(1).await);
    let begin = [
        start(),
        chunk("Hello there, this is "),
        chunk("the first sentence. And"),
    ];
    client.write_all(&begin.concat()).await.unwrap();
    // The first sentence is spoken before the second is complete.
    let mut events = read_until(&mut client, "audio-chunk").await;
    assert_eq!(asked(&vendor), [FIRST]);
    let end = [
        chunk(" this is the second one."),
        stop(&format!("{FIRST} {SECOND}")),
    ];
    client.write_all(&end.concat()).await.unwrap();
    events.extend(read_until(&mut client, "synthesize-stopped").await);
    assert_eq!(
        kinds(&events),
        [
            "audio-start",
            "audio-chunk",
            "audio-stop",
            "synthesize-stopped"
        ]
    );
    assert_eq!(asked(&vendor), [FIRST, SECOND]);
    assert_eq!(vendor.requests()[1].json()["voice"], "nova");
    let bytes = [FIRST, SECOND].map(|text| tone::pcm(text, 24_000).len());
    assert_eq!(audio(&events), bytes.iter().sum::<usize>());
    // A second text on the same connection.
    client.write_all(&stop("A whole text.")).await.unwrap();
    let events = read_until(&mut client, "audio-stop").await;
    assert_eq!(kinds(&events), ["audio-start", "audio-chunk", "audio-stop"]);
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_text_without_speech_has_no_audio() {
    let vendor = OpenAiTts::start().await;
    let served = Served::with(settings(&vendor)).await;
    let mut client = BufReader::new(served.connect(1).await);
    let sent = [start(), chunk(" \n"), chunk("---\n"), stop(" \n---\n")];
    client.write_all(&sent.concat()).await.unwrap();
    assert_eq!(read(&mut client).await.unwrap().kind, "synthesize-stopped");
    assert!(asked(&vendor).is_empty());
}

#[tokio::test]
async fn after_a_failure_the_rest_of_the_text_is_discarded() {
    let vendor = OpenAiTts::start().await;
    let served = Served::with(settings(&vendor)).await;
    let mut client = BufReader::new(served.connect(1).await);
    vendor.set_behavior(Behavior::Status(500, None));
    let text = format!("{FIRST} {SECOND}");
    let sent = [start(), chunk(&text), chunk(&text), stop(&text)];
    client.write_all(&sent.concat()).await.unwrap();
    let events = read_until(&mut client, "synthesize-stopped").await;
    assert_eq!(kinds(&events), ["error", "synthesize-stopped"]);
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].data["code"], "PROVIDER_FAILED");
    assert_eq!(asked(&vendor), [FIRST]);
    // A failure of the last sentence ends the text, too.
    client
        .write_all(&[start(), chunk("Bye"), stop("Bye")].concat())
        .await
        .unwrap();
    let events = read_until(&mut client, "synthesize-stopped").await;
    assert_eq!(kinds(&events), ["error", "synthesize-stopped"]);
    vendor.set_behavior(Behavior::Fine);
    client
        .write_all(&[start(), chunk("Bye"), stop("Bye")].concat())
        .await
        .unwrap();
    let events = read_until(&mut client, "synthesize-stopped").await;
    assert_eq!(
        kinds(&events),
        [
            "audio-start",
            "audio-chunk",
            "audio-stop",
            "synthesize-stopped"
        ]
    );
}

#[tokio::test]
async fn a_text_that_arrives_has_256_kib_at_most() {
    let vendor = OpenAiTts::start().await;
    let served = Served::with(settings(&vendor)).await;
    let mut client = BufReader::new(served.connect(1).await);
    let most = chunk(&" ".repeat(32 << 10)).repeat(8);
    let sent = [start(), most.clone(), stop(" ")].concat();
    client.write_all(&sent).await.unwrap();
    assert_eq!(read(&mut client).await.unwrap().kind, "synthesize-stopped");
    let sent = [start(), most, chunk(" "), chunk("Hello."), stop(" ")].concat();
    client.write_all(&sent).await.unwrap();
    let events = read_until(&mut client, "synthesize-stopped").await;
    assert_eq!(kinds(&events), ["error", "synthesize-stopped"]);
    assert_eq!(events[0].data["code"], "INVALID_PARAMS");
    assert!(asked(&vendor).is_empty());
}

#[tokio::test]
async fn speech_of_a_text_that_arrives_ends_when_its_client_leaves() {
    let vendor = OpenAiTts::start().await;
    vendor.hold();
    let served = Served::with(settings(&vendor)).await;
    let mut client = served.connect(1).await;
    let sent = [start(), chunk(&format!("{FIRST} {SECOND}"))].concat();
    client.write_all(&sent).await.unwrap();
    vendor.asked(1).await;
    drop(client);
    assert!(vendor.was_left().await);
    assert_eq!(vendor.requests().len(), 1);
}
