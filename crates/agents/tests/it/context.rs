//! Conversations that exceed their model's context window.

use crate::fake_model::{Act, call, say, too_long};
use crate::harness::{House, TestTool, chat, houses, told};
use gatehouse_agents::Audience;
use serde_json::{Value, json};

/// Starts a session with this many turns; returns its id and the number of requests so far.
async fn talk(house: &House, turns: usize) -> (String, usize) {
    let first = house
        .say(None, &format!("question 0 {}", "x".repeat(2000)))
        .await;
    for n in 1..turns {
        let text = format!("question {n} {}", "x".repeat(2000));
        house.say(Some(first.session.as_str()), &text).await;
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
    for house in houses().await {
        let (session, before) = talk(&house, 6).await;
        house
            .model
            .will([too_long(), say("They asked about tea."), say("Here.")]);
        let report = house.say(Some(&session), "and now").await;
        assert!(report.error.is_none(), "{:?}", report.error);
        assert_eq!(report.text, "Here.");
        // The tokens of the summary count.
        assert_eq!(report.usage.input_tokens, 20);

        let asked = all(&house.model.messages(before + 1));
        assert!(
            asked.contains("question 0") && !asked.contains("and now"),
            "{asked}"
        );
        assert_eq!(house.model.offered(before + 1).len(), 0);
        let sent = all(&house.model.messages(before + 2));
        assert!(
            sent.contains("They asked about tea.") && sent.contains("and now"),
            "{sent}"
        );
        assert!(!sent.contains("question 0"), "{sent}");
        // The stored history stays complete.
        assert_eq!(house.spoken(&session).await.len(), 14);

        // The next turn uses the summary, also after a restart.
        let house = house.restart().await;
        house.say(Some(&session), "more").await;
        let seen = house.model.seen();
        assert_eq!(seen.len(), 1);
        let sent = all(&house.model.messages(0));
        assert!(
            sent.contains("They asked about tea.") && !sent.contains("question 0"),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn a_second_summary_knows_the_first() {
    let house = House::new().await;
    let (session, before) = talk(&house, 6).await;
    house
        .model
        .will([too_long(), say("First summary."), say("Here.")]);
    house.say(Some(&session), "and now").await;
    for n in 6..10 {
        house
            .say(
                Some(&session),
                &format!("question {n} {}", "x".repeat(2000)),
            )
            .await;
    }
    house
        .model
        .will([too_long(), say("Second summary."), say("Here.")]);
    house.say(Some(&session), "and then").await;
    let asked = all(&house.model.messages(before + 8));
    assert!(asked.contains("First summary."), "{asked}");
    let sent = all(&house.model.messages(before + 9));
    assert!(
        sent.contains("Second summary.") && !sent.contains("First summary."),
        "{sent}"
    );
}

#[tokio::test]
async fn without_a_summary_older_messages_are_left_out_with_a_note() {
    let house = House::new().await;
    let (session, before) = talk(&house, 6).await;
    let refuse = Act::Refuse(400, json!({ "error": { "message": "no" } }));
    house.model.will([too_long(), refuse, say("Here.")]);
    let report = house.say(Some(&session), "and now").await;
    assert_eq!(report.text, "Here.");
    let sent = all(&house.model.messages(before + 2));
    assert!(
        sent.contains("left out") && sent.contains("and now"),
        "{sent}"
    );
    assert!(!sent.contains("question 0"), "{sent}");
}

#[tokio::test]
async fn a_summary_that_is_too_long_to_ask_for_is_asked_for_shorter() {
    let house = House::new().await;
    let (session, before) = talk(&house, 6).await;
    house
        .model
        .will([too_long(), too_long(), say("Tea."), say("Here.")]);
    let report = house.say(Some(&session), "and now").await;
    assert_eq!(report.text, "Here.");
    let length = |n| all(&house.model.messages(before + n)).len();
    assert!(length(2) < length(1), "{} {}", length(2), length(1));
}

#[tokio::test]
async fn the_newest_text_is_sent_as_long_as_it_fits_alone() {
    let house = House::new().await;
    let (session, _) = talk(&house, 4).await;
    // The model rejects everything as too long, summaries included, until one message is left.
    house.model.will(vec![too_long(); 40]);
    let report = house.say(Some(&session), "and now").await;
    let (code, text) = told(report.error.unwrap());
    assert_eq!(code, "PROVIDER_FAILED");
    assert!(text.contains("too long"), "{text}");
    let seen = house.model.seen();
    let last = seen.last().unwrap()["messages"].clone();
    assert_eq!(last[1], json!({ "role": "user", "content": "and now" }));
    assert_eq!(last.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn tool_output_is_shortened_before_anything_is_left_out() {
    let house = House::new().await;
    house
        .agents
        .tools()
        .register(TestTool::new("long", Audience::Public, |_, _| {
            Box::pin(async { Ok("y".repeat(60_000)) })
        }));
    house
        .model
        .will([call("long", &json!({ "x": 1 })), say("read it")]);
    let first = house.say(None, "read").await;
    house.model.will([too_long(), say("Here.")]);
    let report = house
        .say(Some(first.session.as_str()), "what did it say")
        .await;
    assert_eq!(report.text, "Here.");
    assert_eq!(house.model.seen().len(), 4);
    let sent = all(&house.model.messages(3));
    assert!(sent.contains("shortened") && sent.contains("read it"));
    assert!(sent.len() < 5_000, "{}", sent.len());
    let stored = house.spoken(first.session.as_str()).await;
    assert_eq!(stored[2].1.len(), 60_000);
}

#[tokio::test]
async fn a_model_whose_context_is_known_is_not_asked_in_vain() {
    let house = House::new().await;
    let (session, before) = talk(&house, 12).await;
    // The vendor documents 8,192 tokens for this model.
    let mut request = chat(Some(&session), "and now");
    request.model = Some("fake/gpt-4".to_owned());
    house
        .model
        .will([say("They asked about tea."), say("Here.")]);
    let report = house.agents.send_sync(request).await.unwrap();
    assert_eq!(report.text, "Here.");
    assert_eq!(house.model.seen().len(), before + 2);
    let sent = all(&house.model.messages(before + 1));
    assert!(sent.contains("They asked about tea.") && !sent.contains("question 0"));
    assert!(
        sent.contains("question 11") && sent.len() < 4 * 8192,
        "{}",
        sent.len()
    );
}
