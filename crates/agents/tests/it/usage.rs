//! Model usage and budgets. Each model call reads 10 tokens and writes 3, which costs 16 millionths.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, START, TestTool, chat, harnesses, problem_of, until, until_done};
use gatehouse_agents::{
    AgentBudget, AgentChanges, Audience, Budget, BudgetName, BudgetPeriod, NewAgent, NewBudget,
    SendRequest, UsageBy, UsageQuery, UsageStat,
};
use gatehouse_domain::{Actor, Clock, Timestamp};
use serde_json::json;
use std::time::Duration;
use tokio::sync::watch;

async fn stats(harness: &Harness, by: UsageBy) -> Vec<UsageStat> {
    let query = UsageQuery {
        from: None,
        until: None,
        by,
    };
    harness.agents.usage_stats(query).await.unwrap().rows
}

fn limit(scope: &str, period: BudgetPeriod, tokens: i64) -> NewBudget {
    NewBudget {
        scope: scope.to_owned(),
        period,
        tokens: Some(tokens),
        cost: None,
    }
}

async fn set(harness: &Harness, new: NewBudget) -> Budget {
    harness.agents.set_budget(new).await.unwrap()
}

async fn refused(harness: &Harness, request: SendRequest) -> (&'static str, String) {
    problem_of(harness.agents.send_sync(request).await.unwrap_err())
}

fn by_key(text: &str) -> SendRequest {
    SendRequest {
        actor: Actor {
            name: "api_key key_1".to_owned(),
            ..Actor::cli()
        },
        ..chat(None, text)
    }
}

#[tokio::test]
async fn each_call_counts_for_its_day_agent_model_and_key() {
    for harness in harnesses().await {
        let tool = TestTool::double("double", Audience::Public);
        harness.agents.tools().register(tool);
        harness
            .model
            .will([call("double", &json!({ "x": 1 })), say("2")]);
        harness.agents.send_sync(by_key("twice")).await.unwrap();
        harness.say(None, "once").await;
        let all = UsageStat {
            input_tokens: 30,
            output_tokens: 9,
            cost: Some(0.000_048),
            turns: 2,
            ..UsageStat::default()
        };
        for (by, expected) in [
            (
                UsageBy::Day,
                UsageStat {
                    day: Some("2026-11-20".to_owned()),
                    ..all.clone()
                },
            ),
            (
                UsageBy::Agent,
                UsageStat {
                    agent: Some("default".to_owned()),
                    ..all.clone()
                },
            ),
            (
                UsageBy::Model,
                UsageStat {
                    model: Some("fake/m1".to_owned()),
                    ..all.clone()
                },
            ),
            (
                UsageBy::Key,
                UsageStat {
                    key: Some("key_1".to_owned()),
                    input_tokens: 20,
                    output_tokens: 6,
                    cost: Some(0.000_032),
                    turns: 1,
                    ..UsageStat::default()
                },
            ),
        ] {
            assert_eq!(stats(&harness, by).await, [expected]);
        }
        assert!(stats(&harness, UsageBy::Webhook).await.is_empty());
    }
}

#[tokio::test]
async fn a_message_tells_the_cached_tokens_and_those_of_reasoning() {
    for harness in harnesses().await {
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 3,
            "prompt_tokens_details": { "cached_tokens": 8 },
            "completion_tokens_details": { "reasoning_tokens": 2 } });
        let delta = json!({ "content": "Hello." });
        let frames = [
            json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": "stop" }] }),
            json!({ "choices": [], "usage": usage }),
        ];
        harness.model.will([Reaction::Frames(frames.to_vec())]);
        let report = harness.say(None, "hello").await;
        let history = harness.history(report.session.as_str()).await;
        let message = serde_json::to_value(history.last().unwrap()).unwrap();
        let expected = json!({ "input_tokens": 10, "output_tokens": 3, "cached_tokens": 8,
            "reasoning_tokens": 2 });
        assert_eq!(message["usage"], expected, "{message}");
    }
}

#[tokio::test]
async fn sums_are_of_the_days_that_are_asked_for() {
    let harness = Harness::new().await;
    for _ in 0..3 {
        harness.say(None, "a").await;
        harness.clock.advance(Duration::from_hours(24));
    }
    let day = |days: u64| START.after(Duration::from_hours(24 * days));
    for (from, until, expected) in [
        (None, None, vec!["2026-11-20", "2026-11-21", "2026-11-22"]),
        (Some(day(1)), None, vec!["2026-11-21", "2026-11-22"]),
        (None, Some(day(0)), vec!["2026-11-20"]),
        (Some(day(1)), Some(day(1)), vec!["2026-11-21"]),
        (Some(day(3)), None, vec![]),
    ] {
        let query = UsageQuery {
            from,
            until,
            by: UsageBy::Day,
        };
        let found = harness.agents.usage_stats(query).await.unwrap().rows;
        let days: Vec<_> = found.into_iter().filter_map(|row| row.day).collect();
        assert_eq!(days, expected);
    }
}

#[tokio::test]
async fn an_answer_that_was_stopped_is_estimated() {
    let harness = Harness::new().await;
    harness
        .model
        .will([Reaction::Hang("A long answer ".repeat(20))]);
    let mut events = harness.agents.subscribe();
    let sent = harness.agents.send(chat(None, "hello")).await.unwrap();
    until(&mut events, "chat.delta").await;
    harness.agents.abort(sent.session.as_str()).await.unwrap();
    until_done(&mut events).await;
    let rows = stats(&harness, UsageBy::Agent).await;
    assert!(
        rows[0].input_tokens > 0 && rows[0].output_tokens > 40,
        "{rows:?}"
    );
}

#[tokio::test]
async fn a_budget_warns_once_and_then_stops_before_the_call_until_it_resets() {
    for harness in harnesses().await {
        let mut events = harness.agents.subscribe();
        // 13 of 32 tokens are used before the budget exists.
        harness.say(None, "1").await;
        let budget = set(&harness, limit("all", BudgetPeriod::Day, 32)).await;
        assert_eq!((budget.used_tokens, budget.exhausted), (13, false));
        harness.say(None, "2").await;
        let warned = until(&mut events, "budget.warning").await;
        assert_eq!(
            (&warned["scope"], &warned["used_tokens"], &warned["tokens"]),
            (&json!("all"), &json!(26), &json!(32))
        );
        harness.say(None, "3").await;
        let (code, text) = refused(&harness, chat(None, "4")).await;
        assert_eq!(code, "BUDGET_EXHAUSTED");
        assert!(text.contains("2026-11-21T00:00:00"), "{text}");
        assert_eq!(harness.model.seen().len(), 3, "the model was not asked");
        let listed = harness.agents.list_budgets().await.unwrap().budgets;
        assert_eq!((listed[0].used_tokens, listed[0].exhausted), (39, true));
        let read = harness.store.read(|conn| {
            Box::pin(async move {
                let page = gatehouse_store::AuditPage {
                    before_seq: i64::MAX,
                    kind: Some("budget.warned".to_owned()),
                    limit: 10,
                    ..gatehouse_store::AuditPage::default()
                };
                conn.list_audit(&page).await
            })
        });
        assert_eq!(read.await.unwrap().len(), 1);

        harness.clock.advance(Duration::from_hours(24));
        harness.say(None, "5").await;
        let fresh = harness.agents.list_budgets().await.unwrap().budgets;
        assert_eq!(fresh[0].used_tokens, 13);
        assert!(fresh[0].resets_at > harness.clock.now());
    }
}

#[tokio::test]
async fn a_raised_or_deleted_budget_lets_turns_run_at_once() {
    for harness in harnesses().await {
        set(&harness, limit("agent:default", BudgetPeriod::Month, 13)).await;
        harness.say(None, "1").await;
        refused(&harness, chat(None, "2")).await;
        set(&harness, limit("agent:default", BudgetPeriod::Month, 26)).await;
        harness.say(None, "3").await;
        refused(&harness, chat(None, "4")).await;
        let name = || BudgetName {
            scope: "agent:default".to_owned(),
            period: BudgetPeriod::Month,
        };
        harness.agents.delete_budget(name()).await.unwrap();
        harness.say(None, "5").await;
        let gone = harness.agents.delete_budget(name()).await.unwrap_err();
        assert_eq!(problem_of(gone).0, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_budget_in_money_or_of_one_model_or_key_applies_to_its_calls_only() {
    for harness in harnesses().await {
        let cost = NewBudget {
            scope: "key:key_1".to_owned(),
            period: BudgetPeriod::Day,
            tokens: None,
            cost: Some(0.000_016),
        };
        set(&harness, cost).await;
        harness.agents.send_sync(by_key("1")).await.unwrap();
        assert_eq!(refused(&harness, by_key("2")).await.0, "BUDGET_EXHAUSTED");
        harness.say(None, "another caller").await;

        set(&harness, limit("model:fake/other", BudgetPeriod::Day, 1)).await;
        harness.say(None, "another model").await;
        set(&harness, limit("model:fake/m1", BudgetPeriod::Day, 1)).await;
        // The model is chosen only when the turn starts, so the text is stored and the turn fails.
        let report = harness.say(None, "this model").await;
        assert_eq!(report.error.unwrap().code.name(), "BUDGET_EXHAUSTED");
        assert_eq!(harness.model.seen().len(), 3);
    }
}

#[tokio::test]
async fn a_turn_stops_between_its_steps() {
    let harness = Harness::new().await;
    let tool = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(tool);
    set(&harness, limit("all", BudgetPeriod::Day, 13)).await;
    harness.model.will([call("double", &json!({ "x": 1 }))]);
    let report = harness.say(None, "twice").await;
    let problem = report.error.unwrap();
    assert_eq!(problem.code.name(), "BUDGET_EXHAUSTED");
    assert_eq!(
        problem.details["resets_at"],
        json!("2026-11-21T00:00:00.000Z")
    );
    assert_eq!(harness.model.seen().len(), 1);
}

#[tokio::test]
async fn turns_in_flight_exceed_a_budget_by_no_more_than_their_own_use() {
    for harness in harnesses().await {
        set(&harness, limit("all", BudgetPeriod::Day, 20)).await;
        let (open, gate) = watch::channel(false);
        harness
            .model
            .will((0..5).map(|_| Reaction::Gate(gate.clone())));
        let turns = (0..5).map(|n| harness.agents.send_sync(chat(None, &n.to_string())));
        let turns = futures_util::future::join_all(turns);
        let opening = async {
            harness.model.until(5).await;
            open.send_replace(true);
        };
        let (ended, ()) = tokio::join!(turns, opening);
        assert!(
            ended
                .iter()
                .all(|turn| turn.as_ref().unwrap().error.is_none())
        );
        refused(&harness, chat(None, "6")).await;
        assert_eq!(stats(&harness, UsageBy::Day).await[0].input_tokens, 50);
    }
}

#[tokio::test]
async fn a_budget_needs_a_known_scope_and_one_limit() {
    let harness = Harness::new().await;
    let new = |scope: &str, tokens, cost| NewBudget {
        scope: scope.to_owned(),
        period: BudgetPeriod::Day,
        tokens,
        cost,
    };
    for (budget, field) in [
        (new("everything", Some(1), None), "scope"),
        (new("agent:", Some(1), None), "scope"),
        (new("agent:a\nb", Some(1), None), "scope"),
        (new("all", None, None), "tokens"),
        (new("all", Some(1), Some(1.0)), "tokens"),
        (new("all", Some(0), None), "tokens"),
        (new("all", None, Some(0.0)), "cost"),
        (new("all", None, Some(f64::NAN)), "cost"),
        (new("all", None, Some(1e10)), "cost"),
    ] {
        let error = harness.agents.set_budget(budget).await.unwrap_err();
        assert_eq!(problem_of(error), ("INVALID_PARAMS", field.to_owned()));
    }
    assert!(
        harness
            .agents
            .list_budgets()
            .await
            .unwrap()
            .budgets
            .is_empty()
    );
}

/// Providers cache the beginning of a request if it equals the previous one.
#[tokio::test]
async fn a_request_begins_like_the_previous_request() {
    let harness = Harness::new().await;
    for name in ["b", "a"] {
        let tool = TestTool::double(name, Audience::Public);
        harness.agents.tools().register(tool);
    }
    let session = harness.say(None, "1").await.session;
    harness
        .clock
        .set_wall(Timestamp::from_millis(START.as_millis() + 1000));
    harness.say(Some(session.as_str()), "2").await;
    let [first, second] = &harness.model.seen()[..] else {
        panic!("two requests")
    };
    assert_eq!(first["tools"].to_string(), second["tools"].to_string());
    let before = first["messages"].as_array().unwrap();
    let after = second["messages"].as_array().unwrap();
    assert_eq!(before[..], after[..before.len()]);
}

#[tokio::test]
async fn the_budget_of_an_agent_is_the_budget_of_its_scope() {
    for harness in harnesses().await {
        let agents = &harness.agents;
        let scopes = async || {
            let listed = agents.list_budgets().await.unwrap().budgets;
            let name = |budget: Budget| (budget.scope, budget.tokens.unwrap());
            listed.into_iter().map(name).collect::<Vec<_>>()
        };
        let own = |tokens| AgentBudget {
            period: BudgetPeriod::Day,
            tokens: Some(tokens),
            cost: None,
        };
        let new = NewAgent {
            name: "Scout".to_owned(),
            budget: Some(own(13)),
            ..NewAgent::default()
        };
        let made = agents.create_agent(new).await.unwrap();
        assert_eq!(made.budget, Some(own(13)));
        assert_eq!(scopes().await, [("agent:scout".to_owned(), 13)]);
        // The budget limits only this agent.
        let ask = || SendRequest {
            agent: Some("scout".to_owned()),
            ..chat(None, "hello")
        };
        agents.send_sync(ask()).await.unwrap();
        assert_eq!(refused(&harness, ask()).await.0, "BUDGET_EXHAUSTED");
        harness.say(None, "once").await;
        // A budget that was set by its scope is shown with the agent.
        set(&harness, limit("agent:scout", BudgetPeriod::Day, 40)).await;
        assert_eq!(
            agents.get_agent("scout").await.unwrap().budget,
            Some(own(40))
        );
        let listed = agents.list_agents().await.unwrap();
        let shown: Vec<_> = listed.into_iter().map(|agent| agent.budget).collect();
        assert_eq!(shown, [None, Some(own(40))]);
        agents.send_sync(ask()).await.unwrap();
        // Another change of the agent keeps the budget.
        let changed = |budget| AgentChanges {
            id: "scout".to_owned(),
            name: Some("Spy".to_owned()),
            budget,
            ..AgentChanges::default()
        };
        let kept = agents.update_agent(changed(None)).await.unwrap();
        assert_eq!(kept.budget, Some(own(40)));
        let wrong = agents.update_agent(changed(Some(Some(own(0))))).await;
        assert_eq!(problem_of(wrong.unwrap_err()).1, "tokens");
        assert_eq!(scopes().await, [("agent:scout".to_owned(), 40)]);
        set(&harness, limit("agent:scout", BudgetPeriod::Month, 900)).await;
        let none = agents.update_agent(changed(Some(None))).await.unwrap();
        assert_eq!((none.budget, scopes().await), (None, Vec::new()));
        // The budget ends with its agent.
        agents
            .update_agent(changed(Some(Some(own(7)))))
            .await
            .unwrap();
        agents.delete_agent("scout").await.unwrap();
        assert!(scopes().await.is_empty());
    }
}
