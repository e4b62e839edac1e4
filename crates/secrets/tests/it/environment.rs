//! Environment variables.

use crate::harness::{actor, code, installations, secret};
use gatehouse_domain::ErrorCode::{InvalidParams, NotFound};
use gatehouse_domain::{KeyBinding, Problem};
use gatehouse_secrets::{KeyOfService, MAX_VALUE_BYTES, SecretsError};
use secrecy::ExposeSecret;
use std::time::Duration;
use url::Url;

#[tokio::test]
async fn set_list_and_delete() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        let first = node
            .secrets
            .set_env_variable(actor(), "B", secret("one"), None)
            .await
            .unwrap();
        node.clock.advance(Duration::from_secs(1));
        let again = node
            .secrets
            .set_env_variable(actor(), "B", secret("two"), None)
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
async fn limits_are_those_of_the_crate() {
    for installation in installations().await {
        let node = installation.start().await;
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
                .set_env_variable(actor(), key, secret(&value), None)
                .await;
            let problem: Problem = refused.unwrap_err().into();
            assert_eq!(problem.code, InvalidParams);
            assert_eq!(problem.details["field"], field);
        }
    }
}

#[tokio::test]
async fn json_has_the_flag_as_a_number_and_no_value() {
    for installation in installations().await {
        let node = installation.start().await;
        let item = node
            .secrets
            .set_env_variable(actor(), "A", secret("hidden"), None)
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

/// A variable that contains a key for a service, such as the token of an MCP server.
#[tokio::test]
async fn a_key_belongs_to_the_service_that_it_was_entered_for() {
    for installation in installations().await {
        let node = installation.start().await;
        let service = |url: &str| KeyBinding::of_url("mcp", &Url::parse(url).unwrap());
        let (own, other) = (
            service("https://a.example/mcp"),
            service("https://b.example/mcp"),
        );
        let asked = async |service: &KeyBinding| {
            let found = node.secrets.key_of_service("TOKEN", service).await.unwrap();
            match found {
                KeyOfService::Key(key) => key.expose_secret().to_owned(),
                KeyOfService::Absent => "absent".to_owned(),
                KeyOfService::Elsewhere(origin) => format!("of {origin}"),
            }
        };
        assert_eq!(asked(&own).await, "absent");
        // The variable was set before any service was configured, so it is bound to the first service that requests
        // it.
        node.set("TOKEN", "one").await;
        assert_eq!(asked(&own).await, "one");
        assert_eq!(asked(&other).await, "of https://a.example:443");
        let other_kind = KeyBinding::of_url("brave", &Url::parse("https://a.example").unwrap());
        assert_eq!(asked(&other_kind).await, "of https://a.example:443");
        // Encryption does not change the binding.
        node.initialize().await;
        assert_eq!(asked(&other).await, "of https://a.example:443");
        assert_eq!(asked(&own).await, "one");
        // The variable was entered for another service, so it is bound to that service.
        let set = node
            .secrets
            .set_env_variable(actor(), "TOKEN", secret("two"), Some(&other));
        set.await.unwrap();
        assert_eq!(asked(&own).await, "of https://b.example:443");
        assert_eq!(asked(&other).await, "two");
        node.secrets.seal(actor()).await.unwrap();
        let sealed = node.secrets.key_of_service("TOKEN", &other).await;
        assert!(matches!(sealed, Err(SecretsError::Sealed)), "{sealed:?}");
        assert_eq!(asked(&own).await, "of https://b.example:443");
    }
}
