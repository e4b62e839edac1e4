//! Lists of deliveries by event type.

use super::*;

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

/// Up to 32 types, the list reads a page of each.
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
