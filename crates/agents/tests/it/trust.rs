//! Webhook text is data. Its turns have only public tools. So do all later turns in its session until a person clears
//! the session.

use crate::fake_model::{call, say};
use crate::harness::{Harness, TestTool, chat, harnesses, problem_of, webhook};
use gatehouse_agents::{
    AgentChanges, Audience, MessageOrigin, Origin, SendRequest, Source, Target, ToolPolicy,
};
use gatehouse_domain::{Actor, DeliveryId};
use serde_json::json;

async fn with_tools() -> Vec<Harness> {
    let harnesses = harnesses().await;
    for harness in &harnesses {
        register(harness);
    }
    harnesses
}

fn register(harness: &Harness) {
    let tools = harness.agents.tools();
    tools.register(TestTool::double("calc", Audience::Public));
    tools.register(TestTool::double("web_fetch", Audience::Public));
    tools.register(TestTool::double("speak", Audience::Trusted));
}

#[tokio::test]
async fn a_webhook_has_no_tools_without_a_policy_and_public_ones_with_it() {
    for harness in with_tools().await {
        let all = || {
            Some(ToolPolicy {
                allow: vec!["*".to_owned()],
                deny: Vec::new(),
            })
        };
        for (number, (policy, expected)) in [
            (None, &[][..]),
            (Some(ToolPolicy::default()), &["calc", "web_fetch"][..]),
            (all(), &["calc", "web_fetch"][..]),
        ]
        .into_iter()
        .enumerate()
        {
            let request = webhook(&format!("webhook:{number}"), "event", policy);
            assert!(
                harness
                    .agents
                    .send_sync(request)
                    .await
                    .unwrap()
                    .error
                    .is_none()
            );
            assert_eq!(harness.model.offered(number), expected);
        }
    }
}

#[tokio::test]
async fn what_was_not_offered_is_not_called() {
    for harness in with_tools().await {
        for policy in [
            None,
            Some(ToolPolicy {
                allow: vec!["*".to_owned()],
                deny: Vec::new(),
            }),
        ] {
            let before = harness.model.seen().len();
            harness
                .model
                .will([call("speak", &json!({ "x": 1 })), say("done")]);
            let report = harness
                .agents
                .send_sync(webhook("webhook:a", "event", policy))
                .await
                .unwrap();
            assert_eq!(report.actions[0].status.as_str(), "denied");
            let received = harness.model.messages(before + 1).pop().unwrap();
            assert!(
                received["content"]
                    .as_str()
                    .unwrap()
                    .contains("is not allowed"),
                "{received}"
            );
        }
        // Without a policy, not even a public tool is available.
        harness
            .model
            .will([call("calc", &json!({ "x": 1 })), say("done")]);
        let report = harness
            .agents
            .send_sync(webhook("webhook:b", "event", None))
            .await
            .unwrap();
        assert_eq!(report.actions[0].status.as_str(), "denied");
    }
}

#[tokio::test]
async fn a_session_stays_tainted_until_a_person_clears_it() {
    for harness in with_tools().await {
        let chatting = harness.say(None, "hello").await;
        assert_eq!(harness.model.offered(0), ["calc", "speak", "web_fetch"]);
        assert!(
            !harness
                .agents
                .get_session(chatting.session.as_str())
                .await
                .unwrap()
                .tainted
        );

        let report = harness
            .agents
            .send_sync(webhook("webhook:a", "event", None))
            .await
            .unwrap();
        let session = report.session.to_string();
        let record = harness.agents.get_session(&session).await.unwrap();
        assert!(record.tainted);
        assert_eq!(
            (record.source, record.key.as_str()),
            (Source::Webhook, "webhook:a")
        );
        harness.say(Some(&session), "what happened").await;
        assert_eq!(harness.model.offered(2), ["calc", "web_fetch"]);
        harness
            .model
            .will([call("speak", &json!({ "x": 1 })), say("done")]);
        let report = harness.say(Some(&session), "say it").await;
        assert_eq!(report.actions[0].status.as_str(), "denied");

        let harness = harness.restart().await;
        register(&harness);
        harness.say(Some(&session), "and now").await;
        assert_eq!(harness.model.offered(0), ["calc", "web_fetch"]);

        let cleared = harness.agents.clear_taint(&Actor::cli(), &session).await;
        assert!(!cleared.unwrap().tainted);
        harness.say(Some(&session), "and now").await;
        assert_eq!(harness.model.offered(1), ["calc", "speak", "web_fetch"]);
        let again = webhook("webhook:a", "another event", None);
        harness.agents.send_sync(again).await.unwrap();
        harness.say(Some(&session), "and now").await;
        assert_eq!(harness.model.offered(3), ["calc", "web_fetch"]);
    }
}

#[tokio::test]
async fn the_prompt_says_that_webhook_text_is_data() {
    let harness = Harness::new().await;
    let change: AgentChanges =
        serde_json::from_value(json!({ "id": "default", "system_prompt": "Be kind." })).unwrap();
    harness.agents.update_agent(change).await.unwrap();
    let mut request = webhook("webhook:a", "event", None);
    request.system_suffix = Some("Count them.".to_owned());
    let report = harness.agents.send_sync(request).await.unwrap();
    let system = |n| {
        harness.model.messages(n)[0]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        system(0).starts_with("Be kind.\n\nCount them.\n\n"),
        "{}",
        system(0)
    );
    assert!(system(0).contains("untrusted data"));
    harness
        .say(Some(report.session.as_str()), "what happened")
        .await;
    assert!(system(1).contains("untrusted data") && !system(1).contains("Count"));
    harness.say(None, "hello").await;
    assert!(system(2).starts_with("Be kind.\n\nYou are the agent \"Default\"."));
    assert!(!system(2).contains("untrusted data"));
}

#[tokio::test]
async fn a_webhook_finds_its_own_session_and_no_other() {
    for harness in harnesses().await {
        let first = harness
            .agents
            .send_sync(webhook("named", "one", None))
            .await
            .unwrap();
        let second = harness
            .agents
            .send_sync(webhook("named", "two", None))
            .await
            .unwrap();
        assert_eq!(first.session, second.session);
        assert_eq!(
            harness.agents.session_source("named").await.unwrap(),
            Some(Source::Webhook)
        );
        assert_eq!(harness.agents.session_source("other").await.unwrap(), None);

        let own = harness.say(None, "mine").await;
        for key in [
            own.session_key.as_str(),
            own.session.as_str(),
            first.session.as_str(),
        ] {
            let refused = harness
                .agents
                .send_sync(webhook(key, "three", None))
                .await
                .unwrap_err();
            assert_eq!(
                problem_of(refused),
                ("INVALID_PARAMS", "session_key".to_owned()),
                "{key}"
            );
        }
        assert!(
            !harness
                .agents
                .get_session(own.session.as_str())
                .await
                .unwrap()
                .tainted
        );
        for bad in ["", "a\0b", "a\nb"] {
            let refused = harness
                .agents
                .send_sync(webhook(bad, "three", None))
                .await
                .unwrap_err();
            assert_eq!(problem_of(refused).1, "session_key");
        }
        let mut unknown = webhook("fresh", "x", None);
        unknown.agent = Some("nobody".to_owned());
        assert_eq!(
            problem_of(harness.agents.send(unknown).await.unwrap_err()).1,
            "agent"
        );
        assert_eq!(harness.agents.session_source("fresh").await.unwrap(), None);
    }
}

#[tokio::test]
async fn many_texts_at_once_make_one_session() {
    for harness in harnesses().await {
        let sends = (0..10).map(|n| {
            harness
                .agents
                .send_sync(webhook("one", &format!("text {n}"), None))
        });
        let reports = futures_util::future::join_all(sends).await;
        let ids: std::collections::HashSet<_> = reports
            .into_iter()
            .map(|report| report.unwrap().session)
            .collect();
        assert_eq!(ids.len(), 1);
        let spoken = harness.spoken("one").await;
        assert_eq!(spoken.len(), 20);
        for turn in spoken.chunks(2) {
            assert_eq!(
                (turn[0].0.as_str(), turn[1].0.as_str()),
                ("user", "assistant")
            );
        }
        harness
            .agents
            .send_sync(chat(Some("one"), "thanks"))
            .await
            .unwrap();
    }
}

/// Returns a text of a person on a channel.
fn person(text: &str, number: u32, written_by: MessageOrigin) -> SendRequest {
    SendRequest {
        session: Target::Person {
            key: "channel:telegram:42".to_owned(),
            label: "Ada".to_owned(),
        },
        origin: Origin::Channel {
            message: DeliveryId::from_text(format!("inbound:telegram:{number}")),
            written_by,
        },
        ..SendRequest::new(text, Actor::system())
    }
}

#[tokio::test]
async fn a_person_on_a_channel_has_a_session_that_no_webhook_can_use() {
    for harness in with_tools().await {
        let agents = &harness.agents;
        let first = person("one", 1, MessageOrigin::Owner);
        let first = agents.send_sync(first).await.unwrap();
        let session = agents.get_session(first.session.as_str()).await.unwrap();
        assert_eq!(session.source, Source::Channel);
        assert!(!session.tainted);
        let refused = agents.send_sync(webhook("channel:telegram:42", "two", None));
        assert_eq!(problem_of(refused.await.unwrap_err()).1, "session_key");
        // The message is sent again after a crash and continues its turn.
        let again = person("one", 1, MessageOrigin::Owner);
        let again = agents.send_sync(again).await.unwrap();
        assert_eq!(again.turn_id, first.turn_id);
        // The ID of a channel message is not the ID of a delivery.
        let history = agents.history(first.session.as_str(), 10, None).await;
        let messages = history.unwrap().messages;
        assert_eq!(messages[0].content, "one");
        assert!(messages.iter().all(|it| it.delivery_id.is_none()));
        let guest = person("three", 2, MessageOrigin::Stranger);
        agents.send_sync(guest).await.unwrap();
        let session = agents.get_session(first.session.as_str()).await.unwrap();
        assert!(session.tainted);
        let messages = harness.model.messages(2);
        let system = messages[0]["content"].as_str().unwrap();
        assert!(
            system.contains("a person who is not the owner")
                && system.contains("not your operator"),
            "{system}"
        );
        assert!(!system.contains("untrusted data"), "{system}");
    }
}
