//! The reason why an answer ended, in the report, the event and the history.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, harnesses, until, until_done, webhook};
use gatehouse_agents::{Audience, NewAgent, Stop};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn the_reason_is_in_the_report_the_event_and_the_history() {
    for harness in harnesses().await {
        for (reason, stop) in [
            ("stop", Stop::End),
            ("length", Stop::Length),
            ("content_filter", Stop::Filtered),
        ] {
            let mut events = harness.agents.subscribe();
            harness
                .model
                .will([Reaction::Finish("Half".to_owned(), reason.to_owned())]);
            let report = harness.say(None, "hello").await;
            assert!(report.error.is_none());
            assert_eq!((report.text.as_str(), report.stop), ("Half", stop));
            let received = until_done(&mut events).await;
            let (_, message) = &received[received.len() - 2];
            assert_eq!(message["stop"], stop.as_str());
            assert_eq!(received.last().unwrap().1["stop"], stop.as_str());
            let history = harness.history(report.session.as_str()).await;
            let stops: Vec<_> = history.iter().map(|message| message.stop).collect();
            assert_eq!(stops, [None, Some(stop)]);
        }
    }
}

#[tokio::test]
async fn calls_in_an_answer_that_was_withheld_are_not_made() {
    let harness = Harness::new().await;
    let tool = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(tool);
    let arguments = json!({ "x": 1 }).to_string();
    let calls = vec![("double".to_owned(), arguments)];
    harness
        .model
        .will([Reaction::CallThen(calls, "content_filter".to_owned())]);
    let report = harness.say(None, "hello").await;
    assert_eq!((report.stop, report.actions.len()), (Stop::Filtered, 0));
    assert!(!report.has_answer);
    assert_eq!(harness.model.seen().len(), 1);
}

/// The answer was cut before the arguments of the call, so the call must not be made.
#[tokio::test]
async fn a_call_that_was_cut_before_its_arguments_is_not_made() {
    let harness = Harness::new().await;
    let tools = harness.agents.tools();
    let delete = TestTool::new("delete", Audience::Public, |_, _| {
        Box::pin(async { Ok("deleted everything".to_owned()) })
    });
    tools.register(delete);
    let calls = vec![("delete".to_owned(), String::new())];
    harness
        .model
        .will([Reaction::CallThen(calls, "length".to_owned()), say("done")]);
    let report = harness.say(None, "hello").await;
    assert_eq!((report.text.as_str(), report.actions.len()), ("done", 1));
    assert_eq!(report.actions[0].status.as_str(), "error");
    let received = harness.model.messages(1);
    let answer = received.last().unwrap()["content"].as_str().unwrap();
    assert!(answer.contains("not a JSON object"), "{answer}");
}

#[tokio::test]
async fn the_last_answer_of_a_turn_without_more_steps_says_that_it_was_cut() {
    let harness = Harness::new().await;
    let tool = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(tool);
    let new = NewAgent {
        name: "Short".to_owned(),
        max_turns: Some(1),
        ..NewAgent::default()
    };
    harness.agents.create_agent(new).await.unwrap();
    for (reason, stop) in [
        ("stop", Stop::ToolLimit),
        ("length", Stop::Length),
        ("content_filter", Stop::Filtered),
    ] {
        let last = Reaction::Finish("As far".to_owned(), reason.to_owned());
        harness
            .model
            .will([call("double", &json!({ "x": 1 })), last]);
        let mut request = chat(None, "go");
        request.agent = Some("short".to_owned());
        let report = harness.agents.send_sync(request).await.unwrap();
        assert_eq!((report.text.as_str(), report.stop), ("As far", stop));
    }
}

#[tokio::test]
async fn a_turn_that_was_stopped_says_by_whom() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let mut events = harness.agents.subscribe();
        let sent = harness.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str().to_owned();
        until(&mut events, "chat.delta").await;
        // This turn waits. The shutdown stops the next turn.
        harness
            .agents
            .send(chat(Some(&session), "two"))
            .await
            .unwrap();
        harness.agents.abort(&session).await.unwrap();
        assert_eq!(until(&mut events, "chat.done").await["stop"], "aborted");
        assert_eq!(until(&mut events, "chat.done").await["stop"], "end");
        harness.model.will([Reaction::Hang("Then".to_owned())]);
        harness
            .agents
            .send(chat(Some(&session), "three"))
            .await
            .unwrap();
        until(&mut events, "chat.delta").await;
        harness
            .agents
            .send(chat(Some(&session), "four"))
            .await
            .unwrap();
        harness.agents.shutdown(Duration::ZERO).await;
        let history = harness.history(&session).await;
        let ends: Vec<_> = history
            .iter()
            .filter_map(|message| Some((message.content.as_str(), message.stop?)))
            .collect();
        let interrupted = Stop::Interrupted;
        let expected = [
            ("So far", Stop::Aborted),
            ("ok", Stop::End),
            ("Then", interrupted),
            ("", interrupted),
        ];
        assert_eq!(ends, expected);
        assert!(history.iter().all(|message| message.error.is_none()));
    }
}

#[tokio::test]
async fn a_conversation_with_calls_continues_with_another_model() {
    let harness = Harness::new().await;
    let tool = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(tool);
    // The double gives each call the same ID but refuses repeated IDs.
    harness
        .model
        .will([1, 2, 3].map(|x| call("double", &json!({ "x": x }))));
    let report = harness.say(None, "double them").await;
    assert_eq!((report.stop, report.actions.len()), (Stop::End, 3));
    let mut request = chat(Some(report.session.as_str()), "and now?");
    request.model = Some("fake/mistral-large".to_owned());
    let report = harness.agents.send_sync(request).await.unwrap();
    assert!(report.error.is_none(), "{:?}", report.error);
}

#[tokio::test]
async fn a_turn_that_failed_after_a_call_is_followed_by_one_of_mistral() {
    let harness = Harness::new().await;
    let tool = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(tool);
    let fails = [
        call("double", &json!({ "x": 1 })),
        Reaction::Refuse(400, json!({})),
    ];
    harness.model.will(fails);
    let report = harness.say(None, "double it").await;
    assert_eq!(report.stop, Stop::Error);
    let mut request = chat(Some(report.session.as_str()), "and now?");
    request.model = Some("fake/mistral-large".to_owned());
    let report = harness.agents.send_sync(request).await.unwrap();
    assert!(report.error.is_none(), "{:?}", report.error);
}

#[tokio::test]
async fn the_end_of_a_turn_is_no_part_of_the_next_request() {
    let harness = Harness::new().await;
    harness
        .model
        .will([Reaction::Refuse(400, json!({})), say("Yes.")]);
    let report = harness.say(None, "Are you there?").await;
    assert_eq!(report.stop, Stop::Error);
    harness.say(Some(report.session.as_str()), "Now?").await;
    assert_eq!(
        harness.model.messages(1)[1..],
        [json!({ "role": "user", "content": "Now?" })]
    );
    let request = webhook("webhook:a", "event", None);
    let report = harness.agents.send_sync(request).await.unwrap();
    assert!(report.has_answer);
}
