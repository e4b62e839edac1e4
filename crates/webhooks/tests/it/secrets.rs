//! Tests for webhook secrets and the vault.

use crate::requests::{accepted, code, create, input, post, secret_of};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Actor, ErrorCode, Problem};
use gatehouse_store::testing::run_sql;
use serde_json::json;

#[tokio::test]
async fn while_sealed_nothing_with_a_secret_is_written_and_all_is_shown() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        harness.initialize_vault().await;
        let made = create(&harness, json!({ "name": "n" })).await;
        let id = made.webhook.id.as_str();
        harness.seal().await;
        let webhooks = &harness.webhooks;
        let actor = Actor::cli();
        let sealed = |error| assert_eq!(Problem::from(error).code, ErrorCode::VaultSealed);
        sealed(
            webhooks
                .create(&actor, input(json!({ "name": "m" })))
                .await
                .unwrap_err(),
        );
        sealed(
            webhooks
                .rotate_secret(&actor, id, None, None)
                .await
                .unwrap_err(),
        );
        sealed(
            webhooks
                .update(&actor, id, input(json!({ "secret": "x" })))
                .await
                .unwrap_err(),
        );
        sealed(webhooks.test(&actor, id, None).await.unwrap_err());
        let renamed = webhooks
            .update(&actor, id, input(json!({ "name": "m" })))
            .await
            .unwrap();
        assert_eq!(renamed.webhook.name, "m");
        assert!(renamed.webhook.auth.configured);
        assert_eq!(webhooks.list(50, None).await.unwrap().webhooks.len(), 1);
        drop(create(&harness, json!({ "name": "open", "auth_mode": "none" })).await);
        harness.unseal().await;
        let secret = secret_of(&made);
        accepted(
            post(
                &harness,
                &made.webhook,
                &[("x-webhook-secret", &secret)],
                "1",
            )
            .await,
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_secret_is_encrypted_names_its_webhook_and_follows_the_vault() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let before = create(
            &harness,
            json!({ "name": "a", "secret": "before-the-vault" }),
        )
        .await
        .webhook;
        harness.initialize_vault().await;
        let after = create(&harness, json!({ "name": "b", "secret": "with-the-vault" }))
            .await
            .webhook;
        let rows = harness
            .store
            .read(|conn| Box::pin(async move { conn.list_webhook_secrets().await }));
        for row in rows.await.unwrap() {
            assert!(row.encrypted && !row.value.contains("the-vault"));
        }
        let works = async |secret: &str, webhook, body: &str| {
            accepted(post(&harness, webhook, &[("x-webhook-secret", secret)], body).await);
        };
        works("before-the-vault", &before, "1").await;
        works("with-the-vault", &after, "1").await;
        // An attacker with access to the database assigns one webhook's secret to another webhook.
        let swap = format!(
            "UPDATE webhook_secrets SET value = (SELECT value FROM webhook_secrets
                 WHERE webhook_id = '{}') WHERE webhook_id = '{}'",
            before.id, after.id
        );
        run_sql(&database.location, &swap).await;
        harness.webhooks.reload().await.unwrap();
        let fooled = post(
            &harness,
            &after,
            &[("x-webhook-secret", "before-the-vault")],
            "2",
        )
        .await;
        assert_eq!(code(fooled), ErrorCode::InvalidCredentials);
        // The webhook works again after its secret is rotated.
        let (actor, id) = (Actor::cli(), after.id.as_str());
        drop(
            harness
                .webhooks
                .rotate_secret(&actor, id, None, None)
                .await
                .unwrap(),
        );
        works("before-the-vault", &before, "3").await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_secret_in_a_header_that_the_profile_reads_is_not_kept() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let secret = "a-secret-that-nobody-reads";
        for (number, header) in ["X-Event-Type", "X-Delivery-Id", "X-Own"]
            .iter()
            .enumerate()
        {
            let made = create(&harness, json!({ "name": "n", "secret": secret })).await;
            // The form in which an earlier version stored the webhook.
            let mut config: serde_json::Value = json!({
                "auth": { "mode": "static_header", "header": header },
                "source_profile": "generic", "rate_limit_per_minute": 60, "max_body_bytes": 1000,
            });
            config["event_header"] = json!("X-Own");
            let change = format!(
                "UPDATE webhooks SET config = '{config}' WHERE id = '{}'",
                made.webhook.id
            );
            run_sql(&database.location, &change).await;
            harness.webhooks.reload().await.unwrap();
            for body in ["1", "2"] {
                accepted(post(&harness, &made.webhook, &[(header, secret)], body).await);
            }
            let wrong = [(*header, "wrong")];
            let refused = post(&harness, &made.webhook, &wrong, "3").await;
            assert_eq!(code(refused), ErrorCode::InvalidCredentials);
            for row in crate::requests::until_rows(&harness, 3 * (number + 1)).await {
                assert_eq!(row.event_type, None, "{header}");
                assert!(!format!("{row:?}").contains(secret), "{header}: {row:?}");
            }
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn another_node_sees_a_change_when_it_reloads() {
    everywhere(async |database, model| {
        let one = Harness::open(&database, &model).await;
        let two = Harness::open(&database, &model).await;
        let made = create(&one, json!({ "name": "n", "auth_mode": "none" }))
            .await
            .webhook;
        let changes = one
            .store
            .read(|conn| Box::pin(async move { conn.list_changes(0).await }));
        assert!(
            changes
                .await
                .unwrap()
                .iter()
                .any(|change| change.subject == "webhooks")
        );
        two.webhooks.reload().await.unwrap();
        accepted(post(&two, &made, &[], "1").await);
        one.webhooks
            .delete(&Actor::cli(), made.id.as_str())
            .await
            .unwrap();
        two.webhooks.reload().await.unwrap();
        assert_eq!(code(post(&two, &made, &[], "2").await), ErrorCode::NotFound);
        one.stop().await;
        two.stop().await;
    })
    .await;
}
