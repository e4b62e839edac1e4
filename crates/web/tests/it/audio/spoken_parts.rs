//! Spoken answers arrive in parts, beginning while the model writes.

use super::vendor::audio_of;
use super::{CALL, HOLD, Harness, THOUGHT};
use gatehouse_audio::{Kind, decode, duration_ms};
use gatehouse_testkit::Socket;
use serde_json::{Value, json};

const FIRST: &str = "This is the first sentence of it.";
const SECOND: &str = "And here is the second one.";

async fn speaking() -> (Harness, String, Socket) {
    speaking_in_mode("always").await
}

async fn speaking_in_mode(mode: &str) -> (Harness, String, Socket) {
    let harness = Harness::new().await;
    let session = harness.session().await;
    harness.set("voice.tts.auto", json!(mode)).await;
    let socket = harness.server.socket(&harness.owner, "/ws/chat").await;
    (harness, session, socket)
}

async fn send(socket: &mut Socket, session: &str) {
    let params = json!({ "session": session, "text": "Tell me." });
    let sent = socket.call("chat.send", params).await.unwrap();
    assert!(sent.get("error").is_none(), "{sent}");
}

/// Returns the events up to the end of the speech, with their names.
async fn until_spoken(socket: &mut Socket) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    loop {
        let event = socket.next().await.unwrap();
        let name = event["method"].as_str().unwrap_or_default().to_owned();
        let is_end = name == "chat.audio" && event["params"]["last"] == true;
        all.push((name, event["params"].clone()));
        if is_end {
            return all;
        }
    }
}

#[tokio::test]
async fn the_first_part_arrives_while_the_model_still_writes() {
    let (harness, session, mut socket) = speaking().await;
    let thought = format!("{THOUGHT}I think of something secret. It is long enough to be spoken.");
    let first = format!("{FIRST} ");
    harness
        .model
        .will_say(&[&thought, &first, "And here", HOLD, " is the second one."]);
    send(&mut socket, &session).await;
    let mut early = Vec::new();
    let part = loop {
        let event = socket.next().await.unwrap();
        let name = event["method"].as_str().unwrap_or_default().to_owned();
        if name == "chat.audio" {
            break event["params"].clone();
        }
        early.push((name, event["params"]["role"].clone()));
    };
    let is_answer = |(name, role): &(String, Value)| {
        name == "chat.done" || (name == "chat.message" && role == "assistant")
    };
    assert!(!early.iter().any(is_answer), "{early:?}");
    assert_eq!(
        (&part["session"], &part["part"], &part["last"]),
        (&json!(session), &json!(0), &json!(false))
    );
    let got = harness
        .fetch(&session, part["audio_id"].as_str().unwrap())
        .await;
    assert_eq!(
        (got.status, got.header("content-type")),
        (200, "audio/mpeg")
    );
    assert_eq!(got.body, audio_of(FIRST, "mp3"));

    harness.model.go_on();
    let received = until_spoken(&mut socket).await;
    let (_, message) = received
        .iter()
        .find(|(name, params)| name == "chat.message" && params["role"] == "assistant")
        .unwrap();
    assert_eq!(message["id"], part["message_id"]);
    assert_eq!(message["content"], format!("{FIRST} {SECOND}"));
    assert_eq!(message.get("audio"), None);
    let (_, last) = received.last().unwrap();
    assert_eq!(
        (&last["message_id"], &last["part"], last.get("error")),
        (&part["message_id"], &json!(1), None)
    );
    assert_ne!(last["audio_id"], part["audio_id"]);
    assert_eq!(harness.vendor.texts(), [FIRST, SECOND]);

    // The message has one recording of the whole answer.
    let history = harness.messages(&session).await;
    let stored = history.last().unwrap();
    assert_eq!(
        (&stored["id"], &stored["audio"]),
        (&part["message_id"], &last["recording"])
    );
    let whole = harness
        .fetch(&session, last["recording"].as_str().unwrap())
        .await;
    let length = |text: &str| duration_ms(&audio_of(text, "mp3"), Kind::Mp3).unwrap();
    let spoken = decode(&whole.body, Kind::Mp3, 60).unwrap().duration_ms();
    let expected = length(FIRST) + length(SECOND);
    assert!(spoken.abs_diff(expected) < 150, "{spoken} {expected}");
}

#[tokio::test]
async fn the_end_of_a_turn_does_not_wait_for_a_vendor_that_hangs() {
    let (harness, session, mut socket) = speaking().await;
    harness.model.will_say(&["hang"]);
    send(&mut socket, &session).await;
    socket.event("chat.done").await.unwrap();
    harness.vendor.until_asked(1).await;
    let stop = json!({ "session": session });
    socket.call("chat.abort", stop).await.unwrap();
    harness.vendor.until_left(1).await;
    let history = harness.messages(&session).await;
    let stored = history.last().unwrap();
    assert_eq!(
        (&stored["content"], stored.get("audio")),
        (&json!("hang"), None)
    );
}

#[tokio::test]
async fn an_answer_over_the_limits_is_spoken_in_parts() {
    let (harness, session, _) = speaking().await;
    let long = format!("{FIRST} {SECOND} ").repeat(80);
    assert!(long.chars().count() > 4096);
    harness.model.will_say(&[&long]);
    let answer = harness.say(Some(&session), "Go on.").await;
    assert!(answer["audio"].is_string(), "{answer}");
    let texts = harness.vendor.texts();
    assert_eq!(texts[0], FIRST);
    assert!(
        texts.iter().all(|text| text.chars().count() <= 600),
        "{texts:?}"
    );
    assert_eq!(texts.join(" "), long.trim());

    harness.set("voice.tts.max_text_length", json!(12)).await;
    harness.model.will_say(&["More than twelve letters."]);
    let answer = harness.say(Some(&session), "Go on.").await;
    assert!(answer["audio"].is_string(), "{answer}");
    let more = harness.vendor.texts().split_off(texts.len());
    assert!(
        more.iter().all(|text| text.chars().count() <= 12),
        "{more:?}"
    );
    assert_eq!(more.concat(), "More than twelve letters.");
}

#[tokio::test]
async fn code_is_not_spoken_and_a_failure_ends_the_speech() {
    let (harness, session, mut socket) = speaking().await;
    let code = "\n\n```\nlet secret = 1; // And more. Words.\n```\n\n";
    harness.model.will_say(&[FIRST, code, SECOND]);
    send(&mut socket, &session).await;
    until_spoken(&mut socket).await;
    assert_eq!(harness.vendor.texts(), [FIRST, SECOND]);

    harness.model.will_say(&[FIRST, "\n\n", "refuse"]);
    send(&mut socket, &session).await;
    let received = until_spoken(&mut socket).await;
    let (_, end) = received.last().unwrap();
    // The part that the user heard is named again.
    assert_eq!((&end["part"], end.get("recording")), (&json!(0), None));
    assert!(end["audio_id"].is_string(), "{end}");
    assert_eq!(end["error"]["code"], "PROVIDER_FAILED");
    let history = harness.messages(&session).await;
    assert_eq!(history.last().unwrap().get("audio"), None);
}

#[tokio::test]
async fn what_is_said_before_a_tool_call_is_spoken_before_the_answer() {
    for (mode, spoken) in [
        ("always", [FIRST, SECOND].as_slice()),
        ("tagged", [SECOND].as_slice()),
    ] {
        let (harness, session, mut socket) = speaking_in_mode(mode).await;
        harness.model.will_say(&[FIRST, CALL]);
        harness.model.will_say(&["[[tts]]", SECOND]);
        send(&mut socket, &session).await;
        let mut ends = Vec::new();
        while ends.len() < spoken.len() {
            let received = until_spoken(&mut socket).await;
            ends.push(received.last().unwrap().1.clone());
        }
        assert_eq!(harness.vendor.texts(), spoken, "{mode}");
        let history = harness.messages(&session).await;
        let said = history
            .iter()
            .filter(|message| message["audio"].is_string());
        let said: Vec<&Value> = said.collect();
        assert_eq!(said.len(), spoken.len(), "{mode}: {history:?}");
        for ((message, end), text) in said.iter().zip(&ends).zip(spoken) {
            assert_eq!(message["content"], *text);
            assert_eq!(message["id"], end["message_id"]);
            assert_eq!(message["audio"], end["recording"]);
            let got = harness
                .fetch(&session, end["recording"].as_str().unwrap())
                .await;
            assert_eq!(got.body, audio_of(text, "mp3"));
        }
    }
}

#[tokio::test]
async fn in_mode_tagged_speech_begins_with_the_marker() {
    let (harness, session, mut socket) = speaking_in_mode("tagged").await;
    let first = format!("{FIRST} ");
    // Without a marker, nothing is spoken, not even while the model writes.
    harness
        .model
        .will_say(&[&first, SECOND, " And a third one."]);
    let answer = harness.say(Some(&session), "Go on.").await;
    assert_eq!(
        (answer.get("audio"), answer.get("audio_error")),
        (None, None)
    );
    assert_eq!(harness.vendor.texts(), [] as [&str; 0]);
    // A pair of markers is spoken when it is closed, while the model is still writing.
    harness.model.will_say(&[
        &first,
        "[[tts]]",
        SECOND,
        "[[/tts]] Not this.",
        HOLD,
        " Nor this.",
    ]);
    send(&mut socket, &session).await;
    harness.vendor.until_asked(1).await;
    harness.model.go_on();
    until_spoken(&mut socket).await;
    assert_eq!(harness.vendor.texts(), [SECOND]);
    // After a marker at the beginning, speech begins with the first sentence.
    harness
        .model
        .will_say(&["[[tts]]", &first, "And here", HOLD, " is the second one."]);
    send(&mut socket, &session).await;
    harness.vendor.until_asked(2).await;
    harness.model.go_on();
    until_spoken(&mut socket).await;
    assert_eq!(harness.vendor.texts(), [SECOND, FIRST, SECOND]);
}

#[tokio::test]
async fn a_persona_that_is_named_later_speaks_from_there_on() {
    let (harness, session, _) = speaking().await;
    let ada = json!({ "id": "ada", "label": "Ada",
        "providerBindings": [{ "provider": "openai", "voice_id": "nova" }] });
    let created = harness.owner.rpc("voice.personas.create", ada).await;
    created.unwrap();
    let answer = format!("{FIRST} [[tts:persona=ada]]{SECOND}");
    harness.model.will_say(&[&answer]);
    let answer = harness.say(Some(&session), "Go on.").await;
    assert!(answer["audio"].is_string(), "{answer}");
    let spoken = harness.vendor.spoken();
    let voices: Vec<_> = spoken
        .iter()
        .map(|body| (&body["input"], &body["voice"]))
        .collect();
    assert_eq!(
        voices,
        [
            (&json!(FIRST), &json!("alloy")),
            (&json!(SECOND), &json!("nova"))
        ]
    );
}

#[tokio::test]
async fn reasoning_is_not_spoken_wherever_the_stream_is_cut() {
    let (harness, session, _) = speaking().await;
    let raw = format!("<think>A secret. It is long enough.</think>\n\n{FIRST}");
    let most = raw.len() - FIRST.len();
    for cut in 0..=most {
        let (a, b) = raw.split_at(cut);
        harness.model.will_say(&[a, b]);
        let answer = harness.say(Some(&session), "Go on.").await;
        assert_eq!(answer["text"], FIRST, "{cut}");
    }
    let texts = harness.vendor.texts();
    assert_eq!(texts, vec![FIRST; most + 1]);
}
