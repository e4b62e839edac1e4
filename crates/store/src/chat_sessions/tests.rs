//! Tests of the parent module.

use super::PIECE_MESSAGES;
use super::lists::list;
use crate::testing::{databases, run_sql};
use crate::{Engine, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;

#[tokio::test]
async fn idle_sessions_are_deleted_in_pieces_of_messages() {
    for database in databases().await {
        let store = database.open().await;
        for (id, messages) in [
            ("a", PIECE_MESSAGES + 1),
            ("b", PIECE_MESSAGES - 1),
            ("c", 1),
            ("d", 1),
        ] {
            let sql = format!(
                "INSERT INTO chat_sessions (id, key, label, agent_id, source, message_count,
                         created_at, updated_at)
                     VALUES ('{id}', '{id}', '', '', 'user', {messages}, 1, 1)"
            );
            run_sql(&database.location, &sql).await;
        }
        let mut deleted = Vec::new();
        for _ in 0..4 {
            let write = store.write(|conn| {
                Box::pin(async move {
                    let now = Timestamp::from_millis(2);
                    let ids = conn.delete_idle_chat_sessions(now, 16).await?;
                    let ids: Vec<_> = ids.iter().map(SessionId::to_string).collect();
                    Ok::<_, StoreError>(ids)
                })
            });
            deleted.push(write.await.unwrap().join(" "));
        }
        assert_eq!(deleted, ["a", "b c", "d", ""]);
        store.close().await;
    }
}

#[tokio::test]
async fn a_period_of_sessions_is_a_range_of_the_index() {
    let database = crate::testing::sqlite();
    let store = database.open().await;
    // Replaces the highest number first: `$1` is also the beginning of `$10`.
    let sql = (1..=13).rev().fold(list(Engine::Sqlite), |sql, at| {
        sql.replace(&format!("${at}"), "1")
    });
    let plan = crate::plan::plan_of(&store, &sql).await;
    let range = "chat_sessions_by_update (updated_at>? AND updated_at<?)";
    assert!(plan.contains(range), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    store.close().await;
}
