//! Spoken answers: visible text, order of events, and failures.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, harnesses, problem_of, until, until_done, webhook};
use crate::speaker::{MARK, TestSpeaker};
use crate::spoken_parts::{audio, so_far};
use gatehouse_agents::{Audience, Role, SendRequest, ToolPolicy};
use gatehouse_domain::id::{AudioId, SessionId};
use gatehouse_domain::{Actor, Clock, ErrorCode, Problem};
use gatehouse_store::{SessionAudioRow, StoreError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

fn visible(received: &[(&str, Value)]) -> String {
    let deltas = received.iter().filter(|(name, _)| *name == "chat.delta");
    deltas.map(|(_, p)| p["text"].as_str().unwrap()).collect()
}

fn answers(received: &[(&str, Value)]) -> Vec<Value> {
    let of_agent =
        |(name, params): &&(&str, Value)| *name == "chat.message" && params["role"] == "assistant";
    received
        .iter()
        .filter(of_agent)
        .map(|(_, p)| p.clone())
        .collect()
}

#[tokio::test]
async fn an_answer_does_not_wait_for_its_speech() {
    for harness in harnesses().await {
        let gate = Arc::new(Notify::new());
        let opened = gate.clone();
        let speaker = TestSpeaker::new(move |_| {
            let opened = opened.clone();
            Box::pin(async move {
                opened.notified().await;
                Ok(Some("aud_7".to_owned()))
            })
        });
        harness.agents.register_speaker(speaker.clone());
        let mut received = harness.agents.subscribe();
        harness.model.will([say("Hello."), say("Still here.")]);
        let sent = harness.agents.send(chat(None, "Hi")).await.unwrap();
        let first = until_done(&mut received).await;
        let names: Vec<_> = first.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["chat.message", "chat.delta", "chat.message", "chat.done"]
        );
        assert_eq!(first[2].1["content"], "Hello.");
        assert_eq!(first[2].1.get("audio"), None);
        let session = sent.session.as_str();
        assert_eq!(harness.history(session).await[1].audio, None);
        // The next turn does not wait for the speech either.
        let next = harness.agents.send(chat(Some(session), "And?"));
        next.await.unwrap();
        until_done(&mut received).await;
        gate.notify_one();
        let part = until(&mut received, "chat.audio").await;
        assert_eq!(
            part,
            json!({ "session": session, "message_id": first[2].1["id"], "audio_id": "aud_7",
                "part": 0, "last": true, "recording": "aud_7" })
        );
        let history = harness.history(session).await;
        assert_eq!(history[1].audio.as_deref(), Some("aud_7"));
        assert_eq!(history[3].audio, None);
        let heard = speaker.heard();
        assert_eq!(
            (heard[0].agent.as_str(), heard[0].user_spoke),
            ("default", false)
        );
        gate.notify_one();
        until(&mut received, "chat.audio").await;

        // A caller who waits for the answer gets the audio too.
        gate.notify_one();
        let report = harness.say(None, "Hi").await;
        assert_eq!(report.audio.as_deref(), Some("aud_7"));
        assert!(report.error.is_none() && report.audio_error.is_none());
        let heard = speaker.heard();
        assert!(
            heard[2].cancel.is_cancelled(),
            "what it started ends with it"
        );
    }
}

#[tokio::test]
async fn what_is_not_to_be_spoken_has_no_audio() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::new(|_| Box::pin(async { Ok(None) }));
    harness.agents.register_speaker(speaker.clone());
    // A second speaker is refused.
    harness.agents.register_speaker(TestSpeaker::always());
    let mut received = harness.agents.subscribe();
    let report = harness.say(None, "Hi").await;
    assert!(report.audio.is_none() && report.audio_error.is_none());
    assert_eq!(speaker.heard().len(), 1);
    let received = until_done(&mut received).await;
    assert_eq!(answers(&received)[0].get("audio"), None);
}

#[tokio::test]
async fn stopping_ends_speech_and_keeps_the_answer() {
    let harness = Harness::new().await;
    let began = Arc::new(Notify::new());
    let begins = began.clone();
    let speaker = TestSpeaker::new(move |_| {
        begins.notify_one();
        Box::pin(std::future::pending())
    });
    harness.agents.register_speaker(speaker.clone());
    let mut received = harness.agents.subscribe();
    harness.model.will([say("A long story."), say("Another.")]);
    let sent = harness.agents.send(chat(None, "Tell")).await.unwrap();
    let session = sent.session.as_str();
    let first = until_done(&mut received).await;
    assert_eq!(answers(&first)[0]["content"], "A long story.");
    began.notified().await;
    assert!(!speaker.heard()[0].cancel.is_cancelled());
    harness.agents.abort(session).await.unwrap();
    assert!(speaker.heard()[0].cancel.is_cancelled());
    let next = harness.agents.send(chat(Some(session), "More"));
    next.await.unwrap();
    until_done(&mut received).await;
    began.notified().await;
    harness.agents.delete_session(session).await.unwrap();
    assert!(speaker.heard()[1].cancel.is_cancelled());
}

#[tokio::test]
async fn a_session_that_another_node_deletes_meanwhile_has_no_audio() {
    let harness = Harness::new().await;
    let store = harness.store.clone();
    let speaker = TestSpeaker::new(move |heard| {
        let store = store.clone();
        Box::pin(async move {
            let id = SessionId::from_text(heard.session);
            let write = store
                .write(move |conn| Box::pin(async move { conn.delete_chat_session(&id).await }));
            let deleted: Result<bool, StoreError> = write.await;
            assert!(deleted.unwrap());
            Ok(Some("aud_1".to_owned()))
        })
    });
    harness.agents.register_speaker(speaker);
    let report = harness.say(None, "Hi").await;
    assert_eq!((report.audio, report.audio_error), (None, None));
}

#[tokio::test]
async fn a_failure_to_speak_is_reported_with_the_answer() {
    let refused = || Problem::new(ErrorCode::NotConfigured, "No voice.").with("what", "voice.tts");
    let cases: Vec<(Arc<TestSpeaker>, &str)> = vec![
        (
            TestSpeaker::new(move |_| {
                let refused = refused();
                Box::pin(async move { Err(refused) })
            }),
            "NOT_CONFIGURED",
        ),
        (
            TestSpeaker::new(|_| Box::pin(async { panic!("the speaker has a fault") })),
            "INTERNAL",
        ),
        (
            TestSpeaker::limited(Duration::from_millis(20), |_| {
                Box::pin(std::future::pending())
            }),
            "TIMEOUT",
        ),
    ];
    for (speaker, code) in cases {
        let harness = Harness::new().await;
        harness.agents.register_speaker(speaker.clone());
        let mut received = harness.agents.subscribe();
        harness.model.will([say("Fine.")]);
        let report = harness.say(None, "How are you?").await;
        assert!(report.error.is_none() && !report.cancelled);
        assert_eq!(
            (report.text.as_str(), report.audio.as_deref()),
            ("Fine.", None)
        );
        let problem = report.audio_error.unwrap();
        assert_eq!(problem.code.name(), code);
        let received = so_far(&mut received);
        assert_eq!(answers(&received).len(), 1);
        assert_eq!(answers(&received)[0].get("audio"), None);
        let done = received.iter().find(|(name, _)| *name == "chat.done");
        assert_eq!(done.unwrap().1.get("error"), None);
        let parts = audio(&received);
        assert_eq!(parts.len(), 1);
        assert_eq!(
            (&parts[0]["last"], parts[0].get("audio_id")),
            (&json!(true), None)
        );
        let error = &parts[0]["error"];
        assert_eq!(error["code"], code);
        assert_eq!(error["message"], problem.message.as_str());
        if code == "NOT_CONFIGURED" {
            assert_eq!(error["what"], "voice.tts");
        }
        assert_eq!(
            harness.history(report.session.as_str()).await[1].content,
            "Fine."
        );
        assert!(speaker.heard()[0].cancel.is_cancelled());
    }
}

#[tokio::test]
async fn every_complete_answer_of_a_turn_is_spoken() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let double = TestTool::double("double", Audience::Trusted);
    harness.agents.tools().register(double);
    let Reaction::Call(_, calls) = call("double", &json!({ "x": 2 })) else {
        unreachable!()
    };
    let first = Reaction::Call(format!("Let me {MARK}{MARK}see."), calls);
    harness.model.will([first, say(&format!("{MARK}Four."))]);
    let report = harness.say(None, "2 * 2").await;
    assert_eq!(report.audio.as_deref(), Some("aud_1"));
    let heard = speaker.heard();
    let heard: Vec<_> = heard
        .iter()
        .map(|one| (one.text.as_str(), one.marks))
        .collect();
    assert_eq!(heard, [("Let me see.", 2), ("Four.", 1)]);
    let history = harness.history(report.session.as_str()).await;
    let of = |n: usize| (history[n].content.as_str(), history[n].audio.as_deref());
    assert_eq!(of(1), ("Let me see.", Some("aud_1")));
    assert_eq!(of(3), ("Four.", Some("aud_1")));

    // An answer that breaks off is not spoken.
    harness
        .model
        .will([Reaction::Break(format!("I {MARK}think")), say("never")]);
    let failed = harness.say(None, "And?").await;
    assert!(failed.error.is_some());
    assert_eq!((failed.audio, speaker.heard().len()), (None, 2));
}

#[tokio::test]
async fn what_a_webhook_asked_for_is_filtered_but_not_spoken() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    harness
        .model
        .will([say(&format!("{MARK}Noted.")), say("Aloud.")]);
    let request = webhook("webhook:a", "An event", Some(ToolPolicy::default()));
    let report = harness.agents.send_sync(request).await.unwrap();
    assert_eq!((report.text.as_str(), report.audio), ("Noted.", None));
    assert!(speaker.heard().is_empty());
    let prompt = |n: usize| harness.model.messages(n)[0]["content"].to_string();
    assert!(!prompt(0).contains(MARK), "{}", prompt(0));
    // A person who joins the session hears answers, and the model gets the speaker's hint.
    let joined = harness
        .say(Some(report.session.as_str()), "What was it?")
        .await;
    assert_eq!(joined.audio.as_deref(), Some("aud_1"));
    assert!(
        prompt(1).contains("Write <<say>> to be heard."),
        "{}",
        prompt(1)
    );
}

#[tokio::test]
async fn marks_are_never_seen_wherever_the_answer_is_cut() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let whole = format!("One {MARK}two <<sa");
    for cut in 0..=whole.len() {
        let (a, b) = whole.split_at(cut);
        for reaction in [
            Reaction::Say(vec![a.to_owned(), b.to_owned()]),
            // A partial answer is kept when the stream breaks.
            Reaction::Break(whole.clone()),
        ] {
            let broken = matches!(reaction, Reaction::Break(_));
            let mut received = harness.agents.subscribe();
            harness.model.will([reaction]);
            let report = harness.say(None, "Count").await;
            assert_eq!(report.error.is_some(), broken, "{:?}", report.error);
            assert_eq!(report.text, "One two <<sa", "cut at {cut}");
            let received = until_done(&mut received).await;
            assert_eq!(visible(&received), "One two <<sa", "cut at {cut}");
            assert!(
                received
                    .iter()
                    .all(|(_, params)| !params.to_string().contains(MARK))
            );
            let session = report.session.as_str();
            assert_eq!(harness.history(session).await[1].content, "One two <<sa");
            let share = harness
                .agents
                .share_session(&Actor::cli(), session)
                .await
                .unwrap();
            let shared = harness
                .agents
                .shared_session(&share.id)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(shared.messages[1].text.as_deref(), Some("One two <<sa"));
        }
        assert_eq!(speaker.heard()[cut].marks, 1);
    }
}

#[tokio::test]
async fn without_a_speaker_nothing_is_taken_out() {
    let harness = Harness::new().await;
    harness.model.will([say(MARK)]);
    assert_eq!(harness.say(None, "Hi").await.text, MARK);
}

/// Stores audio of a spoken text; returns its ID.
async fn said(harness: &Harness, session: &str, id: &str, transcript: &str) -> String {
    let row = SessionAudioRow {
        id: AudioId::from_text(id),
        session_id: SessionId::from_text(session),
        message_id: None,
        is_inbound: true,
        format: "wav".to_owned(),
        mime_type: "audio/wav".to_owned(),
        size: 1,
        duration_ms: 1,
        transcript: Some(transcript.to_owned()),
        created_at: harness.clock.now(),
    };
    let write = harness.store.write(move |conn| {
        Box::pin(async move { conn.insert_session_audio(&row, vec![0], 1000).await })
    });
    let stored: Result<bool, StoreError> = write.await;
    assert!(stored.unwrap());
    id.to_owned()
}

#[tokio::test]
async fn what_was_spoken_is_known_to_the_turn_and_to_history() {
    for harness in harnesses().await {
        let speaker = TestSpeaker::always();
        harness.agents.register_speaker(speaker.clone());
        let first = harness.say(None, "Hi").await;
        let session = first.session.as_str();
        let named = |audio: &str| SendRequest {
            audio: Some(audio.to_owned()),
            ..chat(Some(session), "Hello, corrected")
        };
        let audio = said(&harness, session, "aud_5", "Hallo").await;
        harness.agents.send_sync(named(&audio)).await.unwrap();
        // Without an audio ID, a text counts as spoken only if it equals the transcript, and only once.
        said(&harness, session, "aud_6", "How are you?").await;
        harness.say(Some(session), "How are you").await;
        harness.say(Some(session), " How are you?\n").await;
        harness.say(Some(session), "How are you?").await;
        // Spoken text is recognized only for a limited time.
        said(&harness, session, "aud_7", "Yes.").await;
        harness.clock.advance(Duration::from_secs(3601));
        harness.say(Some(session), "Yes.").await;

        let spoke: Vec<bool> = speaker
            .heard()
            .iter()
            .map(|heard| heard.user_spoke)
            .collect();
        assert_eq!(spoke, [false, true, false, true, false, false]);
        let history = harness.history(session).await;
        let of_user = history.iter().filter(|m| m.role == Role::User);
        let audio: Vec<_> = of_user.map(|m| m.audio.as_deref()).collect();
        assert_eq!(
            audio,
            [None, Some("aud_5"), None, Some("aud_6"), None, None]
        );

        // Audio that is unknown, belongs to another session or was spoken by the agent is refused, and nothing is
        // stored.
        let other = harness.say(None, "Other").await;
        let theirs = said(&harness, other.session.as_str(), "aud_8", "Theirs").await;
        for bad in ["aud_9", "a\0b", "", &theirs] {
            let refused = harness.agents.send(named(bad)).await.unwrap_err();
            assert_eq!(problem_of(refused).1, "audio_id", "{bad}");
        }
        let new = SendRequest {
            audio: Some(theirs),
            ..chat(None, "New")
        };
        assert_eq!(
            problem_of(harness.agents.send(new).await.unwrap_err()).1,
            "audio_id"
        );
        assert_eq!(harness.history(session).await.len(), 12);
        assert_eq!(harness.session_count().await, 2);
    }
}

#[tokio::test]
async fn a_webhook_never_counts_as_a_spoken_message() {
    let harness = Harness::new().await;
    let speaker = TestSpeaker::always();
    harness.agents.register_speaker(speaker.clone());
    let first = harness.agents.send_sync(webhook("webhook:a", "One", None));
    let first = first.await.unwrap();
    said(&harness, first.session.as_str(), "aud_1", "Two").await;
    let second = harness.agents.send_sync(webhook("webhook:a", "Two", None));
    second.await.unwrap();
    let history = harness.history(first.session.as_str()).await;
    assert_eq!(
        (history[2].content.as_str(), history[2].audio.as_deref()),
        ("Two", None)
    );
}
