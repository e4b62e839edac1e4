//! How often a write waits for PostgreSQL, and the results of a group if a statement is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod groups;

use gatehouse_domain::id::InboxMessageId;
use gatehouse_domain::{DeliveryId, DeliveryStatus, WebhookId};
use gatehouse_store::testing::postgres;
use gatehouse_store::testing::rows::{at, queued_delivery};
use gatehouse_store::{
    ClaimRequest, DeliveryConfig, DeliveryEnd, DeliveryFinish, DeliveryResponse, InboxMessagePage,
    InboxMessageRow, NewDelivery, PREVIEW_BYTES, RateRequest, Store, StoreError, Take,
};

const LINES: u32 = 5;

fn hook(n: u32) -> WebhookId {
    WebhookId::from_text(format!("hook_{}", n % LINES))
}

fn id(n: u32) -> DeliveryId {
    DeliveryId::from_text(format!("del_{n:012x}"))
}

/// Returns a delivery. Every third delivery has a large payload. Deliveries 2 and 3 share a session.
fn delivery(n: u32, config: &DeliveryConfig) -> NewDelivery {
    let payload = "x".repeat(if n.is_multiple_of(3) {
        PREVIEW_BYTES + 1
    } else {
        3
    });
    let session = if n == 3 { 2 } else { n };
    NewDelivery {
        webhook_id: hook(n),
        unique_key: Some(n.to_string()),
        session_key: session.to_string(),
        payload: Some(payload),
        config: Some(config.clone()),
        target: Some("inbox:a".into()),
        ..queued_delivery(n)
    }
}

fn message(n: u32, text: &str) -> InboxMessageRow {
    InboxMessageRow {
        seq: 0,
        id: InboxMessageId::from_text(format!("msg_{n}")),
        channel: "a".to_owned(),
        text: text.to_owned(),
        source: "test".to_owned(),
        at: at(1),
        read: false,
        webhook_id: None,
        delivery_id: None,
    }
}

fn finish() -> DeliveryFinish {
    DeliveryFinish {
        status: DeliveryStatus::Completed,
        finished_at: at(500),
        session_id: None,
        input_tokens: None,
        output_tokens: None,
        error: None,
        response_actions: None,
        delivered_at: None,
        outcome: None,
        channel: None,
        response: DeliveryResponse::default(),
    }
}

fn claim_request() -> ClaimRequest {
    let take = |n| Take {
        target: "inbox:a".to_owned(),
        webhook_id: hook(n),
        limit: 10,
    };
    ClaimRequest {
        owner: "me".to_owned(),
        now: at(1000),
        lease_until: at(2000),
        takes: (0..LINES).map(take).collect(),
        paced: Vec::new(),
    }
}

async fn texts(store: &Store) -> Vec<String> {
    let page = InboxMessagePage {
        before_seq: i64::MAX,
        only_unread: false,
        q: None,
        from: None,
        until: None,
        limit: 10,
    };
    let listed = store
        .read(move |conn| Box::pin(async move { conn.list_inbox_messages(&page).await }))
        .await;
    let listed: Vec<InboxMessageRow> = listed.map_err(|error: StoreError| error).unwrap();
    listed.into_iter().map(|message| message.text).collect()
}

#[tokio::test]
async fn the_round_trips_of_a_write_do_not_depend_on_its_deliveries_and_lines() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let inserted = store.write_arrivals(|conn| {
        Box::pin(async move {
            let before = conn.round_trips();
            let config = DeliveryConfig::from("{}");
            let new: Vec<_> = (0..20).map(|n| delivery(n, &config)).collect();
            let stored = conn.insert_deliveries(&new).await?;
            conn.update_webhook_counts(&hook(1), 20, at(1))?;
            Ok::<_, StoreError>((stored, conn.round_trips() - before))
        })
    });
    assert_eq!(inserted.await.unwrap(), (vec![true; 20], 1));

    let claimed = store.write_queue(move |conn| {
        Box::pin(async move {
            let before = conn.round_trips();
            let claims = conn.claim_deliveries(&claim_request()).await?;
            Ok::<_, StoreError>((claims, conn.round_trips() - before))
        })
    });
    let (claims, trips) = claimed.await.unwrap();
    // All deliveries are claimed, except the second one of a session.
    assert_eq!((claims.claimed.len(), claims.more), (19, false));
    assert_eq!(trips, 3);

    let ids: Vec<_> = claims.claimed.into_iter().map(|work| work.row.id).collect();
    let ended = store.write_queue(move |conn| {
        Box::pin(async move {
            let before = conn.round_trips();
            let finish = finish();
            let ends = ids.iter().map(|id| DeliveryEnd {
                id,
                attempt: 1,
                finish: &finish,
            });
            let ended = conn
                .finish_deliveries("me", &ends.collect::<Vec<_>>())
                .await?;
            let messages: Vec<_> = (0..19).map(|n| message(n, "done")).collect();
            conn.insert_inbox_messages(&messages, 10)?;
            let claims = conn.claim_deliveries(&claim_request()).await?;
            Ok::<_, StoreError>((ended, claims, conn.round_trips() - before))
        })
    });
    let (ended, claims, trips) = ended.await.unwrap();
    assert_eq!(ended, [true; 19]);
    // The second delivery of the session may run now.
    let claimed: Vec<_> = claims.claimed.into_iter().map(|work| work.row.id).collect();
    assert_eq!(claimed, [id(3)]);
    assert_eq!(trips, 4);
    assert_eq!(texts(&store).await, ["done"; 10]);
    store.close().await;
}

#[tokio::test]
async fn permits_of_a_rate_limit_take_one_round_trip_before_the_commit() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let lease = |now| {
        store.write_limits(move |conn| {
            Box::pin(async move {
                let before = conn.round_trips();
                let request = RateRequest {
                    wanted: 3,
                    limit: 5,
                    window_ms: 60_000,
                };
                let lease = conn.lease_rate("a", request, at(now)).await?;
                Ok::<_, StoreError>((lease.granted, conn.round_trips() - before))
            })
        })
    };
    let hour = 3_600_000;
    assert_eq!(lease(2 * hour).await.unwrap(), (3, 1));
    assert_eq!(lease(2 * hour).await.unwrap(), (2, 1));
    // The clock was set back. The permits are moved, which takes another round trip.
    assert_eq!(lease(hour).await.unwrap(), (0, 2));
    assert_eq!(lease(hour + 61_000).await.unwrap(), (3, 1));
    store.close().await;
}
