//! Tests where the payload, preview and configuration of a delivery are stored, on every available engine.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::{DeliveryId, WebhookId};
use gatehouse_store::testing::rows::{at, queued_delivery};
use gatehouse_store::testing::{TestDatabase, databases, run_sql};
use gatehouse_store::{
    ClaimRequest, DeliveryConfig, DeliveryWork, NewDelivery, PREVIEW_BYTES, ReplayFilter, Store,
    StoreError, Take,
};

fn delivery(n: u32, payload: &str, config: &DeliveryConfig) -> NewDelivery {
    let preview = payload.get(..PREVIEW_BYTES).unwrap_or(payload);
    NewDelivery {
        unique_key: Some(n.to_string()),
        body_preview: preview.to_owned(),
        payload: Some(payload.to_owned()),
        config: Some(config.clone()),
        ..queued_delivery(n)
    }
}

async fn insert(store: &Store, new: Vec<NewDelivery>) -> Vec<bool> {
    store
        .write_arrivals(move |conn| Box::pin(async move { conn.insert_deliveries(&new).await }))
        .await
        .unwrap()
}

async fn payload(store: &Store, id: &DeliveryId) -> Option<String> {
    let id = id.clone();
    store
        .read(move |conn| Box::pin(async move { conn.find_delivery_payload(id.as_str()).await }))
        .await
        .unwrap()
}

async fn config(store: &Store, id: &DeliveryId) -> Option<String> {
    let id = id.clone();
    store
        .read(move |conn| Box::pin(async move { conn.find_delivery_config(id.as_str()).await }))
        .await
        .unwrap()
}

async fn claim(store: &Store) -> Vec<DeliveryWork> {
    let want = ClaimRequest {
        owner: "me".to_owned(),
        now: at(1000),
        lease_until: at(2000),
        takes: vec![Take {
            target: String::new(),
            webhook_id: WebhookId::from_text("hook_1"),
            limit: 10,
        }],
        paced: Vec::new(),
    };
    let claims = store
        .write_queue(move |conn| Box::pin(async move { conn.claim_deliveries(&want).await }))
        .await
        .unwrap();
    claims.claimed
}

/// Completes all deliveries, deletes those with the given IDs, and returns their number.
async fn remove(database: &TestDatabase, store: &Store, ids: Vec<DeliveryId>) -> u64 {
    let end = "UPDATE webhook_deliveries SET status = 'completed', lease_until = NULL";
    run_sql(&database.location, end).await;
    store
        .write(move |conn| Box::pin(async move { conn.delete_old_deliveries(&ids).await }))
        .await
        .unwrap()
}

async fn forget_configs(store: &Store, before: i64) -> u64 {
    store
        .write_queue(move |conn| {
            Box::pin(async move { conn.delete_unused_delivery_configs(at(before)).await })
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn a_payload_is_read_back_at_the_limit_of_the_row_and_one_past_it() {
    for database in databases().await {
        let store = database.open().await;
        let config = DeliveryConfig::from("{}");
        let texts = [1, PREVIEW_BYTES, PREVIEW_BYTES + 1, 1 << 20].map(|bytes| "x".repeat(bytes));
        let new: Vec<NewDelivery> = (1..)
            .zip(&texts)
            .map(|(n, text)| delivery(n, text, &config))
            .collect();
        insert(&store, new.clone()).await;
        let claimed = claim(&store).await;
        assert_eq!(claimed.len(), texts.len());
        for ((new, text), work) in new.iter().zip(&texts).zip(&claimed) {
            assert_eq!(payload(&store, &new.id).await.as_ref(), Some(text));
            assert_eq!(work.payload.as_ref(), Some(text));
            assert_eq!(work.config.as_deref(), Some("{}"));
            assert_eq!(work.row.body_preview, new.body_preview);
            assert_eq!(work.row.body_preview, new.to_row().body_preview);
        }
        // A preview that equals the payload may be left out.
        let short = NewDelivery {
            body_preview: String::new(),
            ..delivery(9, "[1]", &config)
        };
        assert_eq!(short.to_row().body_preview, "[1]");
        insert(&store, vec![short]).await;
        assert_eq!(claim(&store).await.remove(0).row.body_preview, "[1]");
        // Only payloads above the limit are stored outside their rows.
        run_sql(
            &database.location,
            "UPDATE delivery_payloads SET payload = 'apart'",
        )
        .await;
        let mut are_inline = Vec::new();
        for new in &new {
            are_inline.push(payload(&store, &new.id).await.as_deref() != Some("apart"));
        }
        assert_eq!(are_inline, [true, true, false, false]);
        store.close().await;
    }
}

#[tokio::test]
async fn a_payload_goes_with_its_delivery_and_is_not_stored_for_a_duplicate() {
    for database in databases().await {
        let store = database.open().await;
        let config = DeliveryConfig::from("{}");
        let first = delivery(1, &"x".repeat(PREVIEW_BYTES + 1), &config);
        let duplicate = NewDelivery {
            unique_key: first.unique_key.clone(),
            ..delivery(2, &"y".repeat(PREVIEW_BYTES + 1), &config)
        };
        assert_eq!(
            insert(&store, vec![first.clone(), duplicate]).await,
            [true, false]
        );
        let ids = vec![first.id.clone()];
        assert_eq!(remove(&database, &store, ids).await, 1);
        assert_eq!(payload(&store, &first.id).await, None);
        // If the payload of the deleted delivery remained, it would conflict with this one.
        assert_eq!(insert(&store, vec![first.clone()]).await, [true]);
        assert_eq!(payload(&store, &first.id).await, first.payload);
        store.close().await;
    }
}

#[tokio::test]
async fn a_replay_gets_the_payload_wherever_it_is() {
    for database in databases().await {
        let store = database.open().await;
        let config = DeliveryConfig::from("{}");
        let texts = ["{}".to_owned(), "x".repeat(PREVIEW_BYTES + 1)];
        insert(
            &store,
            (1..)
                .zip(&texts)
                .map(|(n, text)| delivery(n, text, &config))
                .collect(),
        )
        .await;
        let end = "UPDATE webhook_deliveries SET status = 'failed'";
        run_sql(&database.location, end).await;
        let found = store
            .read(|conn| {
                Box::pin(async move {
                    let all = ReplayFilter::default();
                    conn.list_replayable_deliveries(&all, "", "dem", 10, 1 << 20)
                        .await
                })
            })
            .await;
        let found: Result<Vec<_>, StoreError> = found;
        let payloads: Vec<String> = found.unwrap().into_iter().map(|it| it.payload).collect();
        assert_eq!(payloads, texts);
        store.close().await;
    }
}

#[tokio::test]
async fn a_configuration_is_stored_once_and_kept_while_it_is_needed() {
    const HOUR: i64 = 3_600_000;
    for database in databases().await {
        let store = database.open().await;
        let [one, other] = ["{\"a\":1}", "{\"a\":2}"].map(DeliveryConfig::from);
        // The same text in another allocation, as after a restart.
        let again = DeliveryConfig::from("{\"a\":1}");
        let new = vec![
            delivery(1, "{}", &one),
            delivery(2, "{}", &other),
            delivery(3, "{}", &again),
        ];
        insert(&store, new.clone()).await;
        for (new, text) in new.iter().zip([&one, &other, &one]) {
            assert_eq!(config(&store, &new.id).await.as_deref(), Some(text.text()));
        }
        let change = "UPDATE delivery_configs SET config = 'changed' WHERE config = '{\"a\":1}'";
        run_sql(&database.location, change).await;
        for (new, text) in new.iter().zip(["changed", "{\"a\":2}", "changed"]) {
            assert_eq!(config(&store, &new.id).await.as_deref(), Some(text));
        }
        // Open deliveries keep their configuration, regardless of its age.
        assert_eq!(forget_configs(&store, 100 * HOUR).await, 0);
        let ids = new.iter().map(|new| new.id.clone()).collect();
        assert_eq!(remove(&database, &store, ids).await, 3);
        // The stored time of use may be an hour too early, and another hour allows for clock differences.
        assert_eq!(forget_configs(&store, 2 * HOUR).await, 0);
        let late = NewDelivery {
            received_at: at(2 * HOUR),
            ..delivery(4, "{}", &other)
        };
        insert(&store, vec![late.clone()]).await;
        assert_eq!(
            forget_configs(&store, 2 * HOUR + 4).await,
            1,
            "one is in use again"
        );
        assert_eq!(
            config(&store, &late.id).await.as_deref(),
            Some(other.text())
        );
        store.close().await;
    }
}

#[tokio::test]
async fn a_configuration_is_stored_again_after_its_write_was_undone_or_it_was_deleted() {
    const HOUR: i64 = 3_600_000;
    for database in databases().await {
        let store = database.open().await;
        let text = DeliveryConfig::from("{}");
        let first = delivery(1, "{}", &text);
        let undone = |new: NewDelivery| {
            store.write_arrivals(move |conn| {
                Box::pin(async move {
                    conn.insert_deliveries(&[new]).await?;
                    Err::<(), _>(StoreError::Damaged { what: "test" })
                })
            })
        };
        undone(first.clone()).await.unwrap_err();
        insert(&store, vec![first.clone()]).await;
        assert_eq!(config(&store, &first.id).await.as_deref(), Some("{}"));

        // The failed write is in one group with a write that is kept.
        let other = DeliveryConfig::from("{\"a\":1}");
        let [second, third, fourth] = [2, 3, 4].map(|n| delivery(n, "{}", &other));
        let (failed, _) = tokio::join!(
            undone(second),
            insert(&store, vec![delivery(5, "{}", &text)])
        );
        failed.unwrap_err();
        insert(&store, vec![third.clone()]).await;
        insert(&store, vec![fourth.clone()]).await;
        for new in [&third, &fourth] {
            assert_eq!(config(&store, &new.id).await.as_deref(), Some(other.text()));
        }

        let ids = [&first, &third, &fourth].map(|new| new.id.clone());
        assert_eq!(remove(&database, &store, ids.to_vec()).await, 3);
        assert_eq!(forget_configs(&store, 10 * HOUR).await, 2);
        let last = delivery(6, "{}", &text);
        insert(&store, vec![last.clone()]).await;
        assert_eq!(config(&store, &last.id).await.as_deref(), Some("{}"));
        store.close().await;
    }
}

#[tokio::test]
async fn deliveries_of_an_earlier_version_keep_payload_and_configuration_in_their_row() {
    for database in databases().await {
        let store = database.open().await;
        let big = "x".repeat(PREVIEW_BYTES + 1);
        let insert = format!(
            "INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at,
                 next_attempt_at, headers, body_size, body_preview, payload, config, target)
             VALUES ('del_1', 'hook_1', 'queued', 's', 1, 1, '{{}}', 2, 'xx', '{big}', '{{\"a\":0}}', '')"
        );
        run_sql(&database.location, &insert).await;
        let work = claim(&store).await.remove(0);
        assert_eq!(work.payload, Some(big));
        assert_eq!(work.config.as_deref(), Some("{\"a\":0}"));
        assert_eq!(work.row.body_preview, "xx");
        store.close().await;
    }
}
