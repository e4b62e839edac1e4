//! Pages of long messages.

use crate::fake_model::say;
use crate::harness::{Harness, chat};
use gatehouse_agents::AgentsSettings;

#[tokio::test]
async fn a_page_of_long_messages_ends_after_8_mib_and_the_next_goes_on() {
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
