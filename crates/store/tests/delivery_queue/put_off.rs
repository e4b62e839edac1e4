//! Deliveries that a claim postpones because of a rate limit or because they cannot be read, and the deliveries
//! behind them.

use super::{Claims, at, delivery, finish, id, ids, insert, row};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::testing::rows::{MAKE_READABLE, make_unreadable};
use gatehouse_store::testing::{databases, run_sql};
use gatehouse_store::{ClaimRequest, NewDelivery, Pace, Store, Take, WAITS_FOR_RATE};

fn hook(n: u32) -> WebhookId {
    WebhookId::from_text(format!("hook_{n}"))
}

/// Returns a delivery that is due at `due`.
fn due(n: u32, session: &str, webhook: u32, due: i64) -> NewDelivery {
    NewDelivery {
        webhook_id: hook(webhook),
        next_attempt_at: Some(at(due)),
        ..delivery(n, session)
    }
}

/// Claims from the lines of these webhooks. The first has a rate limit.
async fn claim(
    store: &Store,
    now: i64,
    webhooks: &[u32],
    limit: usize,
    (room, next_at): (u32, i64),
) -> Claims {
    let takes = webhooks.iter().map(|webhook| Take {
        target: String::new(),
        webhook_id: hook(*webhook),
        limit,
    });
    let want = ClaimRequest {
        owner: "me".to_owned(),
        now: at(now),
        lease_until: at(now + 60_000),
        takes: takes.collect(),
        paced: vec![Pace {
            webhook_id: hook(1),
            room,
            next_at: at(next_at),
            per_minute: 1000,
        }],
    };
    store
        .write(move |conn| Box::pin(async move { conn.claim_deliveries(&want).await }))
        .await
        .unwrap()
}

#[tokio::test]
async fn what_is_behind_a_delivery_that_is_put_off_waits_for_it() {
    for database in databases().await {
        let store = database.open().await;
        // The younger delivery of the session is due earlier than the oldest.
        let all = vec![due(1, "a", 1, 30), due(2, "a", 1, 10), due(3, "b", 1, 20)];
        insert(&store, all).await;
        let claims = claim(&store, 100, &[1], 10, (0, 5000)).await;
        let postponed = Claims {
            postponed: true,
            ..Claims::default()
        };
        assert_eq!(claims, postponed);
        for n in [1, 3] {
            let waiting = row(&store, n).await;
            assert_eq!(waiting.next_attempt_at, Some(at(5000)), "{n}");
            assert_eq!(waiting.error.as_deref(), Some(WAITS_FOR_RATE), "{n}");
        }
        assert_eq!(row(&store, 2).await.next_attempt_at, None);

        let claims = claim(&store, 5000, &[1], 10, (5, 9000)).await;
        assert_eq!(ids(&claims), [id(1), id(3)]);
        assert!(finish(&store, 1, "me", 5001).await);
        let claims = claim(&store, 5001, &[1], 10, (5, 9000)).await;
        assert_eq!((ids(&claims), claims.more), (vec![id(2)], false));
        store.close().await;
    }
}

#[tokio::test]
async fn a_session_waits_in_every_line_while_its_oldest_delivery_is_put_off() {
    for database in databases().await {
        for webhooks in [[1, 2], [2, 1]] {
            let store = database.open().await;
            let session = format!("of {webhooks:?}");
            let base = webhooks[0] * 10;
            let all = vec![
                due(base + 1, &session, 1, 10),
                due(base + 2, &session, 2, 5),
                due(base + 3, &format!("{session} alone"), 2, 5),
            ];
            insert(&store, all).await;
            let claims = claim(&store, 100, &webhooks, 10, (0, 5000)).await;
            assert_eq!(ids(&claims), [id(base + 3)], "{webhooks:?}");
            assert_eq!(row(&store, base + 2).await.next_attempt_at, None);

            let claims = claim(&store, 5000, &webhooks, 10, (5, 9000)).await;
            assert_eq!(ids(&claims), [id(base + 1)]);
            assert!(finish(&store, base + 1, "me", 5001).await);
            let claims = claim(&store, 5001, &webhooks, 10, (5, 9000)).await;
            assert_eq!(ids(&claims), [id(base + 2)]);
            for n in [2, 3] {
                assert!(finish(&store, base + n, "me", 5002).await);
            }
            store.close().await;
        }
    }
}

#[tokio::test]
async fn a_claim_ends_even_if_what_it_puts_off_is_due_at_once() {
    const MANY: u32 = 300;
    for database in databases().await {
        let store = database.open().await;
        let all = (1..=MANY).map(|n| due(n, &n.to_string(), 1, i64::from(n)));
        insert(&store, all.collect()).await;
        let now = 1000;
        let mut calls = 0;
        loop {
            // The rate limit reports a time that has already passed.
            let claims = claim(&store, now, &[1], 8, (0, 10)).await;
            assert_eq!(ids(&claims), []);
            calls += 1;
            if !claims.more {
                break;
            }
            assert!(calls < 10);
        }
        for n in 1..=MANY {
            let next = row(&store, n).await.next_attempt_at;
            assert_eq!(next, Some(at(now + 1)), "{n}");
        }
        store.close().await;
    }
}

async fn oldest_unreadable(store: &Store, since: i64) -> Option<Timestamp> {
    store
        .read(move |conn| {
            Box::pin(async move { conn.find_oldest_unreadable_delivery(at(since)).await })
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn a_delivery_that_cannot_be_read_is_put_off_without_an_attempt_and_its_line_is_claimed() {
    for database in databases().await {
        let store = database.open().await;
        let all = vec![
            due(1, "a", 1, 10),
            due(2, "a", 1, 20),
            due(3, "b", 1, 30),
            due(4, "c", 2, 40),
        ];
        insert(&store, all).await;
        run_sql(
            &database.location,
            &make_unreadable(database.engine(), &id(1)),
        )
        .await;
        // The postponed delivery uses the only slot of its line in this claim.
        let claims = claim(&store, 100, &[1, 2], 1, (5, 100)).await;
        assert_eq!(ids(&claims), [id(4)]);
        assert!(claims.more && claims.postponed && claims.failed.is_empty());
        let claims = claim(&store, 100, &[1, 2], 1, (5, 100)).await;
        assert_eq!(ids(&claims), [id(3)]);
        assert_eq!(row(&store, 2).await.next_attempt_at, None);

        // The delivery is postponed again, and no other delivery is due.
        let claims = claim(&store, 60_100, &[1, 2], 5, (5, 100)).await;
        let postponed = Claims {
            postponed: true,
            ..Claims::default()
        };
        assert_eq!(claims, postponed);
        for (since, expected) in [(120_099, Some(at(1))), (120_100, None)] {
            assert_eq!(oldest_unreadable(&store, since).await, expected);
        }

        run_sql(&database.location, MAKE_READABLE).await;
        let waiting = row(&store, 1).await;
        assert_eq!(
            (waiting.status, waiting.attempts, waiting.next_attempt_at),
            (DeliveryStatus::Queued, 0, Some(at(120_100)))
        );
        assert_eq!((waiting.lease_owner, waiting.lease_until), (None, None));
        assert!(waiting.error.unwrap().contains("newer version"));
        let claims = claim(&store, 120_099, &[1, 2], 5, (5, 100)).await;
        assert_eq!(claims, Claims::default());
        let claims = claim(&store, 120_100, &[1, 2], 5, (5, 100)).await;
        let first = &claims.claimed.first().unwrap().row;
        assert_eq!((&first.id, first.attempts), (&id(1), 1));
        assert_eq!(first.error, None);
        assert_eq!(oldest_unreadable(&store, 0).await, None);
        assert!(finish(&store, 1, "me", 120_101).await);
        let claims = claim(&store, 120_101, &[1, 2], 5, (5, 100)).await;
        assert_eq!(ids(&claims), [id(2)]);
        store.close().await;
    }
}
