//! The public content of a share link.

use crate::fake_model::{Reaction, say};
use crate::harness::{Harness, TestTool, harnesses, problem_of, webhook};
use gatehouse_agents::{Audience, Role, SharedSession};
use gatehouse_domain::Actor;
use gatehouse_store::{AuditPage, AuditRow, StoreError};
use serde_json::json;
use std::time::Duration;

async fn shown(harness: &Harness, id: &str) -> Option<SharedSession> {
    harness.agents.shared_session(id).await.unwrap()
}

fn texts(shared: &SharedSession) -> Vec<(Role, Option<&str>)> {
    let messages = shared.messages.iter();
    messages
        .map(|message| (message.role, message.text.as_deref()))
        .collect()
}

async fn audited(harness: &Harness) -> Vec<AuditRow> {
    let page = AuditPage {
        before_seq: i64::MAX,
        kind: None,
        limit: 10,
        ..gatehouse_store::AuditPage::default()
    };
    let read = harness
        .store
        .read(|conn| Box::pin(async move { conn.list_audit(&page).await }));
    let mut rows = Result::<_, StoreError>::unwrap(read.await);
    rows.reverse();
    rows
}

#[tokio::test]
async fn a_share_is_what_was_said_until_then() {
    for harness in harnesses().await {
        harness
            .agents
            .tools()
            .register(TestTool::double("double", Audience::Public));
        let calls = vec![("double".to_owned(), json!({ "x": 21 }).to_string())];
        harness
            .model
            .will([Reaction::Call(String::new(), calls), say("It is 42.")]);
        let report = harness.say(None, "Double 21").await;
        let session = report.session.as_str();
        let share = harness
            .agents
            .share_session(&Actor::cli(), session)
            .await
            .unwrap();
        assert_eq!(share.id.len(), 22);
        let record = harness.agents.get_session(session).await.unwrap();
        assert_eq!(record.share_id.as_ref(), Some(&share.id));

        harness.say(Some(session), "a secret").await;
        harness
            .agents
            .rename_session(session, "another name")
            .await
            .unwrap();
        let shared = shown(&harness, &share.id).await.unwrap();
        // Shares contain neither calls nor tool output.
        let expected = [
            (Role::User, Some("Double 21")),
            (Role::Assistant, Some("It is 42.")),
        ];
        assert_eq!(texts(&shared), expected);
        assert_eq!((shared.title.as_str(), shared.is_cut), ("Double 21", false));

        // Sharing again keeps the link and updates the time.
        harness.clock.advance(Duration::from_secs(5));
        let again = harness
            .agents
            .share_session(&Actor::cli(), session)
            .await
            .unwrap();
        assert_eq!(again, share);
        let newer = shown(&harness, &share.id).await.unwrap();
        assert_eq!(
            (newer.messages.len(), newer.title.as_str()),
            (4, "another name")
        );
        assert!(newer.shared_at > shared.shared_at);
    }
}

#[tokio::test]
async fn a_share_that_is_revoked_is_like_one_that_never_was() {
    for harness in harnesses().await {
        let report = harness.say(None, "hello").await;
        let (session, actor) = (report.session.as_str(), Actor::cli());
        let first = harness.agents.share_session(&actor, session).await.unwrap();
        harness
            .agents
            .unshare_session(&actor, session)
            .await
            .unwrap();
        for id in [first.id.as_str(), "", "unknown", "\0", &"x".repeat(10_000)] {
            assert_eq!(shown(&harness, id).await, None);
        }
        let refused = harness
            .agents
            .unshare_session(&actor, session)
            .await
            .unwrap_err();
        assert_eq!(problem_of(refused).0, "NOT_FOUND");
        let second = harness.agents.share_session(&actor, session).await.unwrap();
        assert_ne!(first, second);
        assert_eq!(shown(&harness, &first.id).await, None);
        harness.agents.delete_session(session).await.unwrap();
        assert_eq!(shown(&harness, &second.id).await, None);
        let refused = harness
            .agents
            .share_session(&actor, session)
            .await
            .unwrap_err();
        assert_eq!(problem_of(refused).0, "NOT_FOUND");

        let rows = audited(&harness).await;
        let kinds: Vec<_> = rows.iter().map(|row| row.kind.as_str()).collect();
        assert_eq!(
            kinds,
            ["session.shared", "session.unshared", "session.shared"]
        );
        for row in rows {
            assert!(row.detail.contains(session) && !row.detail.contains(&first.id));
        }
    }
}

#[tokio::test]
async fn what_a_webhook_wrote_is_not_shown() {
    let harness = Harness::new().await;
    let request = webhook("webhook:a", "card number 4111", None);
    let report = harness.agents.send_sync(request).await.unwrap();
    harness.say(Some("webhook:a"), "thanks").await;
    let share = harness
        .agents
        .share_session(&Actor::cli(), report.session.as_str())
        .await
        .unwrap();
    let shared = shown(&harness, &share.id).await.unwrap();
    assert_eq!(shared.messages[0].text, None);
    assert_eq!(texts(&shared)[2], (Role::User, Some("thanks")));
}
