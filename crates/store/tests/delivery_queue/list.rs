//! Filtered lists of deliveries.

use super::*;
use gatehouse_store::testing::{TestDatabase, sqlite};

fn of_type(n: u32, event: &str) -> NewDelivery {
    NewDelivery {
        event_type: Some(event.to_owned()),
        ..delivery(n, "a")
    }
}

/// Lists the numbers of a page, newest first, and whether another page may follow.
async fn listed(store: &Store, filter: DeliveryFilter, limit: i64) -> (Vec<DeliveryId>, bool) {
    let read =
        store.read(move |conn| Box::pin(async move { conn.list_deliveries(&filter, limit).await }));
    let page: Result<DeliveryPage, StoreError> = read.await;
    let page = page.unwrap();
    let ids = page.rows.into_iter().map(|row| row.id).collect();
    (ids, page.next.is_some())
}

fn event(event: &str) -> DeliveryFilter {
    DeliveryFilter {
        event: Some(event.to_owned()),
        ..DeliveryFilter::default()
    }
}

#[tokio::test]
async fn types_that_start_with_a_text_are_listed_newest_first_page_by_page() {
    for database in databases().await {
        let store = database.open().await;
        let types = [
            "issues.opened",
            "push",
            "issues.closed",
            "Issues.opened",
            "issue_comment",
            "issues.opened",
        ];
        let new = (1..).zip(types).map(|(n, event)| of_type(n, event));
        insert(&store, new.collect()).await;
        let all = async |text| listed(&store, event(text), 10).await;
        assert_eq!(all("issues.*").await, (vec![id(6), id(3), id(1)], false));
        assert_eq!(
            all("issue*").await,
            (vec![id(6), id(5), id(3), id(1)], false)
        );
        assert_eq!(all("release*").await, (vec![], false));
        assert_eq!(all("*").await.0.len(), types.len());
        assert_eq!(
            listed(&store, event("issues.*"), 2).await,
            (vec![id(6), id(3)], true)
        );
        let next = DeliveryFilter {
            before: Some(id(3).as_str().to_owned()),
            ..event("issues.*")
        };
        assert_eq!(listed(&store, next, 2).await, (vec![id(1)], false));
        let of_none = DeliveryFilter {
            webhook: Some(WebhookId::from_text("another")),
            ..event("issues.*")
        };
        assert_eq!(listed(&store, of_none, 2).await, (vec![], false));
        store.close().await;
    }
}

/// For up to 32 types, the list reads a page of each type.
#[tokio::test]
async fn many_types_and_one_that_ends_with_an_asterisk_are_listed_too() {
    for database in databases().await {
        let store = database.open().await;
        let new = (1..=33).map(|n| of_type(n, &format!("t{n:02}")));
        insert(&store, new.collect()).await;
        insert(&store, vec![of_type(34, "odd*"), of_type(35, "odder")]).await;
        for (text, count) in [("t*", 33), ("t0*", 9), ("t*3", 0), ("odd*", 2)] {
            let (ids, _) = listed(&store, event(text), 50).await;
            assert_eq!(ids.len(), count, "{text}");
            assert!(ids.is_sorted_by(|one, other| one > other), "{text}");
        }
        store.close().await;
    }
}

#[tokio::test]
async fn deliveries_of_a_restored_backup_are_listed_and_counted() {
    let waiting = || DeliveryFilter {
        to_release: true,
        ..DeliveryFilter::default()
    };
    for database in databases().await {
        let store = database.open().await;
        insert(&store, (1..=4).map(|n| of_type(n, "push")).collect()).await;
        assert_eq!(listed(&store, waiting(), 10).await, (vec![], false));
        let park = format!(
            "UPDATE webhook_deliveries SET next_attempt_at = NULL, error = '{WAITS_FOR_RELEASE}'
             WHERE id IN ('{}', '{}')",
            id(1),
            id(3)
        );
        run_sql(&database.location, &park).await;
        let both = vec![id(3), id(1)];
        assert_eq!(listed(&store, waiting(), 10).await, (both.clone(), false));
        assert_eq!(
            listed(&store, waiting(), 1).await,
            (vec![id(3)], true),
            "a page"
        );
        let of_type = DeliveryFilter {
            event: Some("pus*".to_owned()),
            ..waiting()
        };
        assert_eq!(listed(&store, of_type, 10).await, (both, false));
        let count = store
            .read(|conn| Box::pin(async move { conn.count_deliveries_to_release().await }))
            .await;
        assert_eq!(count.unwrap(), 2);
        store.close().await;
    }
}

/// Lists the numbers of all pages, newest first.
async fn listed_all(store: &Store, mut filter: DeliveryFilter, limit: i64) -> Vec<u32> {
    let mut all = Vec::new();
    loop {
        let asked = filter.clone();
        let read = store
            .read(move |conn| Box::pin(async move { conn.list_deliveries(&asked, limit).await }));
        let page: Result<DeliveryPage, StoreError> = read.await;
        let page = page.unwrap();
        assert!(i64::try_from(page.rows.len()).unwrap() <= limit);
        all.extend(page.rows.iter().map(|row| number(&row.id)));
        filter.before = page.next;
        if filter.before.is_none() {
            return all;
        }
    }
}

/// Returns the webhook of a delivery of [`fill`]. Most deliveries have the same webhook.
fn hook(n: u32) -> u32 {
    u32::from(!n.is_multiple_of(10))
}

/// Stores deliveries 1 to `last`. Their webhooks, types and statuses repeat; the last ones wait.
async fn fill(database: &TestDatabase, last: u32, waiting: u32) {
    let sql = format!(
        "INSERT INTO webhook_deliveries (id, webhook_id, status, event_type, session_key, received_at,
             next_attempt_at, lease_until, attempts, headers, body_size, body_preview, payload, response_actions,
             target)
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})
         SELECT 'del_' || substr('00000000' || n, length('00000000' || n) - 7),
             CASE WHEN n % 10 = 0 THEN 'hook_0' ELSE 'hook_1' END,
             CASE WHEN n % 500 = 7 THEN 'processing' WHEN n > {last} - {waiting} THEN 'queued'
                 WHEN n % 100 = 5 THEN 'failed' WHEN n % 100 = 6 THEN 'filtered' ELSE 'completed' END,
             CASE WHEN n % 701 = 0 THEN 'release' ELSE 'push.' || (n % 2) END, 's' || n, n,
             CASE WHEN n > {last} - {waiting} AND n % 500 <> 7 THEN n END,
             CASE WHEN n % 500 = 7 THEN n END, 0, '{{}}', 2, '', '', '[]', ''
         FROM numbers"
    );
    run_sql(&database.location, &sql).await;
}

/// More than 2,000 waiting deliveries are not read at once. The deliveries of a webhook with more than 2,000 are
/// not searched for an event type.
#[tokio::test]
async fn every_filter_finds_every_delivery_once_whatever_the_number_that_waits() {
    const LAST: u32 = 3000;
    for waiting in [1500_u32, 2500] {
        for database in databases().await {
            let store = database.open().await;
            fill(&database, LAST, waiting).await;
            let status = move |n: u32| match n {
                n if n % 500 == 7 => "processing",
                n if n > LAST - waiting => "queued",
                n if n % 100 == 5 => "failed",
                n if n % 100 == 6 => "filtered",
                _ => "completed",
            };
            let of_type = |n: u32, start: &str| match n {
                n if n.is_multiple_of(701) => "release".starts_with(start),
                n => format!("push.{}", n % 2).starts_with(start),
            };
            for webhook in [None, Some(0), Some(1)] {
                for event in [
                    None,
                    Some("push.1"),
                    Some("push.*"),
                    Some("rel*"),
                    Some("none*"),
                ] {
                    for statuses in [
                        &[] as &[&str],
                        &["queued"],
                        &["processing"],
                        &["failed", "filtered"],
                        &["completed"],
                        &["queued", "processing", "failed"],
                        &["failed", "completed"],
                    ] {
                        let filter = DeliveryFilter {
                            webhook: webhook.map(|n| WebhookId::from_text(format!("hook_{n}"))),
                            event: event.map(str::to_owned),
                            statuses: statuses.iter().map(|it| it.parse().unwrap()).collect(),
                            ..DeliveryFilter::default()
                        };
                        let found = listed_all(&store, filter, 1000).await;
                        let expected = (1..=LAST).rev().filter(|n| {
                            webhook.is_none_or(|webhook| hook(*n) == webhook)
                                && event.is_none_or(|it| of_type(*n, it.trim_end_matches('*')))
                                && (statuses.is_empty() || statuses.contains(&status(*n)))
                        });
                        let expected: Vec<u32> = expected.collect();
                        assert_eq!(
                            found, expected,
                            "{webhook:?} {event:?} {statuses:?} {waiting}"
                        );
                    }
                }
            }
            store.close().await;
        }
    }
}

#[tokio::test]
async fn deliveries_of_a_deleted_webhook_are_not_listed_while_they_are_removed() {
    for database in databases().await {
        let store = database.open().await;
        fill(&database, 1500, 0).await;
        let removal = "INSERT INTO webhook_removals (webhook_id, removed_at) VALUES ('hook_1', 1)";
        run_sql(&database.location, removal).await;
        let found = listed_all(&store, DeliveryFilter::default(), 100).await;
        let expected: Vec<u32> = (1..=1500).rev().filter(|n| hook(*n) == 0).collect();
        assert_eq!(found, expected);
        let of_removed = DeliveryFilter {
            webhook: Some(WebhookId::from_text("hook_1")),
            ..DeliveryFilter::default()
        };
        assert_eq!(listed_all(&store, of_removed, 100).await, [0; 0]);
        store.close().await;
    }
}

/// PostgreSQL does not store text that is not UTF-8, so this test needs SQLite.
#[tokio::test]
async fn a_delivery_that_cannot_be_read_is_listed_with_an_error() {
    let database = sqlite();
    let store = database.open().await;
    insert(&store, (1..=3).map(|n| of_type(n, "push")).collect()).await;
    let damage = "UPDATE webhook_deliveries SET payload = CAST(x'ff' AS TEXT), body_preview = ''
         WHERE id = 'del_00000002'";
    run_sql(&database.location, damage).await;
    let all = listed(&store, DeliveryFilter::default(), 3).await;
    assert_eq!(all, (vec![id(3), id(2), id(1)], false));
    let found = store
        .read(|conn| Box::pin(async move { conn.find_delivery_to_show(id(2).as_str()).await }));
    let found: Result<_, StoreError> = found.await;
    let damaged = found.unwrap().unwrap();
    assert_eq!(damaged.status, DeliveryStatus::Queued);
    assert!(damaged.error.unwrap().contains("damaged"));
    store.close().await;
}
