//! The effects of changing or deleting a webhook.

use crate::requests::{
    accepted, code, create, open_webhook, post, post_from, rows, secret_of, update,
};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Actor, Clock, ErrorCode, Problem};
use gatehouse_store::testing::run_sql;
use gatehouse_webhooks::{Webhooks, WebhooksError};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_webhook_is_served_by_another_node_as_soon_as_it_exists() {
    everywhere(async |database, model| {
        let first = Harness::open(&database, &model).await;
        if !first.store.engine().is_shared() {
            return first.stop().await;
        }
        let second = Harness::open(&database.for_another_node(), &model).await;
        let made = create(&first, json!({ "name": "n", "auth_mode": "none" })).await;
        accepted(post(&second, &made.webhook, &[], "{}").await);

        // A client with unknown IDs causes at most 60 lookups per minute.
        for _ in 0..60 {
            let refused = post_from(&second, "192.0.2.66", "wh_unknown", &[], b"{}").await;
            assert_eq!(code(refused), ErrorCode::NotFound);
        }
        let other = create(&first, json!({ "name": "other", "auth_mode": "none" })).await;
        let other = &other.webhook.public_id;
        let refused = post_from(&second, "192.0.2.66", other, &[], b"{}").await;
        assert_eq!(code(refused), ErrorCode::NotFound);
        accepted(post_from(&second, "192.0.2.67", other, &[], b"{}").await);
        first.stop().await;
        second.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_change_of_another_node_is_read_as_soon_as_the_database_answers() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({})).await;
        accepted(post(&harness, &webhook, &[], "1").await);
        let change =
            "UPDATE webhooks SET enabled = 0; ALTER TABLE webhooks RENAME TO webhooks_away";
        run_sql(&database.location, change).await;
        drop(harness.webhooks.reload().await.unwrap_err());
        let back = "ALTER TABLE webhooks_away RENAME TO webhooks";
        tokio::join!(
            harness.webhooks.reload_with_retries(),
            run_sql(&database.location, back)
        );
        let refused = post(&harness, &webhook, &[], "2").await;
        assert_eq!(code(refused), ErrorCode::NotFound);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_edit_holds_for_the_next_delivery() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, json!({ "name": "n", "auth_mode": "none" })).await;
        assert!(made.warning.is_some() && made.secret.is_none());
        let webhook = made.webhook;
        accepted(post(&harness, &webhook, &[], r#"{"n":1}"#).await);
        let id = webhook.id.as_str();
        let changed = update(&harness, id, json!({ "enabled": false }))
            .await
            .unwrap();
        assert!(!changed.webhook.enabled && changed.warning.is_none());
        assert_eq!(
            code(post(&harness, &webhook, &[], r#"{"n":2}"#).await),
            ErrorCode::NotFound
        );
        drop(
            update(
                &harness,
                id,
                json!({ "enabled": true, "max_body_bytes": 7 }),
            )
            .await
            .unwrap(),
        );
        accepted(post(&harness, &webhook, &[], r#"{"n":3}"#).await);
        assert_eq!(
            code(post(&harness, &webhook, &[], r#"{"n":33}"#).await),
            ErrorCode::PayloadTooLarge
        );
        let shown = harness.webhooks.get(id).await.unwrap();
        assert_eq!(shown.delivery_count, 2);
        assert_eq!(shown.last_delivery_at, Some(harness.clock.now()));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_deleted_webhook_takes_its_deliveries_with_it() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let gone = create(&harness, json!({ "name": "gone", "auth_mode": "none" }))
            .await
            .webhook;
        let stays = create(&harness, json!({ "name": "stays", "auth_mode": "none" }))
            .await
            .webhook;
        for number in 0..20 {
            accepted(post(&harness, &gone, &[], &format!("{number}")).await);
        }
        let kept = accepted(post(&harness, &stays, &[], "1").await);
        let first = rows(&harness).await.pop().unwrap().id;
        harness
            .webhooks
            .delete(&Actor::cli(), gone.id.as_str())
            .await
            .unwrap();
        let missing = |error: WebhooksError| Problem::from(error).code;
        for id in [gone.id.as_str(), &gone.public_id] {
            let deleted = harness
                .webhooks
                .delete(&Actor::cli(), id)
                .await
                .unwrap_err();
            assert_eq!(missing(deleted), ErrorCode::NotFound);
            assert_eq!(
                missing(harness.webhooks.get(id).await.unwrap_err()),
                ErrorCode::NotFound
            );
        }
        assert_eq!(
            code(post(&harness, &gone, &[], "1").await),
            ErrorCode::NotFound
        );
        let seen: Vec<_> = rows(&harness).await.into_iter().map(|row| row.id).collect();
        assert_eq!(seen, [kept]);
        let error = harness.webhooks.delivery(first.as_str()).await.unwrap_err();
        assert_eq!(missing(error), ErrorCode::NotFound);
        harness.webhooks.purge().await.unwrap();
        let left = harness
            .store
            .read(|conn| Box::pin(async move { conn.find_delivery_config(first.as_str()).await }));
        assert_eq!(left.await.unwrap(), None, "the row itself is gone");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn one_node_removes_the_deliveries_of_deleted_webhooks_until_it_is_gone() {
    everywhere(async |database, model| {
        let first = Harness::open(&database, &model).await;
        let second = Harness::open(&database.for_another_node(), &model).await;
        let is_shared = first.store.engine().is_shared();
        let (one, two) = (Webhooks::removal_duty(), Webhooks::removal_duty());
        assert!(first.webhooks.purge_once(&one).await.unwrap());
        if is_shared {
            assert!(!second.webhooks.purge_once(&two).await.unwrap());
            second.clock.advance(Duration::from_mins(15));
            assert!(second.webhooks.purge_once(&two).await.unwrap());
            first.clock.advance(Duration::from_mins(15));
            assert!(!first.webhooks.purge_once(&one).await.unwrap());
        }
        first.stop().await;
        second.stop().await;
    })
    .await;
}

#[tokio::test]
async fn deliveries_are_removed_in_pieces_of_rows_and_of_bytes() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        let other = harness.webhook("b", json!({})).await;
        let sized = |n: u32, body_size: i64| gatehouse_store::NewDelivery {
            body_size,
            next_attempt_at: None,
            ..harness.delivery(n, &webhook, "s")
        };
        let counts = [100, 5, 5, 1, 4, 4, 3, 0, 0, 0, 0].into_iter().zip(1..);
        let mut new: Vec<_> = counts.map(|(size, n)| sized(n, size)).collect();
        new.push(harness.delivery(12, &other, "t"));
        harness.insert(new).await;
        let mut pieces = Vec::new();
        loop {
            // A batch ends after four rows or ten bytes.
            let removed = harness.write(|conn| {
                Box::pin(async move { conn.delete_removed_deliveries("hook_a", 4, 10).await })
            });
            match removed.await {
                0 => break,
                count => pieces.push(count),
            }
        }
        // The batches: one row larger than the limit; ten bytes; nine bytes, because the next row would exceed ten;
        // four rows; the rest.
        assert_eq!(pieces, [1, 2, 3, 4, 1]);
        assert!(harness.find(12).await.is_some(), "another webhook's stays");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn changes_are_in_the_audit_log_without_secrets() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(
            &harness,
            json!({ "name": "n", "secret": "very-secret-indeed" }),
        )
        .await;
        let id = made.webhook.id.as_str();
        let other = json!({ "secret": "another-secret-of-mine", "name": "m" });
        let changed = update(&harness, id, other).await.unwrap();
        assert!(changed.secret.is_none(), "the caller knows it");
        assert_eq!(changed.webhook.auth.secret_hint.as_deref(), Some("…mine"));
        drop(
            harness
                .webhooks
                .rotate_secret(&Actor::cli(), id, None, None)
                .await
                .unwrap(),
        );
        harness.webhooks.delete(&Actor::cli(), id).await.unwrap();
        let page = gatehouse_store::AuditPage {
            before_seq: i64::MAX,
            kind: None,
            limit: 100,
            ..gatehouse_store::AuditPage::default()
        };
        let read = harness
            .store
            .read(|conn| Box::pin(async move { conn.list_audit(&page).await }));
        let rows = read.await.unwrap();
        let kinds: Vec<_> = rows.iter().map(|row| row.kind.as_str()).collect();
        assert_eq!(
            kinds,
            [
                "webhook.deleted",
                "webhook.secret_rotated",
                "webhook.updated",
                "webhook.created"
            ]
        );
        for row in rows {
            assert!(!row.detail.contains("secret-"), "{}", row.detail);
            assert!(
                row.detail.contains(&made.webhook.public_id),
                "{}",
                row.detail
            );
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn another_mode_brings_a_secret_when_it_needs_another() {
    Box::pin(everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(
            &harness,
            json!({ "name": "n", "secret": "kept-secret-0123456" }),
        )
        .await;
        let id = made.webhook.id.as_str();
        let bearer = update(&harness, id, json!({ "auth_mode": "bearer" }))
            .await
            .unwrap();
        assert!(bearer.secret.is_none(), "the old one can stay");
        let headers = [("authorization", "Bearer kept-secret-0123456")];
        accepted(post(&harness, &bearer.webhook, &headers, "1").await);
        let standard = json!({ "auth_mode": "standard_webhooks" });
        let standard = update(&harness, id, standard).await.unwrap();
        assert!(secret_of(&standard).starts_with("whsec_"));
        let lost = json!({ "auth_mode": "none", "secret": "abc" });
        let lost = update(&harness, id, lost).await.unwrap_err();
        assert_eq!(Problem::from(lost).details["field"], "secret");
        let none = update(&harness, id, json!({ "auth_mode": "none" }))
            .await
            .unwrap();
        assert!(none.warning.is_some() && none.secret.is_none());
        assert_eq!(none.webhook.auth.secret_hint, None);
        let back = update(&harness, id, json!({ "auth_mode": "bearer" }))
            .await
            .unwrap();
        assert!(back.secret.is_some(), "none of the old ones came back");
        let cleared = update(&harness, id, json!({ "secret": null }))
            .await
            .unwrap_err();
        assert_eq!(Problem::from(cleared).details["field"], "secret");
        harness.stop().await;
    }))
    .await;
}
