//! A person who speaks interrupts the answer.

use super::{Talking, silence, speech};
use crate::audio::{HOLD, Harness};
use gatehouse_testkit::Received;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The limit of the requirement.
const SOON: Duration = Duration::from_millis(200);

fn long() -> String {
    let sentence = |n| format!("This is the sentence with the number {n} in it. ");
    (1..=20).map(sentence).collect()
}

/// Reads the following messages for a while: none may contain audio.
async fn no_audio(talking: &mut Talking, kind: &str) -> Value {
    loop {
        match talking.socket.receive().await.unwrap() {
            Received::Bytes(_) => panic!("audio after the interruption"),
            Received::Json(server_message) if server_message["type"] == kind => {
                return server_message;
            }
            Received::Json(_) => {}
        }
    }
}

#[tokio::test]
async fn speaking_stops_the_answer_within_200_ms_and_the_history_knows_what_was_heard() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    let text = long();
    harness.model.will_say(&[&text, "And", HOLD]);
    talking.ask().await;
    let turn = talking.until("turn").await;
    talking.until_audio().await;
    // About a third of what was sent is heard.
    tokio::time::sleep(Duration::from_millis(700)).await;

    let began = Instant::now();
    let interrupting = speech();
    let server_message = {
        let Talking { socket } = &mut talking;
        let mut sent = 0;
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        loop {
            tokio::select! {
                _ = tick.tick() => {
                    let frame = interrupting[sent..sent + super::FRAME].to_vec();
                    sent += super::FRAME;
                    let frame = tokio_tungstenite::tungstenite::Message::binary(frame);
                    socket.send_frame(frame).await.unwrap();
                }
                received = socket.receive() => {
                    if let Received::Json(server_message) = received.unwrap() && server_message["type"] == "interrupted" {
                        break server_message;
                    }
                }
            }
        }
    };
    let took = began.elapsed();
    assert!(took < SOON, "{took:?}");
    assert_eq!(server_message["turn_id"], turn["turn_id"]);
    let heard = server_message["heard"].as_str().unwrap();
    assert!(heard.len() > 10 && text.starts_with(heard), "{heard}");
    assert!(heard.len() < 600, "{heard}");
    let answer = no_audio(&mut talking, "answer").await;
    assert_eq!(answer["stop"], "aborted");

    // The turn has ended. The next question contains the part that the user heard.
    harness.model.will_say(&["Well."]);
    talking.say(&silence(1200)).await;
    talking.until("answer").await;
    let session = turn["session"].as_str().unwrap();
    let history = harness.messages(session).await;
    let stopped = &history[1];
    assert_eq!(
        (&stopped["stop"], &stopped["heard"]),
        (&json!("aborted"), &json!(heard))
    );
    assert!(stopped["content"].as_str().unwrap().len() > heard.len());
    let seen = harness.model.fake.last().to_string();
    let known = format!("{heard} [interrupted: the rest was not heard]");
    assert!(seen.contains(&known), "{seen}");
    assert!(!seen.contains("number 20"), "{seen}");
}

#[tokio::test]
async fn an_answer_whose_turn_has_ended_is_interrupted_too() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    harness.model.will_say(&[&long()]);
    talking.ask().await;
    let turn = talking.until("turn").await;
    talking.until_audio().await;
    let session = turn["session"].as_str().unwrap();
    // The whole text is stored although most of it was not spoken.
    loop {
        let history = harness.messages(session).await;
        if history.len() == 2 && history[1]["stop"] == "end" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    talking.socket.send(r#"{"type":"stop"}"#).await;
    let server_message = talking.until("interrupted").await;
    no_audio(&mut talking, "answer").await;
    let mut noted = Value::Null;
    for _ in 0..200 {
        noted = harness.messages(session).await[1].clone();
        if noted["heard"].is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(
        (&noted["heard"], &noted["stop"]),
        (&server_message["heard"], &json!("aborted"))
    );
    assert!(noted["content"].as_str().unwrap().contains("number 20"));
}

#[tokio::test]
async fn hanging_up_stops_the_turn_and_notes_what_was_heard() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    harness.model.will_say(&[&long(), "And", HOLD]);
    talking.ask().await;
    let turn = talking.until("turn").await;
    let session = turn["session"].as_str().unwrap().to_owned();
    talking.until_audio().await;
    drop(talking);
    let mut stopped = Value::Null;
    for _ in 0..300 {
        let history = harness.messages(&session).await;
        stopped = history.get(1).cloned().unwrap_or_default();
        if stopped["heard"].is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(stopped["stop"], "aborted", "{stopped}");
    assert!(stopped["heard"].is_string(), "{stopped}");
}

#[tokio::test]
async fn an_answer_that_was_heard_to_its_end_is_not_interrupted() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    talking.ask().await;
    let answer = talking.until("answer").await;
    // "pong" plays for a moment.
    tokio::time::sleep(Duration::from_millis(400)).await;
    talking.say_in_time(&speech()[..16_000]).await;
    talking.server_message("speech_started").await;
    let sessions = harness.owner.get("/api/sessions").await.expect(200);
    let session = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    let history = harness.messages(&session).await;
    assert_eq!(
        (
            &history[1]["content"],
            &history[1]["stop"],
            history[1].get("heard")
        ),
        (&answer["text"], &json!("end"), None)
    );
}
