//! The parts of spoken answers: their numbers, their end, and answers without parts.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, until, until_done};
use crate::speaker::TestSpeaker;
use gatehouse_agents::{AgentEvent, Audience};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::sync::broadcast::Receiver;
use tokio::sync::watch;

/// Returns the events so far.
pub fn so_far(received: &mut Receiver<AgentEvent>) -> Vec<(&'static str, Value)> {
    let next = || received.try_recv().ok();
    let all = std::iter::from_fn(next).map(|event| {
        let params = serde_json::to_value(&event).unwrap();
        (event.name(), params)
    });
    all.collect()
}

/// Returns the parts of speech among these events.
pub fn audio(received: &[(&str, Value)]) -> Vec<Value> {
    let parts = received.iter().filter(|(name, _)| *name == "chat.audio");
    parts.map(|(_, params)| params.clone()).collect()
}

#[tokio::test]
async fn parts_are_numbered_and_the_last_one_comes_with_the_end() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let mut received = harness.agents.subscribe();
    let (open, gate) = watch::channel(false);
    harness.model.will([Reaction::Gate(gate)]);
    harness.agents.send(chat(None, "Count")).await.unwrap();
    harness.model.until(1).await;
    // The model has not yet produced text here.
    let parts = speaker.parts()[0].clone();
    parts.push("aud_a".to_owned(), false);
    parts.push("aud_b".to_owned(), false);
    parts.push("aud_c".to_owned(), true);
    let early = audio(&so_far(&mut received));
    open.send_replace(true);
    let last = loop {
        let part = until(&mut received, "chat.audio").await;
        if part["last"] == true {
            break part;
        }
    };
    let of = |part: &Value| (part["audio_id"].clone(), part["part"].clone());
    let early: Vec<_> = early.iter().map(of).collect();
    assert_eq!(
        early,
        [(json!("aud_a"), json!(0)), (json!("aud_b"), json!(1))]
    );
    assert_eq!(of(&last), (json!("aud_c"), json!(2)));
    assert_eq!(last["recording"], "aud_1");
    parts.push("aud_d".to_owned(), false);
    assert_eq!(audio(&so_far(&mut received)), [] as [Value; 0]);
}

#[tokio::test]
async fn what_is_said_before_a_tool_call_is_spoken_before_the_answer() {
    let harness = Harness::new().await;
    let first_is_over = Arc::new(Notify::new());
    let over = first_is_over.clone();
    let speaker = TestSpeaker::new(move |heard| {
        let over = over.clone();
        Box::pin(async move {
            if heard.text == "I calculate." {
                over.notified().await;
            }
            Ok(Some(format!("aud of {}", heard.text)))
        })
    });
    harness.agents.register_speaker(speaker.clone());
    let double = TestTool::double("double", Audience::Trusted);
    harness.agents.tools().register(double);
    let mut received = harness.agents.subscribe();
    let calls = vec![("double".to_owned(), json!({ "x": 2 }).to_string())];
    harness.model.will([
        Reaction::Call("I calculate.".to_owned(), calls.clone()),
        Reaction::Call(String::new(), calls),
        say("It is 4."),
    ]);
    let sent = harness.agents.send(chat(None, "2 * 2")).await.unwrap();
    // Neither the tools nor the turn wait for speech.
    let turn = until_done(&mut received).await;
    assert_eq!(audio(&turn), [] as [Value; 0]);
    let heard = || -> Vec<String> { speaker.heard().into_iter().map(|one| one.text).collect() };
    while heard().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(heard(), ["I calculate."], "the answer waits for its turn");
    first_is_over.notify_one();
    for text in ["I calculate.", "It is 4."] {
        let part = until(&mut received, "chat.audio").await;
        let message = turn.iter().find(|(_, params)| params["content"] == text);
        assert_eq!(part["message_id"], message.unwrap().1["id"]);
        assert_eq!(part["recording"], format!("aud of {text}"));
        assert_eq!(part["last"], true);
    }
    assert_eq!(heard(), ["I calculate.", "It is 4."]);
    let history = harness.history(sent.session.as_str()).await;
    let spoken: Vec<_> = history.iter().filter_map(|one| one.audio.clone()).collect();
    assert_eq!(spoken, ["aud of I calculate.", "aud of It is 4."]);
}

#[tokio::test]
async fn the_report_has_the_audio_of_the_final_answer_only() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let double = TestTool::double("double", Audience::Trusted);
    harness.agents.tools().register(double);
    let calls = vec![("double".to_owned(), json!({ "x": 2 }).to_string())];
    let filtered = Reaction::Finish("I would".to_owned(), "content_filter".to_owned());
    harness
        .model
        .will([Reaction::Call("I calculate.".to_owned(), calls), filtered]);
    let report = harness.say(None, "2 * 2").await;
    assert_eq!((report.audio, report.audio_error), (None, None));
}

#[tokio::test]
async fn speech_ends_when_the_answer_is_empty_or_withheld_or_stopped() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let double = TestTool::double("double", Audience::Trusted);
    harness.agents.tools().register(double);
    let mut received = harness.agents.subscribe();
    let filtered = Reaction::Finish("I would".to_owned(), "content_filter".to_owned());
    harness
        .model
        .will([call("double", &json!({ "x": 2 })), filtered]);
    let report = harness.say(None, "2 * 2").await;
    assert_eq!((report.audio, speaker.heard().len()), (None, 0));
    for parts in speaker.parts() {
        parts.push("aud_late".to_owned(), false);
    }
    assert_eq!(speaker.parts().len(), 2);
    assert_eq!(audio(&so_far(&mut received)), [] as [Value; 0]);

    // Stopping the turn closes the published parts.
    let (_open, gate) = watch::channel(false);
    harness.model.will([Reaction::Gate(gate)]);
    let sent = harness.agents.send(chat(None, "Count")).await.unwrap();
    harness.model.until(3).await;
    speaker.parts()[2].push("aud_early".to_owned(), false);
    harness.agents.abort(sent.session.as_str()).await.unwrap();
    let received = until_done(&mut received).await;
    let ends: Vec<_> = audio(&received)
        .iter()
        .map(|part| part["last"].clone())
        .collect();
    assert_eq!(ends, [json!(false), json!(true)]);
    assert_eq!(audio(&received)[1]["audio_id"], "aud_early");
}
