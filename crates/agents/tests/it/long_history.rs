//! Pages of long messages, and the search for answers in a long conversation.

use crate::fake_model::say;
use crate::harness::{Harness, chat, webhook};
use gatehouse_agents::AgentsSettings;

#[tokio::test]
async fn a_page_of_long_messages_ends_after_8_mib_and_the_next_one_continues() {
    let harness = Harness::with(AgentsSettings::default()).await;
    let long = "x".repeat(1 << 20);
    let mut session = None;
    for _ in 0..9 {
        harness.model.will([say("yes")]);
        let report = harness
            .agents
            .send_sync(chat(session.as_deref(), &long))
            .await;
        session = Some(report.unwrap().session.to_string());
    }
    let session = session.unwrap();
    let first = harness.agents.history(&session, 500, None).await.unwrap();
    let bytes = |page: &gatehouse_agents::HistoryPage| -> usize {
        page.messages.iter().map(|m| m.content.len()).sum()
    };
    assert!(
        (7 << 20..=8 << 20).contains(&bytes(&first)),
        "{}",
        bytes(&first)
    );
    let before = first.next_cursor.clone();
    let rest = harness
        .agents
        .history(&session, 500, before.as_deref())
        .await
        .unwrap();
    assert_eq!(first.messages.len() + rest.messages.len(), 18);
    assert_eq!(rest.next_cursor, None);
}

#[tokio::test]
async fn an_answer_is_found_among_the_newest_200_messages() {
    let harness = Harness::with(AgentsSettings::default()).await;
    let turn = async |answer: &str| {
        harness.model.will([say(answer)]);
        let sent = harness.agents.send_sync(webhook("k", "question", None));
        sent.await.unwrap();
    };
    let is_found = async |text: &str| harness.agents.has_answered("k", text).await.unwrap();
    assert!(!is_found("first").await, "there is no session");
    turn("The *first* one, [here](https://a.example).").await;
    for text in [
        "The first one, here",
        "first  ONE?".to_lowercase().as_str(),
        "first",
    ] {
        assert!(is_found(text).await, "{text}");
    }
    // Neither the texts of other authors nor texts without letters count as answers.
    for text in ["question", "second", "…", ""] {
        assert!(!is_found(text).await, "{text}");
    }
    for _ in 1..100 {
        turn("yes").await;
    }
    assert!(is_found("first one").await, "200 messages");
    turn("yes").await;
    assert!(!is_found("first one").await);
    assert!(is_found("yes").await);
}
