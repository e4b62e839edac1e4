//! The parts of spoken answers: their numbers, their end, and when there are none.

use crate::fake_model::{Reaction, call};
use crate::harness::{Harness, TestTool, chat, until, until_done};
use crate::speaker::TestSpeaker;
use gatehouse_agents::{AgentEvent, Audience};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::watch;

/// The events so far.
pub fn so_far(told: &mut Receiver<AgentEvent>) -> Vec<(&'static str, Value)> {
    let next = || told.try_recv().ok();
    let all = std::iter::from_fn(next).map(|event| {
        let params = serde_json::to_value(&event).unwrap();
        (event.name(), params)
    });
    all.collect()
}

/// The parts of speech among these events.
pub fn audio(told: &[(&str, Value)]) -> Vec<Value> {
    let parts = told.iter().filter(|(name, _)| *name == "chat.audio");
    parts.map(|(_, params)| params.clone()).collect()
}

#[tokio::test]
async fn parts_are_numbered_and_the_last_one_comes_with_the_end() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let mut told = harness.agents.subscribe();
    let (open, gate) = watch::channel(false);
    harness.model.will([Reaction::Gate(gate)]);
    harness.agents.send(chat(None, "Count")).await.unwrap();
    harness.model.until(1).await;
    // While the model has not said anything.
    let parts = speaker.parts()[0].clone();
    parts.push("aud_a".to_owned(), false);
    parts.push("aud_b".to_owned(), false);
    parts.push("aud_c".to_owned(), true);
    let early = audio(&so_far(&mut told));
    open.send_replace(true);
    let last = loop {
        let part = until(&mut told, "chat.audio").await;
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
    assert_eq!(audio(&so_far(&mut told)), [] as [Value; 0]);
}

#[tokio::test]
async fn speech_ends_when_the_answer_is_not_the_last_or_is_withheld() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let double = TestTool::double("double", Audience::Trusted);
    harness.agents.tools().register(double);
    let mut told = harness.agents.subscribe();
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
    assert_eq!(audio(&so_far(&mut told)), [] as [Value; 0]);

    // What was published is closed when the turn is stopped.
    let (_open, gate) = watch::channel(false);
    harness.model.will([Reaction::Gate(gate)]);
    let sent = harness.agents.send(chat(None, "Count")).await.unwrap();
    harness.model.until(3).await;
    speaker.parts()[2].push("aud_early".to_owned(), false);
    harness.agents.abort(sent.session.as_str()).await.unwrap();
    let told = until_done(&mut told).await;
    let ends: Vec<_> = audio(&told)
        .iter()
        .map(|part| part["last"].clone())
        .collect();
    assert_eq!(ends, [json!(false), json!(true)]);
    assert_eq!(audio(&told)[1]["audio_id"], "aud_early");
}
