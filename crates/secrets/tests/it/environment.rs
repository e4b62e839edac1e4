//! Environment variables.

use crate::harness::{actor, code, homes, secret};
use gatehouse_domain::ErrorCode::{InvalidParams, NotFound};
use gatehouse_domain::Problem;
use gatehouse_secrets::MAX_VALUE_BYTES;
use std::time::Duration;

#[tokio::test]
async fn set_list_and_delete() {
    for home in homes().await {
        let node = home.start().await;
        node.initialize().await;
        let first = node
            .secrets
            .set_env_variable(actor(), "B", secret("one"))
            .await
            .unwrap();
        node.clock.advance(Duration::from_secs(1));
        let again = node
            .secrets
            .set_env_variable(actor(), "B", secret("two"))
            .await
            .unwrap();
        assert_eq!(again.created_at, first.created_at);
        assert_ne!(again.updated_at, first.updated_at);
        node.set("A", "").await;
        let list = node.secrets.list_env_variables().await.unwrap();
        assert_eq!(
            list.iter().map(|v| v.key.as_str()).collect::<Vec<_>>(),
            ["A", "B"]
        );
        assert_eq!(
            node.values().await,
            [
                ("A".to_owned(), String::new()),
                ("B".to_owned(), "two".to_owned())
            ]
        );
        node.secrets
            .delete_env_variable(actor(), "B")
            .await
            .unwrap();
        let gone = node.secrets.delete_env_variable(actor(), "B").await;
        assert_eq!(code(gone), NotFound);
        assert_eq!(
            node.audit().await,
            [
                "vault.initialized",
                "env.set",
                "env.set",
                "env.set",
                "env.deleted"
            ]
        );
    }
}

#[tokio::test]
async fn limits_are_those_of_the_room() {
    for home in homes().await {
        let node = home.start().await;
        node.initialize().await;
        let longest = "v".repeat(MAX_VALUE_BYTES);
        node.set("A", &longest).await;
        assert_eq!(node.value("A").await, longest);
        for (key, value, field) in [
            ("A", "v".repeat(MAX_VALUE_BYTES + 1), "value"),
            ("A", "\0".to_owned(), "value"),
            ("PATH", "v".to_owned(), "key"),
            ("A-B", "v".to_owned(), "key"),
        ] {
            let refused = node
                .secrets
                .set_env_variable(actor(), key, secret(&value))
                .await;
            let problem: Problem = refused.unwrap_err().into();
            assert_eq!(problem.code, InvalidParams);
            assert_eq!(problem.details["field"], field);
        }
    }
}

#[tokio::test]
async fn json_has_the_flag_as_a_number_and_no_value() {
    for home in homes().await {
        let node = home.start().await;
        let item = node
            .secrets
            .set_env_variable(actor(), "A", secret("hidden"))
            .await
            .unwrap();
        assert_eq!(
            serde_json::to_value(&item).unwrap(),
            serde_json::json!({ "key": "A", "encrypted": 0,
                "created_at": "1970-01-01T00:16:40.000Z", "updated_at": "1970-01-01T00:16:40.000Z" })
        );
        let shown = format!("{:?}", node.secrets.environment().await.unwrap());
        assert!(!shown.contains("hidden"));
    }
}
