//! Conversations that exceed their model's context window.

use crate::fake_model::{Reaction, call, say, too_long};
use crate::harness::{Harness, TestTool, chat, harnesses, problem_of};
use gatehouse_agents::Audience;
use serde_json::{Value, json};

/// Starts a session with this many turns; returns its ID and the number of requests so far.
async fn talk(harness: &Harness, turns: usize) -> (String, usize) {
    let first = harness
        .say(None, &format!("question 0 {}", "x".repeat(2000)))
        .await;
    for n in 1..turns {
        let text = format!("question {n} {}", "x".repeat(2000));
        harness.say(Some(first.session.as_str()), &text).await;
    }
    (first.session.to_string(), turns)
}

fn all(messages: &[Value]) -> String {
    messages
        .iter()
        .map(|m| m["content"].as_str().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn what_does_not_fit_becomes_a_summary_that_is_kept() {
    for harness in harnesses().await {
        let (session, before) = talk(&harness, 6).await;
        harness
            .model
            .will([too_long(), say("They asked about tea."), say("Here.")]);
        let report = harness.say(Some(&session), "and now").await;
        assert!(report.error.is_none(), "{:?}", report.error);
        assert_eq!(report.text, "Here.");
        // The tokens of the summary count.
        assert_eq!(report.usage.input_tokens, 20);

        let asked = all(&harness.model.messages(before + 1));
        assert!(
            asked.contains("question 0") && !asked.contains("and now"),
            "{asked}"
        );
        assert_eq!(harness.model.offered(before + 1).len(), 0);
        let sent = all(&harness.model.messages(before + 2));
        assert!(
            sent.contains("They asked about tea.") && sent.contains("and now"),
            "{sent}"
        );
        assert!(!sent.contains("question 0"), "{sent}");
        // The stored history stays complete.
        assert_eq!(harness.spoken(&session).await.len(), 14);

        // The next turn uses the summary, even after a restart.
        let harness = harness.restart().await;
        harness.say(Some(&session), "more").await;
        let seen = harness.model.seen();
        assert_eq!(seen.len(), 1);
        let sent = all(&harness.model.messages(0));
        assert!(
            sent.contains("They asked about tea.") && !sent.contains("question 0"),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn a_second_summary_knows_the_first() {
    let harness = Harness::new().await;
    let (session, before) = talk(&harness, 6).await;
    harness
        .model
        .will([too_long(), say("First summary."), say("Here.")]);
    harness.say(Some(&session), "and now").await;
    for n in 6..10 {
        harness
            .say(
                Some(&session),
                &format!("question {n} {}", "x".repeat(2000)),
            )
            .await;
    }
    harness
        .model
        .will([too_long(), say("Second summary."), say("Here.")]);
    harness.say(Some(&session), "and then").await;
    let asked = all(&harness.model.messages(before + 8));
    assert!(asked.contains("First summary."), "{asked}");
    let sent = all(&harness.model.messages(before + 9));
    assert!(
        sent.contains("Second summary.") && !sent.contains("First summary."),
        "{sent}"
    );
}

#[tokio::test]
async fn without_a_summary_older_messages_are_left_out_with_a_note() {
    let harness = Harness::new().await;
    let (session, before) = talk(&harness, 6).await;
    let refuse = Reaction::Refuse(400, json!({ "error": { "message": "no" } }));
    harness.model.will([too_long(), refuse, say("Here.")]);
    let report = harness.say(Some(&session), "and now").await;
    assert_eq!(report.text, "Here.");
    let sent = all(&harness.model.messages(before + 2));
    assert!(
        sent.contains("left out") && sent.contains("and now"),
        "{sent}"
    );
    assert!(!sent.contains("question 0"), "{sent}");
}

#[tokio::test]
async fn a_summary_that_is_too_long_to_ask_for_is_asked_for_shorter() {
    let harness = Harness::new().await;
    let (session, before) = talk(&harness, 6).await;
    harness
        .model
        .will([too_long(), too_long(), say("Tea."), say("Here.")]);
    let report = harness.say(Some(&session), "and now").await;
    assert_eq!(report.text, "Here.");
    let length = |n| all(&harness.model.messages(before + n)).len();
    assert!(length(2) < length(1), "{} {}", length(2), length(1));
}

#[tokio::test]
async fn the_newest_text_is_sent_as_long_as_it_fits_alone() {
    let harness = Harness::new().await;
    let (session, _) = talk(&harness, 4).await;
    // The model rejects every request as too long, including summaries, until one message is left.
    harness.model.will(vec![too_long(); 40]);
    let report = harness.say(Some(&session), "and now").await;
    let (code, text) = problem_of(report.error.unwrap());
    assert_eq!(code, "PROVIDER_FAILED");
    assert!(text.contains("too long"), "{text}");
    let seen = harness.model.seen();
    let last = seen.last().unwrap()["messages"].clone();
    assert_eq!(last[1], json!({ "role": "user", "content": "and now" }));
    assert_eq!(last.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn tool_output_is_shortened_before_anything_is_left_out() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::new("long", Audience::Public, |_, _| {
            Box::pin(async { Ok("y".repeat(60_000)) })
        }));
    harness
        .model
        .will([call("long", &json!({ "x": 1 })), say("read it")]);
    let first = harness.say(None, "read").await;
    harness.model.will([too_long(), say("Here.")]);
    let report = harness
        .say(Some(first.session.as_str()), "what did it say")
        .await;
    assert_eq!(report.text, "Here.");
    assert_eq!(harness.model.seen().len(), 4);
    let sent = all(&harness.model.messages(3));
    assert!(sent.contains("shortened") && sent.contains("read it"));
    assert!(sent.len() < 5_000, "{}", sent.len());
    let stored = harness.spoken(first.session.as_str()).await;
    assert_eq!(stored[2].1.len(), 60_000);
}

#[tokio::test]
async fn a_history_over_the_known_context_is_summarized_before_the_request() {
    let harness = Harness::new().await;
    let (session, before) = talk(&harness, 12).await;
    // The vendor documents 8,192 tokens for this model.
    let mut request = chat(Some(&session), "and now");
    request.model = Some("fake/gpt-4".to_owned());
    harness
        .model
        .will([say("They asked about tea."), say("Here.")]);
    let report = harness.agents.send_sync(request).await.unwrap();
    assert_eq!(report.text, "Here.");
    assert_eq!(harness.model.seen().len(), before + 2);
    let sent = all(&harness.model.messages(before + 1));
    assert!(sent.contains("They asked about tea.") && !sent.contains("question 0"));
    assert!(
        sent.contains("question 11") && sent.len() < 4 * 8192,
        "{}",
        sent.len()
    );
}
