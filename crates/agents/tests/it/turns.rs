//! From a text to its answer.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, harnesses, problem_of, until_done};
use gatehouse_agents::{AgentsSettings, Audience, NewAgent, Role, Source, Stop};
use gatehouse_store::testing::sqlite;
use serde_json::{Value, json};
use std::time::Instant;

#[tokio::test]
async fn an_answer_is_streamed_stored_and_reported() {
    for harness in harnesses().await {
        let mut events = harness.agents.subscribe();
        harness
            .model
            .will([Reaction::Say(vec!["Good ".into(), "day.".into()])]);
        let report = harness.say(None, "Hello\nthere").await;
        assert_eq!(report.text, "Good day.");
        assert_eq!(
            (report.usage.input_tokens, report.usage.output_tokens),
            (10, 3)
        );
        assert!(report.error.is_none() && report.actions.is_empty() && !report.cancelled);

        let received = until_done(&mut events).await;
        let deltas = received.iter().filter(|(name, _)| *name == "chat.delta");
        let text: String = deltas.map(|(_, p)| p["text"].as_str().unwrap()).collect();
        assert_eq!(text, "Good day.");
        let roles: Vec<_> = received
            .iter()
            .filter(|(name, _)| *name == "chat.message")
            .map(|(_, params)| params["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["user", "assistant"]);
        let session = report.session.as_str();
        for (_, params) in &received {
            assert_eq!(params["session"], session, "{params}");
            assert_eq!(params["turn_id"], report.turn_id.as_str(), "{params}");
        }
        let (_, done) = received.last().unwrap();
        assert_eq!(
            done["usage"],
            json!({ "input_tokens": 10, "output_tokens": 3 })
        );
        assert!(done.get("error").is_none());

        let history = harness.history(session).await;
        assert_eq!(history.len(), 2);
        assert_eq!(
            (history[0].role, history[0].content.as_str()),
            (Role::User, "Hello\nthere")
        );
        assert_eq!(history[1].model.as_deref(), Some("fake/m1"));
        assert_eq!(history[1].usage, Some(report.usage));
        let record = harness.agents.get_session(session).await.unwrap();
        assert_eq!((record.label.as_str(), record.message_count), ("Hello", 2));
        assert_eq!((record.source, record.tainted), (Source::User, false));
        assert_eq!(record.key, report.session_key);
    }
}

/// A socket that lags 1,024 events behind is closed, so a fast model must not cause an event for each piece.
#[tokio::test]
async fn a_fast_model_publishes_at_most_one_delta_every_ten_milliseconds() {
    const PIECES: usize = 3_000;
    let harness = Harness::new().await;
    let mut events = harness.agents.subscribe();
    let pieces = vec!["word ".to_owned(); PIECES];
    harness.model.will([Reaction::Say(pieces)]);
    let began = Instant::now();
    let report = harness.say(None, "hello").await;
    assert_eq!(report.text, "word ".repeat(PIECES));
    let received = until_done(&mut events).await;
    let most = began.elapsed().as_millis() / 10 + 2;
    let deltas = received.iter().filter(|(name, _)| *name == "chat.delta");
    let mut text = String::new();
    let mut count = 0;
    for (_, params) in deltas {
        assert_eq!(params["at"], text.len());
        text.push_str(params["text"].as_str().unwrap());
        count += 1;
    }
    assert_eq!(text, report.text);
    assert!(count <= most, "{count} deltas, at most {most}");
}

#[tokio::test]
async fn the_next_turn_knows_the_last() {
    let harness = Harness::new().await;
    let first = harness.say(None, "one").await;
    harness.say(Some(first.session.as_str()), "two").await;
    assert_eq!(
        harness.model.messages(1)[1..],
        [
            json!({ "role": "user", "content": "one" }),
            json!({ "role": "assistant", "content": "ok" }),
            json!({ "role": "user", "content": "two" }),
        ]
    );
    // A session can be addressed by key or ID.
    harness.say(Some(&first.session_key), "three").await;
    assert_eq!(harness.model.messages(2).len(), 6);
}

#[tokio::test]
async fn tools_are_called_until_there_is_an_answer() {
    for harness in harnesses().await {
        harness
            .agents
            .tools()
            .register(TestTool::double("double", Audience::Trusted));
        let mut events = harness.agents.subscribe();
        let calls = [21, 4].map(|x| ("double".to_owned(), json!({ "x": x }).to_string()));
        harness.model.will([
            Reaction::Call("Let me see.".to_owned(), calls.to_vec()),
            call("double", &json!({ "x": 8 })),
            say("42, 8 and 16."),
        ]);
        let report = harness.say(None, "double them").await;
        assert_eq!(report.text, "42, 8 and 16.");
        assert_eq!(report.usage.input_tokens, 30);
        let actions: Vec<_> = report
            .actions
            .iter()
            .map(|a| (&*a.tool, a.status.as_str()))
            .collect();
        assert_eq!(actions, [("double", "ok"); 3]);

        assert_eq!(harness.model.offered(0), ["double"]);
        let sent = harness.model.messages(1);
        assert_eq!(sent[0]["role"], "system");
        assert!(
            sent[0]["content"]
                .as_str()
                .unwrap()
                .contains("<tool_output>")
        );
        assert_eq!(
            sent[2]["tool_calls"][1]["function"]["arguments"],
            "{\"x\":4}"
        );
        let output = sent[3]["content"].as_str().unwrap();
        assert!(output.starts_with("<tool_output id=\"msg_"), "{output}");
        assert!(output.contains("\n42\n"), "{output}");

        let states: Vec<_> = until_done(&mut events)
            .await
            .into_iter()
            .filter(|(name, _)| *name == "chat.tool")
            .map(|(_, p)| {
                format!(
                    "{} {}",
                    p["id"].as_str().unwrap(),
                    p["state"].as_str().unwrap()
                )
            })
            .collect();
        assert_eq!(
            states,
            [
                "call_0 running",
                "call_0 ok",
                "call_1 running",
                "call_1 ok",
                "call_0 running",
                "call_0 ok"
            ]
        );
        let history = harness.history(report.session.as_str()).await;
        let roles: Vec<_> = history.iter().map(|m| m.role.as_str()).collect();
        assert_eq!(
            roles,
            [
                "user",
                "assistant",
                "tool",
                "tool",
                "assistant",
                "tool",
                "assistant"
            ]
        );
        assert_eq!(history[2].content, "42");
        assert_eq!(history[2].tool_call_id.as_deref(), Some("call_0"));
        assert_eq!(history[1].tool_calls.as_ref().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn the_steps_of_a_turn_are_limited() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::double("double", Audience::Public));
    let new = NewAgent {
        name: "Short".to_owned(),
        max_turns: Some(2),
        ..NewAgent::default()
    };
    harness.agents.create_agent(new).await.unwrap();
    let send = |text: &str| {
        let mut request = chat(None, text);
        request.agent = Some("short".to_owned());
        harness.agents.send_sync(request)
    };
    harness
        .model
        .will([call("double", &json!({ "x": 1 })), say("2")]);
    assert!(send("at the limit").await.unwrap().error.is_none());

    harness.model.will([
        call("double", &json!({ "x": 1 })),
        call("double", &json!({ "x": 2 })),
        say("As far as I came: 2."),
    ]);
    let report = send("past it").await.unwrap();
    assert!(report.error.is_none(), "{:?}", report.error);
    assert_eq!(
        (report.text.as_str(), report.stop),
        ("As far as I came: 2.", Stop::ToolLimit)
    );
    let statuses: Vec<_> = report.actions.iter().map(|a| a.status.as_str()).collect();
    assert_eq!(statuses, ["ok", "error"]);
    assert_eq!(harness.model.offered(3), ["double"]);
    assert!(
        harness.model.offered(4).is_empty(),
        "the last answer is without tools"
    );
    let last = harness.model.messages(4).pop().unwrap();
    assert!(
        last["content"].as_str().unwrap().contains("no more steps"),
        "{last}"
    );
    // Tool calls of a model without tools are ignored.
    harness
        .model
        .will(vec![call("double", &json!({ "x": 3 })); 3]);
    let report = send("still").await.unwrap();
    assert_eq!((report.actions.len(), report.stop), (2, Stop::ToolLimit));
    assert!(!report.has_answer);
    // The session continues. The fake model checks that every call has an answer.
    assert!(
        harness
            .say(Some(report.session.as_str()), "and now")
            .await
            .error
            .is_none()
    );
}

#[tokio::test]
async fn a_repeated_call_is_not_made_and_the_turn_continues() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::double("double", Audience::Public));
    let same = call("double", &json!({ "x": 1 }));
    let statuses = |report: &gatehouse_agents::TurnReport| -> Vec<_> {
        let actions = report.actions.iter();
        actions.map(|action| action.status.as_str()).collect()
    };
    harness.model.will(vec![same.clone(); 11]);
    harness.model.will([say("I give up.")]);
    let report = harness.say(None, "go").await;
    assert!(report.error.is_none(), "{:?}", report.error);
    assert_eq!(report.text, "I give up.");
    let mut expected = vec!["ok"; 3];
    expected.extend(["error"; 8]);
    assert_eq!(statuses(&report), expected);
    let last = harness.model.messages(11).pop().unwrap();
    let text = last["content"].as_str().unwrap();
    assert!(text.contains("same output three times"), "{text}");
    // Only `max_turns` ends the turn.
    harness.model.will(vec![same; 12]);
    let report = harness.say(None, "go").await;
    assert_eq!(statuses(&report).len(), 12);
    assert_eq!((report.text.as_str(), report.stop), ("ok", Stop::ToolLimit));
    assert!(
        harness
            .say(Some(report.session.as_str()), "and now")
            .await
            .error
            .is_none()
    );
}

#[tokio::test]
async fn a_provider_that_fails_ends_the_turn_and_loses_nothing() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Break("So far".to_owned())]);
        let report = harness.say(None, "hello").await;
        assert_eq!(problem_of(report.error.unwrap()).0, "PROVIDER_FAILED");
        assert_eq!((report.text.as_str(), report.stop), ("So far", Stop::Error));
        let session = report.session.as_str();
        let spoken = harness.spoken(session).await;
        assert_eq!(spoken[1], ("assistant".to_owned(), "So far".to_owned()));
        harness.model.will([Reaction::Refuse(
            401,
            json!({ "error": { "message": "bad key" } }),
        )]);
        let report = harness.say(Some(session), "again").await;
        let (code, text) = problem_of(report.error.unwrap());
        assert_eq!(code, "PROVIDER_FAILED");
        assert!(!text.contains("bad key"), "{text}");
        // The history contains the reasons.
        let history = harness.history(session).await;
        let ends: Vec<_> = history
            .iter()
            .map(|m| (m.content.as_str(), m.stop))
            .collect();
        let error = Some(Stop::Error);
        let expected = [
            ("hello", None),
            ("So far", error),
            ("again", None),
            ("", error),
        ];
        assert_eq!(ends, expected);
        let reason = history[3].error.clone().unwrap().0;
        assert_eq!((reason.code.name(), reason.message), (code, text));
        // Consecutive user texts are one message to the model.
        harness.say(Some(session), "once more").await;
        let last = harness.model.messages(2).last().unwrap().clone();
        assert_eq!(last["content"], "again\n\nonce more");
    }
}

#[tokio::test]
async fn without_a_provider_the_text_is_kept_and_the_turn_says_what_to_do() {
    let harness = Harness::on(sqlite(), AgentsSettings::default(), false).await;
    let mut events = harness.agents.subscribe();
    let report = harness.say(None, "hello").await;
    let problem = report.error.unwrap();
    assert_eq!(problem.code.name(), "NOT_CONFIGURED");
    assert!(
        problem.message.contains("OPENAI_API_KEY"),
        "{}",
        problem.message
    );
    let history = harness.history(report.session.as_str()).await;
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].error.as_ref().unwrap().0, problem);
    let received = until_done(&mut events).await;
    assert_eq!(
        received.last().unwrap().1["error"]["code"],
        "NOT_CONFIGURED"
    );
}

#[tokio::test]
async fn an_agent_says_how_its_model_is_asked() {
    let harness = Harness::new().await;
    let new: NewAgent =
        serde_json::from_value(json!({ "id": "poet", "name": "Poet", "model": "m2",
        "provider": "fake", "system_prompt": "Rhyme.", "temperature": 0.5 }))
        .unwrap();
    harness.agents.create_agent(new).await.unwrap();
    let mut request = chat(None, "hello");
    request.agent = Some("poet".to_owned());
    request.system_suffix = Some("In French.".to_owned());
    let report = harness.agents.send_sync(request).await.unwrap();
    let seen = &harness.model.seen()[0];
    assert_eq!(
        (&seen["model"], &seen["temperature"]),
        (&json!("m2"), &json!(0.5))
    );
    let system = seen["messages"][0]["content"].as_str().unwrap();
    assert_eq!(
        system,
        "Rhyme.\n\nIn French.\n\nYou are the agent \"Poet\". Today is Friday, 2026-11-20 (time zone UTC). \
         The user is the owner on this machine."
    );
    assert_eq!(seen.get("tools"), None);

    // The session keeps its agent. The model can be chosen per turn.
    let mut request = chat(Some(report.session.as_str()), "again");
    request.model = Some("fake/m3".to_owned());
    harness.agents.send_sync(request).await.unwrap();
    let seen = &harness.model.seen()[1];
    assert_eq!(
        (&seen["model"], &seen["temperature"]),
        (&json!("m3"), &json!(0.5))
    );
    let session = harness
        .agents
        .get_session(report.session.as_str())
        .await
        .unwrap();
    assert_eq!(session.agent_id, "poet");

    // Sessions of a deleted agent remain.
    harness.agents.delete_agent("poet").await.unwrap();
    let session = harness
        .agents
        .get_session(report.session.as_str())
        .await
        .unwrap();
    assert_eq!(session.agent_id, "default");
    harness
        .say(Some(report.session.as_str()), "who is there")
        .await;
    assert_eq!(harness.model.seen()[2]["model"], "m1");
}

#[tokio::test]
async fn what_cannot_begin_is_refused_and_leaves_nothing() {
    for harness in harnesses().await {
        let refused = async |change: &dyn Fn(&mut gatehouse_agents::SendRequest)| {
            let mut request = chat(None, "hello");
            change(&mut request);
            problem_of(harness.agents.send_sync(request).await.unwrap_err())
        };
        let field = |name: &str| ("INVALID_PARAMS", name.to_owned());
        assert_eq!(refused(&|r| r.text = " ".to_owned()).await, field("text"));
        assert_eq!(
            refused(&|r| r.text = "x".repeat((1 << 20) + 1)).await,
            field("text")
        );
        assert_eq!(
            refused(&|r| r.agent = Some("nobody".to_owned())).await,
            field("agent")
        );
        assert_eq!(
            refused(&|r| r.agent = Some("\0".to_owned())).await,
            field("agent")
        );
        assert_eq!(
            refused(&|r| r.model = Some("a\nb".to_owned())).await,
            field("model")
        );
        for name in ["ses_none", "\0"] {
            let missing = chat(Some(name), "hello");
            let (code, _) = problem_of(harness.agents.send(missing).await.unwrap_err());
            assert_eq!(code, "NOT_FOUND");
        }
        assert_eq!(harness.session_count().await, 0);
        assert!(harness.model.seen().is_empty());
    }
}

#[tokio::test]
async fn what_one_engine_cannot_store_is_replaced() {
    for harness in harnesses().await {
        harness.model.will([say("b\0c")]);
        let report = harness.say(None, "a\0b").await;
        assert!(report.error.is_none(), "{:?}", report.error);
        let texts: Vec<_> = harness.spoken(report.session.as_str()).await;
        assert_eq!(texts[0].1, "a\u{fffd}b");
        assert_eq!(texts[1].1, "b\u{fffd}c");
    }
}

#[tokio::test]
async fn a_session_continues_after_a_crash_during_calls() {
    for harness in harnesses().await {
        let report = harness.say(None, "hello").await;
        // The state after a process was killed between a call and its answer.
        let database = &harness.database.location;
        gatehouse_store::testing::run_sql(
            database,
            "UPDATE chat_messages SET tool_calls = \
             '[{\"id\":\"c9\",\"name\":\"x\",\"arguments\":\"{\"}]' WHERE role = 'assistant'",
        )
        .await;
        let harness = harness.restart().await;
        // Offer a tool, because calls are otherwise not sent as calls. The first message is the
        // system prompt.
        let tools = harness.agents.tools();
        tools.register(TestTool::double("double", Audience::Public));
        let report = harness
            .say(Some(report.session.as_str()), "are you there")
            .await;
        assert!(report.error.is_none());
        let sent = harness.model.messages(0).split_off(1);
        assert_eq!(sent[2]["tool_call_id"], "c9");
        assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{}");
        let text: &Value = &sent[2]["content"];
        assert!(text.as_str().unwrap().contains("interrupted"), "{text}");
    }
}
