//! Counters of ended deliveries always equal the counts of the rows.

use super::*;
use gatehouse_store::WebhookRow;
use gatehouse_store::testing::postgres;
use std::collections::BTreeMap;

const HOUR: i64 = 3_600_000;

type Counts = BTreeMap<(i64, &'static str), i64>;

/// Returns a delivery received at `millis`, with an ID of that time like the gateway's IDs.
fn received(n: u32, webhook: &str, millis: i64) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::from_text(format!("del_{millis:012x}{n:020}")),
        webhook_id: WebhookId::from_text(webhook),
        received_at: at(millis),
        next_attempt_at: Some(at(millis)),
        ..delivery(n, &format!("session {n}"))
    }
}

async fn counts(store: &Store, webhook: Option<&str>, since: i64, until: i64) -> Counts {
    let webhook = webhook.map(WebhookId::from_text);
    let list = store
        .read(move |conn| {
            Box::pin(async move {
                let (webhook, since, until) = (webhook.as_ref(), at(since), at(until));
                let mut all = conn.list_delivery_counts(webhook, since, until).await?;
                let mut open = conn.list_open_delivery_counts().await?;
                open.retain(|open| open.is_within(webhook, since, until));
                all.extend(open.into_iter().map(|open| open.count));
                Ok::<_, StoreError>(all)
            })
        })
        .await
        .unwrap();
    let mut counts = Counts::new();
    for count in list {
        let hour = count.hour.as_millis() / HOUR;
        *counts.entry((hour, count.status.as_str())).or_default() += count.count;
    }
    counts
}

/// Claims all due deliveries and ends them with this status.
async fn work(store: &Store, status: DeliveryStatus, limit: usize) {
    for work in claim(store, "me", 20 * HOUR, limit).await.claimed {
        let finished = store.write(move |conn| {
            Box::pin(async move {
                let ended = ended(status, 20 * HOUR);
                conn.finish_delivery(&work.row.id, "me", work.row.attempts, &ended)
                    .await
            })
        });
        assert!(finished.await.unwrap());
    }
}

#[tokio::test]
async fn counters_follow_every_end_and_no_write_that_was_undone() {
    for database in databases().await {
        let store = database.open().await;
        let refused = NewDelivery {
            status: DeliveryStatus::Rejected,
            next_attempt_at: None,
            target: None,
            ..received(9, "hook_2", 11 * HOUR)
        };
        let twin = |n| NewDelivery {
            unique_key: Some("key".to_owned()),
            status: DeliveryStatus::Failed,
            ..received(n, "hook_2", 11 * HOUR)
        };
        let first: Vec<_> = (1..=4)
            .map(|n| received(n, "hook_1", 10 * HOUR + i64::from(n)))
            .collect();
        insert(&store, first).await;
        insert(&store, vec![refused, twin(10), twin(11)]).await;
        let before = counts(&store, None, 0, i64::MAX).await;
        let expected = [
            ((10, "queued"), 4),
            ((11, "rejected"), 1),
            ((11, "failed"), 1),
        ];
        assert_eq!(before, Counts::from(expected));

        let id = received(4, "hook_1", 10 * HOUR + 4).id;
        let cancelled = id.clone();
        let undone = store.write(move |conn| {
            Box::pin(async move {
                assert!(conn.cancel_delivery(&id, at(12 * HOUR)).await?);
                Err::<(), _>(StoreError::Damaged { what: "a test" })
            })
        });
        assert!(undone.await.is_err());
        assert_eq!(counts(&store, None, 0, i64::MAX).await, before);

        work(&store, DeliveryStatus::Completed, 2).await;
        let cancel = store.write(move |conn| {
            Box::pin(async move { conn.cancel_delivery(&cancelled, at(12 * HOUR)).await })
        });
        assert!(cancel.await.unwrap());
        let expected = [
            ((10, "queued"), 1),
            ((10, "completed"), 2),
            ((10, "failed"), 1),
            ((11, "rejected"), 1),
            ((11, "failed"), 1),
        ];
        assert_eq!(
            counts(&store, None, 0, i64::MAX).await,
            Counts::from(expected)
        );
        let of_one = counts(&store, Some("hook_2"), 0, 20 * HOUR).await;
        assert_eq!(
            of_one,
            Counts::from([((11, "rejected"), 1), ((11, "failed"), 1)])
        );
        // Deliveries in parts of hours are counted from the rows.
        let part = counts(&store, None, 10 * HOUR + 2, 11 * HOUR + 1).await;
        let queued_or_done = part.iter().filter(|((hour, _), _)| *hour == 10);
        assert_eq!(queued_or_done.map(|(_, count)| count).sum::<i64>(), 3);
        assert_eq!(part[&(11, "rejected")], 1);
        assert_eq!(
            counts(&store, None, 10 * HOUR + 1, 10 * HOUR + 2)
                .await
                .values()
                .sum::<i64>(),
            1
        );
        store.close().await;
    }
}

#[tokio::test]
async fn two_nodes_that_end_deliveries_of_the_same_hours_lose_no_count() {
    let Some(database) = postgres().await else {
        return;
    };
    let other = database.for_another_node();
    let (one, two) = (database.open().await, other.open().await);
    let filtered = |n: u32| {
        let webhook = if n.is_multiple_of(2) {
            "hook_1"
        } else {
            "hook_2"
        };
        NewDelivery {
            status: DeliveryStatus::Filtered,
            next_attempt_at: None,
            target: None,
            ..received(n, webhook, 10 * HOUR + i64::from(n))
        }
    };
    let fill = async |store: &Store, from: u32| {
        for n in from..from + 40 {
            insert(store, vec![filtered(n)]).await;
        }
    };
    tokio::join!(fill(&one, 0), fill(&two, 100));
    let all = counts(&one, None, 0, i64::MAX).await;
    assert_eq!(all, Counts::from([((10, "filtered"), 80)]));
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn counters_of_a_deleted_webhook_go_with_its_last_delivery() {
    for database in databases().await {
        let store = database.open().await;
        let rows = ["hook_1", "hook_2"].map(|hook| NewDelivery {
            status: DeliveryStatus::Filtered,
            next_attempt_at: None,
            target: None,
            ..received(1 + u32::from(hook == "hook_2"), hook, 10 * HOUR)
        });
        insert(&store, rows.to_vec()).await;
        store
            .write(|conn| {
                Box::pin(async move {
                    conn.insert_webhook_removal("hook_1", at(0)).await?;
                    conn.delete_removed_deliveries("hook_1", 10, 1000).await?;
                    conn.delete_finished_removals(at(1)).await
                })
            })
            .await
            .unwrap();
        let left = counts(&store, None, 0, i64::MAX).await;
        assert_eq!(left, Counts::from([((10, "filtered"), 1)]));
        store.close().await;
    }
}

/// Returns the durations of completed deliveries in a period.
async fn durations(store: &Store, since: i64, until: i64) -> Durations {
    let list = store
        .read(move |conn| {
            Box::pin(async move { conn.list_delivery_counts(None, at(since), at(until)).await })
        })
        .await
        .unwrap();
    let mut all = Durations::default();
    for count in &list {
        assert!(
            count.status == DeliveryStatus::Completed || count.durations == Durations::default()
        );
        all.merge(&count.durations);
    }
    all
}

#[tokio::test]
async fn durations_are_counted_with_the_end_and_equal_what_the_rows_say() {
    for database in databases().await {
        let store = database.open().await;
        let took = [0, 3, 4, 100, 9_000, 600_000];
        let rows = (1..=took.len() + 1)
            .map(|n| u32::try_from(n).unwrap())
            .map(|n| received(n, "hook_1", 10 * HOUR + i64::from(n)));
        insert(&store, rows.collect()).await;
        let last = received(7, "hook_1", 10 * HOUR + 7).id;
        let cancel = store.write(move |conn| {
            Box::pin(async move { conn.cancel_delivery(&last, at(12 * HOUR)).await })
        });
        assert!(cancel.await.unwrap());
        assert_eq!(durations(&store, 0, i64::MAX).await, Durations::default());
        let claimed = claim(&store, "me", 20 * HOUR, 100).await.claimed;
        assert_eq!(claimed.len(), took.len());
        for (work, took) in claimed.into_iter().zip(took) {
            let finished = store.write(move |conn| {
                Box::pin(async move {
                    let ended = ended(DeliveryStatus::Completed, 20 * HOUR + took);
                    conn.finish_delivery(&work.row.id, "me", work.row.attempts, &ended)
                        .await
                })
            });
            assert!(finished.await.unwrap());
        }
        let counted = durations(&store, 10 * HOUR, 11 * HOUR).await;
        assert_eq!(counted.count(), 6);
        assert_eq!(counted.total_ms, 609_107);
        let places = [0, 1, 5, 12, 18].map(|place: usize| counted.buckets[place]);
        assert_eq!(places, [2, 1, 1, 1, 1]);
        // Durations in a part of an hour are read from the rows.
        let of_rows = durations(&store, 10 * HOUR + 1, 11 * HOUR - 1).await;
        assert_eq!(of_rows, counted);

        // The migration fills the counters of earlier versions in the same way.
        let migration = include_str!("../../migrations/0053_delivery_durations.sql");
        let fill = &migration[migration.find("INSERT").unwrap()..];
        let empty = "UPDATE delivery_counts SET took_ms = 0, took_00 = 0, took_01 = 0, took_05 = 0,
             took_12 = 0, took_18 = 0";
        run_sql(&database.location, empty).await;
        assert_eq!(
            durations(&store, 10 * HOUR, 11 * HOUR).await,
            Durations::default()
        );
        run_sql(&database.location, fill).await;
        assert_eq!(durations(&store, 10 * HOUR, 11 * HOUR).await, counted);
        let ends = Counts::from([((10, "completed"), 6), ((10, "failed"), 1)]);
        assert_eq!(counts(&store, None, 0, i64::MAX).await, ends);
        store.close().await;
    }
}

/// The counters of the last weeks show whether the sender was regular before it stopped.
#[tokio::test]
async fn old_counters_go_except_those_of_the_last_weeks_of_a_webhook() {
    for database in databases().await {
        let store = database.open().await;
        let filtered = |n, webhook, hour: i64| NewDelivery {
            status: DeliveryStatus::Filtered,
            next_attempt_at: None,
            target: None,
            ..received(n, webhook, hour * HOUR)
        };
        let rows = [
            filtered(1, "hook_1", 400),
            filtered(2, "hook_1", 990),
            filtered(3, "gone", 990),
        ];
        insert(&store, rows.to_vec()).await;
        let webhook = WebhookRow {
            id: WebhookId::from_text("hook_1"),
            public_id: "p".to_owned(),
            name: "n".to_owned(),
            config: "{}".to_owned(),
            enabled: true,
            delivery_count: 2,
            last_delivery_at: Some(at(1000 * HOUR)),
            created_at: at(0),
            updated_at: at(0),
        };
        let deleted = store.write(move |conn| {
            Box::pin(async move {
                conn.insert_webhook(&webhook).await?;
                conn.delete_old_delivery_counts(at(5000 * HOUR)).await
            })
        });
        assert_eq!(deleted.await.unwrap(), 2);
        let read = store.read(|conn| {
            let hook = WebhookId::from_text("hook_1");
            Box::pin(async move { conn.list_webhook_days(&hook, 0, 100).await })
        });
        let days: Vec<i64> = read.await.unwrap().iter().map(|it| it.day).collect();
        assert_eq!(days, [41]);
        store.close().await;
    }
}
