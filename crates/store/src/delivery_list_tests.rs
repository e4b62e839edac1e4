//! Checks which indexes lists of deliveries use.

use super::*;
use crate::Store;
use crate::delivery_counts::first_id_at;
use crate::testing::{databases, run_sql};
use gatehouse_domain::{DeliveryId, ManualClock, SeededRandom};

#[test]
fn ids_of_a_moment_are_not_before_its_first() {
    let now = Timestamp::from_millis(1_795_000_000_123);
    let random = SeededRandom::new(1);
    for _ in 0..50 {
        let id = DeliveryId::generate(&ManualClock::at(now), &random);
        assert!(id.as_str() >= first_id_at(now).as_str());
        assert!(id.as_str() < first_id_at(Timestamp::from_millis(now.as_millis() + 1)).as_str());
    }
}

/// SQLite uses a partial index only if the query repeats its condition.
#[tokio::test]
async fn each_filter_is_listed_by_an_index_in_its_order() {
    let database = crate::testing::sqlite();
    let store = database.open().await;
    let (failed, queued) = (Some(DeliveryStatus::Failed), Some(DeliveryStatus::Queued));
    let (running, push) = (Some(DeliveryStatus::Processing), Some("push"));
    for (webhook, status, event, index) in [
        (None, failed, None, "by_status"),
        (None, failed, push, "by_status"),
        (None, failed, Some("pu*"), "by_status"),
        (Some("hook_a"), failed, None, "refused"),
        (Some("hook_a"), failed, push, "refused"),
        (None, queued, None, "open"),
        (Some("hook_a"), queued, push, "open"),
        (Some("hook_a"), running, push, "leases"),
        (None, None, push, "by_event"),
        (Some("hook_a"), None, None, "by_webhook"),
        // This webhook has few deliveries.
        (Some("hook_a"), None, push, "by_webhook"),
        (Some("hook_a"), None, Some("pu*"), "by_webhook"),
    ] {
        let filter = DeliveryFilter {
            webhook: webhook.map(WebhookId::from_text),
            statuses: status.into_iter().collect(),
            event: event.map(str::to_owned),
            ..DeliveryFilter::default()
        };
        let sorts = [queued, running].contains(&status);
        check_plan(&store, filter, index, sorts).await;
    }
    let waiting = DeliveryFilter {
        to_release: true,
        ..DeliveryFilter::default()
    };
    check_plan(&store, waiting, "parked", false).await;
    store.close().await;
}

/// Returns the statements of a list that has one walk.
async fn statements(store: &Store, filter: DeliveryFilter) -> Vec<String> {
    let walks = store.read(move |conn| Box::pin(async move { conn.walks_of(&filter).await }));
    let walks: Result<Vec<Walk>, StoreError> = walks.await;
    let walks = walks.unwrap();
    assert_eq!(walks.len(), 1);
    walks.iter().flat_map(Walk::statements).collect()
}

/// With more deliveries, a list reads slices, which takes two statements.
#[tokio::test]
async fn up_to_two_thousand_deliveries_are_read_at_once() {
    for database in databases().await {
        let store = database.open().await;
        for (numbers, count) in [(1..=FEW, 1), (FEW + 1..=FEW + 1, 2)] {
            let (first, last) = numbers.into_inner();
            let sql = format!(
                "INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at, headers,
                     body_size, body_preview)
                 WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})
                 SELECT 'del_' || n, 'hook_a', 'queued', '', n, '{{}}', 2, '' FROM numbers"
            );
            run_sql(&database.location, &sql).await;
            let queued = DeliveryFilter {
                statuses: vec![DeliveryStatus::Queued],
                ..DeliveryFilter::default()
            };
            assert_eq!(statements(&store, queued).await.len(), count);
            let of_type = DeliveryFilter {
                webhook: Some(WebhookId::from_text("hook_a")),
                event: Some("push".to_owned()),
                ..DeliveryFilter::default()
            };
            let of_type = statements(&store, of_type).await.concat();
            let is_by_webhook = of_type.contains("webhook_id = 'hook_a'");
            assert_eq!(is_by_webhook, count == 1, "{of_type}");
        }
        store.close().await;
    }
}

/// Checks the index of each statement of a list that has one walk. Checks whether the statement sorts its rows.
async fn check_plan(store: &Store, filter: DeliveryFilter, index: &str, sorts: bool) {
    for statement in statements(store, filter.clone()).await {
        let plan = crate::plan::plan_of(store, &statement).await;
        let index = format!("INDEX webhook_deliveries_{index} ");
        assert!(
            plan.replace('\n', " \n").contains(&index),
            "{filter:?}\n{plan}"
        );
        assert_eq!(plan.contains("TEMP B-TREE"), sorts, "{filter:?}\n{plan}");
    }
}

/// The table has no statistics, as in a new installation.
#[tokio::test]
async fn the_event_types_are_read_from_their_index() {
    let database = crate::testing::sqlite();
    let store = database.open().await;
    let plan = crate::plan::plan_of(&store, &TYPES.replace("$1", "10")).await;
    let reads: Vec<_> = plan
        .lines()
        .filter(|line| line.contains("webhook_deliveries"))
        .collect();
    assert_eq!(reads.len(), 2, "{plan}");
    for read in reads {
        assert!(read.starts_with("SEARCH"), "{plan}");
        assert!(read.contains("webhook_deliveries_by_event"), "{plan}");
    }
    store.close().await;
}
