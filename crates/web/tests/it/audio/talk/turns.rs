//! The spoken text becomes a turn, and the answer is spoken.

use super::{Talking, silence, speech};
use crate::audio::vendor::audio_of;
use crate::audio::{HOLD, Harness};
use gatehouse_audio::{Kind, decode};
use gatehouse_doubles::openai::{call, say};
use gatehouse_testkit::Options;
use serde_json::json;
use std::time::Duration;

const FIRST: &str = "This is the first sentence of it.";
const SECOND: &str = "And here is the second one.";

#[tokio::test]
async fn a_sentence_is_one_turn_and_its_answer_is_heard_from_the_first_sentence_on() {
    let harness = Harness::new().await;
    let mut events = harness.server.socket(&harness.owner, "/ws/chat").await;
    let first = format!("{FIRST} ");
    harness
        .model
        .will_say(&[&first, "And here", HOLD, " is the second one."]);
    let mut talking = Talking::start(&harness, json!({ "language": "en" })).await;
    talking.ask().await;
    talking.server_message("speech_started").await;
    let ended = talking.server_message("speech_ended").await;
    assert!(ended["duration_ms"].as_u64().unwrap() > 1000, "{ended}");
    let transcript = talking.server_message("transcript").await;
    assert_eq!(
        (&transcript["text"], &transcript["language"]),
        (&json!("Hello there."), &json!("en"))
    );
    let session = talking.server_message("session").await["session"].clone();
    let turn = talking.server_message("turn").await;
    assert_eq!(turn["session"], session);
    let part = talking.server_message("part").await;
    assert_eq!((&part["part"], &part["text"]), (&json!(0), &json!(FIRST)));
    let mut audio = talking.until_audio().await;
    // The model writes the rest only now.
    harness.model.go_on();
    let (more, second) = talking.audio().await;
    audio.extend(more);
    assert_eq!(audio, audio_of(FIRST, "pcm"));
    assert_eq!(
        (&second["type"], &second["part"], &second["text"]),
        (&json!("part"), &json!(1), &json!(SECOND))
    );
    let (audio, spoken) = talking.audio().await;
    assert_eq!(audio, audio_of(SECOND, "pcm"));
    assert_eq!(
        (&spoken["type"], &spoken["turn_id"]),
        (&json!("spoken"), &turn["turn_id"])
    );
    let answer = talking.server_message("answer").await;
    assert_eq!(
        (&answer["text"], &answer["stop"], &answer["turn_id"]),
        (
            &json!(format!("{FIRST} {SECOND}")),
            &json!("end"),
            &turn["turn_id"]
        )
    );

    let session = session.as_str().unwrap();
    let history = harness.messages(session).await;
    let [asked, answered] = history.as_slice() else {
        panic!("{history:?}");
    };
    assert_eq!(
        (&asked["content"], &asked["audio"]),
        (&json!("Hello there."), &transcript["audio_id"])
    );
    assert_eq!(
        (&answered["audio"], answered.get("heard")),
        (&answer["audio"], None)
    );
    let audio = transcript["audio_id"].as_str().unwrap();
    let recording = harness.fetch(session, audio).await;
    let heard = decode(&recording.body, Kind::Wav, 60).unwrap();
    assert!(heard.duration_ms() > 1000 && heard.rate == 16_000);
    let whole = answer["audio"].as_str().unwrap();
    let whole = harness.fetch(session, whole).await;
    assert_eq!(whole.header("content-type"), "audio/mpeg");
    // Listeners of the session would play the audio a second time.
    harness.say(Some(session), "And?").await;
    let mut ended = 0;
    while ended < 2 {
        let event = events.next().await.unwrap();
        assert_ne!(event["method"], "chat.audio");
        ended += usize::from(event["method"] == "chat.done");
    }
    assert_eq!(harness.vendor.heard().len(), 1);
}

#[tokio::test]
async fn silence_and_what_nobody_understands_are_no_turn() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    talking.say(&silence(3000)).await;
    let commit = json!({ "type": "commit" });
    talking.socket.send(commit.to_string()).await;
    harness.vendor.will_hear("  ");
    talking.ask().await;
    // The first event is about the sentence.
    talking.server_message("speech_started").await;
    talking.server_message("speech_ended").await;
    assert_eq!(talking.server_message("transcript").await["text"], "");
    assert_eq!(harness.vendor.heard().len(), 1);
    let sessions = harness.owner.get("/api/sessions").await.expect(200);
    assert_eq!(sessions["sessions"], json!([]));

    harness.vendor.will_hear("refuse");
    talking.ask().await;
    let error = talking.until("error").await;
    assert_eq!(error["error"]["code"], "PROVIDER_FAILED");
    // The conversation continues.
    harness.vendor.will_hear("Now?");
    talking.ask().await;
    assert_eq!(talking.until("answer").await["text"], "pong");
}

#[tokio::test]
async fn an_utterance_ends_by_request_and_a_session_and_format_can_be_chosen() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let fields = json!({ "session": session, "output": { "format": "mp3" }, "tts": "openai",
        "stt": "whisper", "voice": "nova", "silence_ms": 5000 });
    let mut talking = Talking::start(&harness, fields).await;
    talking.say(&speech()).await;
    talking.server_message("speech_started").await;
    let commit = json!({ "type": "commit" });
    talking.socket.send(commit.to_string()).await;
    talking.server_message("speech_ended").await;
    talking.server_message("transcript").await;
    assert_eq!(talking.server_message("turn").await["session"], session);
    talking.server_message("part").await;
    let (audio, _) = talking.audio().await;
    assert_eq!(audio, audio_of("pong", "mp3"));
    let asked = &harness.vendor.spoken()[0];
    assert_eq!(
        (&asked["voice"], &asked["response_format"]),
        (&json!("nova"), &json!("mp3"))
    );
    talking.until("answer").await;
    assert_eq!(harness.messages(&session).await.len(), 4);
}

#[tokio::test]
async fn what_is_said_while_the_first_sentence_is_transcribed_belongs_to_it() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({ "silence_ms": 300 })).await;
    harness.vendor.hold_transcripts(true);
    let all = [speech(), silence(500), speech()].concat();
    talking.say(&all).await;
    talking.until("speech_ended").await;
    talking.until("speech_started").await;
    harness.vendor.hold_transcripts(false);
    talking.until("transcript").await;
    talking.say(&silence(600)).await;
    let answer = talking.until("answer").await;
    assert_eq!(answer["stop"], "end");
    let sessions = harness.owner.get("/api/sessions").await.expect(200);
    let session = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    let history = harness.messages(&session).await;
    assert_eq!(history[0]["content"], "Hello there. Hello there.");
    assert_eq!(history.len(), 2);
}

/// The vendors are doubles that answer immediately. The required limit applies to an optimized build.
#[tokio::test]
async fn the_first_audio_follows_the_first_sentence_at_once() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    let first = format!("{FIRST} ");
    harness.model.will_say(&["", HOLD, &first, "And", HOLD]);
    talking.ask().await;
    talking.until("turn").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let began = std::time::Instant::now();
    harness.model.go_on();
    talking.until_audio().await;
    let took = began.elapsed();
    assert!(took < Duration::from_millis(250), "{took:?}");
}

#[tokio::test]
async fn nothing_of_an_answer_follows_its_result() {
    let harness = Harness::new().await;
    // The audio is longer than the part that is sent ahead of playback.
    let text = "This is a sentence of about a second. ".repeat(5);
    harness.model.will_say(&[&text]);
    let mut talking = Talking::start(&harness, json!({})).await;
    talking.ask().await;
    talking.until("turn").await;
    loop {
        let (_, server_message) = talking.audio().await;
        if server_message["type"] != "part" {
            assert_eq!(server_message["type"], "spoken", "{server_message}");
            break;
        }
    }
    talking.server_message("answer").await;
}

#[tokio::test]
async fn a_call_that_waits_for_approval_is_reported_with_its_end() {
    let options = Options::default().env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc");
    let harness = Harness::with(options).await;
    let owner = &harness.owner;
    let writer = harness.server.api_key(owner, &["operator.write"]).await;
    let limited = json!({
        "label": "satellite", "scopes": ["operator.write", "operator.approvals"], "only": ["/ws/talk"],
    });
    let limited = owner.post("/api/auth/api-keys", limited).await.expect(200);
    let limited = limited["key"].as_str().unwrap();
    let limited = harness.server.local().bearer(limited);
    for (caller, kind, allow) in [
        (owner, "approval", true),
        (&writer, "waiting", false),
        (&limited, "waiting", true),
    ] {
        let calculate = call("calc", &json!({ "expression": "6*7" }));
        harness.model.fake.will([calculate, say(FIRST)]);
        let socket = harness.server.socket(caller, "/ws/talk").await;
        let mut talking = Talking { socket };
        talking.begin(json!({})).await;
        talking.server_message("ready").await;
        talking.ask().await;
        let turn = talking.until("turn").await;
        let waits = talking.server_message(kind).await;
        assert!(waits["expires_at"].is_string(), "{waits}");
        // Only a caller that may answer gets the call.
        let is_shown = kind == "approval";
        assert_eq!(waits["shown"].is_object(), is_shown, "{waits}");
        assert_eq!(waits["session"] == turn["session"], is_shown, "{waits}");
        let answer = json!({ "id": waits["id"], "allow": allow });
        owner.rpc("approval.resolve", answer).await.unwrap();
        let ended = talking.server_message("approval_ended").await;
        assert_eq!(
            (&ended["id"], &ended["allowed"]),
            (&waits["id"], &json!(allow))
        );
        assert_eq!(talking.until("answer").await["text"], FIRST);
    }
}
