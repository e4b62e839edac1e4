//! Waiting deliveries, lookups and sweeps.

use super::*;
use gatehouse_store::testing::{self, postgres};

#[tokio::test]
async fn a_delivery_that_lost_its_predecessor_is_found() {
    for database in databases().await {
        let store = database.open().await;
        insert(&store, (1..=3).map(|n| delivery(n, "a")).collect()).await;
        assert_eq!(claimed(&store, "me", 10, 5).await, [1]);
        let stranded =
            || store.read(|conn| Box::pin(async move { conn.list_stranded_deliveries().await }));
        assert_eq!(stranded().await.unwrap(), []);
        run_sql(
            &database.location,
            "DELETE FROM webhook_deliveries WHERE id = 'del_00000001'",
        )
        .await;
        assert_eq!(claimed(&store, "me", 10, 5).await, [0; 0]);
        assert_eq!(stranded().await.unwrap(), [id(2)]);
        store
            .write(|conn| Box::pin(async move { conn.update_deliveries_due(&[id(2)], at(10)) }))
            .await
            .unwrap();
        assert_eq!(claimed(&store, "me", 10, 5).await, [2]);
        // A delivery behind a parked one is claimed together with it, regardless of the sweep.
        insert(&store, vec![delivery(4, "b"), delivery(5, "b")]).await;
        run_sql(
            &database.location,
            "UPDATE webhook_deliveries SET next_attempt_at = NULL WHERE id = 'del_00000004'",
        )
        .await;
        assert_eq!(claimed(&store, "me", 10, 5).await, [4]);
        store.close().await;
    }
}

#[tokio::test]
async fn what_waits_for_the_vault_waits_until_it_is_released() {
    for database in databases().await {
        let store = database.open().await;
        insert(&store, vec![delivery(1, "a"), delivery(2, "a")]).await;
        assert_eq!(claimed(&store, "me", 10, 5).await, [1]);
        let wait = DeliveryRequeue {
            next_attempt_at: None,
            uncount: true,
            error: Some(WAITS_FOR_VAULT.to_owned()),
            session_id: None,
        };
        assert!(requeue(&store, 1, "me", wait).await);
        assert_eq!(row(&store, 1).await.attempts, 0);
        insert(&store, vec![delivery(3, "a")]).await;
        assert_eq!(claimed(&store, "me", 10_000, 5).await, [0; 0]);
        let (stranded, waiting) = store
            .read(|conn| {
                Box::pin(async move {
                    let stranded = conn.list_stranded_deliveries().await?;
                    let waiting = conn.list_deliveries_behind_vault().await?;
                    Ok::<_, StoreError>((stranded, waiting))
                })
            })
            .await
            .unwrap();
        assert_eq!((stranded, waiting), (vec![], vec![id(1)]));
        let release = || {
            store.write(|conn| {
                Box::pin(async move { conn.release_delivery_from_vault(&id(1), at(50)).await })
            })
        };
        assert!(release().await.unwrap());
        assert!(!release().await.unwrap(), "once");
        assert_eq!(claimed(&store, "me", 50, 5).await, [1]);
        assert_eq!(row(&store, 1).await.error, None);
        store.close().await;
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_delays_nothing_for_long() {
    for database in databases().await {
        let store = database.open().await;
        insert(
            &store,
            (1..=3)
                .map(|n| delivery(n * 1_000_000, &n.to_string()))
                .collect(),
        )
        .await;
        run_sql(
            &database.location,
            "UPDATE webhook_deliveries SET attempts = 1 WHERE id <> 'del_01000000'",
        )
        .await;
        assert_eq!(claimed(&store, "me", 0, 5).await, [0; 0]);
        let moved = store
            .write(|conn| {
                Box::pin(async move { conn.update_deliveries_too_late(at(0), 2_000_000).await })
            })
            .await
            .unwrap();
        assert_eq!(
            moved, 2,
            "the first was due when it came, the third waits too long"
        );
        let mut due = claimed(&store, "me", 0, 5).await;
        due.sort_unstable();
        assert_eq!(due, [1_000_000, 3_000_000]);
        store.close().await;
    }
}

/// A delivery that arrived after the clock was set back can have a smaller ID than the running one.
#[tokio::test]
async fn a_session_with_a_running_delivery_starts_no_other_whatever_its_id() {
    for database in databases().await {
        let store = database.open().await;
        insert(&store, vec![delivery(50, "a")]).await;
        assert_eq!(claimed(&store, "me", 100, 5).await, [50]);
        insert(&store, vec![delivery(7, "a")]).await;
        assert_eq!(claimed(&store, "me", 100, 5).await, [0; 0]);
        // The running delivery is requeued. Both deliveries then run one after the other.
        assert!(requeue(&store, 50, "me", later(Some(100))).await);
        assert_eq!(claimed(&store, "me", 100, 5).await, [7]);
        assert_eq!(claimed(&store, "me", 100, 5).await, [0; 0]);
        assert!(finish(&store, 7, "me", 100).await);
        assert_eq!(claimed(&store, "me", 100, 5).await, [50]);
        store.close().await;
    }
}

#[tokio::test]
async fn what_was_received_and_never_queued_is_queued_at_the_start() {
    for database in databases().await {
        let store = database.open().await;
        let mut received = delivery(1, "a");
        received.status = DeliveryStatus::Received;
        received.next_attempt_at = None;
        insert(&store, vec![received, delivery(2, "b")]).await;
        let queued = store
            .write(|conn| Box::pin(async move { conn.update_received_deliveries(at(9)).await }))
            .await
            .unwrap();
        assert_eq!(queued, 1);
        assert_eq!(row(&store, 1).await.status, DeliveryStatus::Queued);
        assert_eq!(claimed(&store, "me", 9, 5).await, [2, 1]);
        store.close().await;
    }
}

fn real_id(millis: i64, seed: u64) -> DeliveryId {
    DeliveryId::generate(&ManualClock::at(at(millis)), &SeededRandom::new(seed))
}

#[tokio::test]
async fn old_deliveries_go_and_open_ones_stay() {
    const LIMIT: i64 = 1_795_000_000_000;
    for database in databases().await {
        let store = database.open().await;
        let with = |millis: i64, seed, status| NewDelivery {
            id: real_id(millis, seed),
            received_at: at(millis),
            status,
            ..delivery(1, "a")
        };
        let all = vec![
            with(LIMIT - 1, 1, DeliveryStatus::Completed),
            with(LIMIT, 2, DeliveryStatus::Completed),
            with(LIMIT - 1, 3, DeliveryStatus::Queued),
            with(LIMIT - 2, 4, DeliveryStatus::Rejected),
        ];
        insert(&store, all).await;
        let old = store
            .read(|conn| {
                Box::pin(async move { conn.list_old_deliveries(at(LIMIT), false, 10).await })
            })
            .await
            .unwrap();
        let ids: Vec<_> = old.into_iter().map(|old| old.id).collect();
        assert_eq!(ids, [real_id(LIMIT - 2, 4), real_id(LIMIT - 1, 1)]);
        // One of the given IDs belongs to an open delivery, which must never be removed.
        let mut asked = ids.clone();
        asked.push(real_id(LIMIT - 1, 3));
        let removed = store
            .write(move |conn| Box::pin(async move { conn.delete_old_deliveries(&asked).await }))
            .await
            .unwrap();
        assert_eq!(removed, 2);
        store.close().await;
    }
}

#[tokio::test]
async fn piles_of_refused_deliveries_are_counted_by_webhook_and_kind() {
    for database in databases().await {
        let store = database.open().await;
        let with = |n, status, hook: &str| NewDelivery {
            status,
            webhook_id: WebhookId::from_text(hook),
            ..delivery(n, "")
        };
        let mut all: Vec<_> = (1..=3)
            .map(|n| with(n, DeliveryStatus::Filtered, "x"))
            .collect();
        all.extend((4..=5).map(|n| with(n, DeliveryStatus::Filtered, "y")));
        all.extend((6..=9).map(|n| with(n, DeliveryStatus::Failed, "y")));
        all.extend((10..=12).map(|n| with(n, DeliveryStatus::Rejected, "x")));
        let reason = |n, reason: &str| NewDelivery {
            error: Some(reason.to_owned()),
            ..with(n, DeliveryStatus::Rejected, "x")
        };
        all.extend((13..=14).map(|n| reason(n, "wrong_signature")));
        all.extend((15..=18).map(|n| reason(n, "body_too_large")));
        insert(&store, all).await;
        let piles = store
            .read(|conn| Box::pin(async move { conn.list_refused_groups(2).await }))
            .await
            .unwrap();
        let found: Vec<_> = piles
            .iter()
            .map(|pile| {
                let reason = pile.reason.as_deref();
                (pile.webhook_id.as_str(), pile.status, reason, pile.count)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("x", DeliveryStatus::Filtered, None, 3),
                ("x", DeliveryStatus::Rejected, None, 3),
                ("x", DeliveryStatus::Rejected, Some("body_too_large"), 4),
            ]
        );
        for (pile, first) in piles.into_iter().zip([1, 10, 15]) {
            let oldest = store
                .read(move |conn| Box::pin(async move { conn.list_oldest_refused(&pile, 1).await }))
                .await
                .unwrap();
            assert_eq!(oldest.len(), 1);
            assert_eq!(oldest[0].id, id(first));
        }
        store.close().await;
    }
}

#[tokio::test]
async fn what_waits_for_its_webhooks_rate_keeps_its_place_and_its_session_in_order() {
    for database in databases().await {
        let store = database.open().await;
        let all = vec![
            delivery(1, "a"),
            delivery(2, "b"),
            delivery(3, "b"),
            delivery(4, "c"),
        ];
        insert(&store, all).await;
        let want = |now, room| ClaimRequest {
            owner: "me".to_owned(),
            now: at(now),
            lease_until: at(now + 60_000),
            takes: vec![Take {
                target: String::new(),
                webhook_id: WebhookId::from_text("hook_1"),
                limit: 10,
            }],
            paced: vec![Pace {
                webhook_id: WebhookId::from_text("hook_1"),
                room,
                next_at: at(1000),
                per_minute: 1,
            }],
        };
        let claim = async |now, room| {
            let want = want(now, room);
            let claims = store
                .write(move |conn| Box::pin(async move { conn.claim_deliveries(&want).await }))
                .await;
            let claims: Claims = claims.unwrap();
            ids(&claims)
        };
        assert_eq!(claim(10, 1).await, [id(1)]);
        let waiting = row(&store, 2).await;
        assert_eq!(waiting.error.as_deref(), Some(WAITS_FOR_RATE));
        assert_eq!(waiting.next_attempt_at, Some(at(1000)));
        assert_eq!(row(&store, 4).await.next_attempt_at, Some(at(61_000)));
        // A correction after the clock was set back must not shorten waits for the rate limit.
        let moved = store
            .write(|conn| {
                Box::pin(async move { conn.update_deliveries_too_late(at(10), 100_000).await })
            })
            .await;
        assert_eq!(moved.unwrap(), 0);
        assert!(claim(999, 1).await.is_empty());
        assert_eq!(
            claim(1000, 1).await,
            [id(2)],
            "before the third of its session"
        );
        assert_eq!(row(&store, 2).await.error, None);
        store.close().await;
    }
}

/// Inserts deliveries and changes them with `sql`. Calls `release` until it releases nothing. Returns the released
/// numbers of each engine.
async fn released_of(
    many: u64,
    sql: &str,
    release: impl AsyncFn(&Store) -> Result<u64, StoreError>,
) -> Vec<Vec<u64>> {
    let many = u32::try_from(many).unwrap();
    let mut all = Vec::new();
    for database in databases().await {
        let store = database.open().await;
        insert(
            &store,
            (0..many).map(|n| delivery(n, &n.to_string())).collect(),
        )
        .await;
        run_sql(&database.location, sql).await;
        let mut calls = Vec::new();
        while calls.last() != Some(&0) {
            calls.push(release(&store).await.unwrap());
        }
        all.push(calls);
        store.close().await;
    }
    all
}

async fn release_restored(store: &Store) -> Result<u64, StoreError> {
    let write =
        store.write_queue(|conn| Box::pin(async move { conn.release_deliveries(at(9)).await }));
    write.await
}

#[tokio::test]
async fn deliveries_of_a_backup_are_released_in_parts() {
    let sql = format!(
        "UPDATE webhook_deliveries SET next_attempt_at = NULL, error = '{WAITS_FOR_RELEASE}'"
    );
    for calls in released_of(RELEASED_AT_ONCE, &sql, release_restored).await {
        assert_eq!(calls, [RELEASED_AT_ONCE, 0], "at the limit");
    }
    for calls in released_of(RELEASED_AT_ONCE + 1, &sql, release_restored).await {
        assert_eq!(calls, [RELEASED_AT_ONCE, 1, 0], "past the limit");
    }
}

async fn release_from_budget(store: &Store) -> Result<u64, StoreError> {
    let write = store.write_queue(|conn| {
        Box::pin(async move { conn.release_deliveries_from_budget(at(9)).await })
    });
    write.await
}

#[tokio::test]
async fn deliveries_that_wait_for_a_budget_are_released_in_parts() {
    let sql = format!("UPDATE webhook_deliveries SET error = '{WAITS_FOR_BUDGET}'");
    for calls in released_of(RELEASED_AT_ONCE + 1, &sql, release_from_budget).await {
        assert_eq!(calls, [RELEASED_AT_ONCE, 1, 0]);
    }
}

/// Returns at least 1 when the cancellation below has changed its row. It then sleeps before its commit, or has
/// committed.
const CANCELLING: &str = "SELECT (SELECT COUNT(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event = 'PgSleep')
     + (SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'failed')";

/// On PostgreSQL, a change of the budgets and a cancellation can run at the same time.
#[tokio::test]
async fn a_delivery_that_is_canceled_while_a_budget_changes_stays_canceled() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    insert(&store, vec![delivery(1, "a")]).await;
    let wait = format!("UPDATE webhook_deliveries SET error = '{WAITS_FOR_BUDGET}'");
    run_sql(&database.location, &wait).await;
    let cancel = "BEGIN;
         UPDATE webhook_deliveries SET status = 'failed', error = 'Cancelled.', next_attempt_at = NULL;
         SELECT pg_sleep(1); COMMIT";
    let release = async {
        while testing::number(&database.location, CANCELLING).await == 0 {
            tokio::task::yield_now().await;
        }
        release_from_budget(&store).await
    };
    let (released, ()) = tokio::join!(release, run_sql(&database.location, cancel));
    assert_eq!(released.unwrap(), 0);
    let cancelled = row(&store, 1).await;
    assert_eq!(cancelled.error.as_deref(), Some("Cancelled."));
    assert_eq!(cancelled.next_attempt_at, None);
    store.close().await;
}

async fn correct_times(store: &Store) -> Result<u64, StoreError> {
    let write = store.write_queue(|conn| {
        Box::pin(async move { conn.update_deliveries_too_late(at(9), 100_000).await })
    });
    write.await
}

#[tokio::test]
async fn deliveries_from_before_the_clock_was_set_back_become_due_in_parts() {
    let sql = "UPDATE webhook_deliveries SET next_attempt_at = 7200000";
    for calls in released_of(RELEASED_AT_ONCE + 1, sql, correct_times).await {
        assert_eq!(calls, [RELEASED_AT_ONCE, 1, 0]);
    }
}
