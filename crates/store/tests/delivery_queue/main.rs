//! The delivery queue on every available engine.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod counts;
mod list;
mod put_off;
mod waits;

use gatehouse_domain::{
    DeliveryId, DeliveryStatus, ManualClock, SeededRandom, Timestamp, WebhookId,
};
use gatehouse_store::testing::rows::{at, queued_delivery};
use gatehouse_store::testing::{databases, run_sql};
use gatehouse_store::{
    ClaimRequest, Claims, Conn, DeliveryFilter, DeliveryFinish, DeliveryLine, DeliveryPage,
    DeliveryRequeue, DeliveryResponse, DeliveryRow, Durations, LeaseRow, NewDelivery, Pace,
    RELEASED_AT_ONCE, Store, StoreError, Take, WAITS_FOR_BUDGET, WAITS_FOR_RATE, WAITS_FOR_RELEASE,
    WAITS_FOR_VAULT,
};
use std::collections::HashSet;

/// IDs sort like their numbers.
fn id(n: u32) -> DeliveryId {
    DeliveryId::from_text(format!("del_{n:08}"))
}

fn delivery(n: u32, session: &str) -> NewDelivery {
    NewDelivery {
        id: id(n),
        session_key: session.to_owned(),
        ..queued_delivery(n)
    }
}

async fn insert(store: &Store, new: Vec<NewDelivery>) {
    store
        .write(move |conn: &mut Conn| Box::pin(async move { conn.insert_deliveries(&new).await }))
        .await
        .unwrap();
}

/// Claims up to `limit` deliveries from each line.
async fn claim(store: &Store, owner: &str, now: i64, limit: usize) -> Claims {
    let lines = lines(store).await;
    let take = |line: DeliveryLine| Take {
        target: line.target,
        webhook_id: line.webhook_id,
        limit,
    };
    let want = ClaimRequest {
        owner: owner.to_owned(),
        now: at(now),
        lease_until: at(now + 60_000),
        takes: lines.into_iter().map(take).collect(),
        paced: Vec::new(),
    };
    store
        .write(move |conn| Box::pin(async move { conn.claim_deliveries(&want).await }))
        .await
        .unwrap()
}

async fn lines(store: &Store) -> Vec<DeliveryLine> {
    store
        .read(|conn| Box::pin(async move { conn.list_delivery_lines(None, 100).await }))
        .await
        .unwrap()
}

/// Returns when the first delivery is due.
async fn next_due(store: &Store) -> Option<Timestamp> {
    lines(store).await.iter().map(|line| line.due).min()
}

fn ids(claims: &Claims) -> Vec<DeliveryId> {
    claims
        .claimed
        .iter()
        .map(|work| work.row.id.clone())
        .collect()
}

/// Returns the numbers of the claimed deliveries, in order.
async fn claimed(store: &Store, owner: &str, now: i64, limit: usize) -> Vec<u32> {
    let claims = claim(store, owner, now, limit).await;
    ids(&claims).iter().map(number).collect()
}

fn number(id: &DeliveryId) -> u32 {
    id.as_str().trim_start_matches("del_").parse().unwrap()
}

fn ended(status: DeliveryStatus, now: i64) -> DeliveryFinish {
    DeliveryFinish {
        status,
        finished_at: at(now),
        session_id: None,
        input_tokens: Some(3),
        output_tokens: Some(4),
        error: None,
        response_actions: Some("[]".to_owned()),
        delivered_at: None,
        outcome: None,
        channel: None,
        response: DeliveryResponse::default(),
    }
}

async fn finish(store: &Store, n: u32, owner: &'static str, now: i64) -> bool {
    let attempt = row(store, n).await.attempts;
    finish_attempt(store, n, owner, attempt, now).await
}

async fn finish_attempt(
    store: &Store,
    n: u32,
    owner: &'static str,
    attempt: i64,
    now: i64,
) -> bool {
    store
        .write(move |conn| {
            Box::pin(async move {
                let ended = ended(DeliveryStatus::Completed, now);
                conn.finish_delivery(&id(n), owner, attempt, &ended).await
            })
        })
        .await
        .unwrap()
}

async fn requeue(store: &Store, n: u32, owner: &'static str, requeue: DeliveryRequeue) -> bool {
    let attempt = row(store, n).await.attempts;
    store
        .write(move |conn| {
            Box::pin(async move {
                conn.requeue_delivery(&id(n), owner, attempt, &requeue)
                    .await
            })
        })
        .await
        .unwrap()
}

async fn row(store: &Store, n: u32) -> DeliveryRow {
    store
        .read(move |conn| Box::pin(async move { conn.find_delivery(id(n).as_str()).await }))
        .await
        .unwrap()
        .unwrap()
}

fn later(millis: Option<i64>) -> DeliveryRequeue {
    DeliveryRequeue {
        next_attempt_at: millis.map(at),
        uncount: false,
        error: Some("busy".to_owned()),
        session_id: None,
    }
}

#[tokio::test]
async fn one_session_runs_in_order_and_others_beside_it() {
    for database in databases().await {
        let store = database.open().await;
        let sessions = ["a", "b", "a", "c", "a", "b"];
        let all = (1..).zip(sessions).map(|(n, session)| delivery(n, session));
        insert(&store, all.collect()).await;
        assert_eq!(claimed(&store, "me", 100, 10).await, [1, 2, 4]);
        assert_eq!(claimed(&store, "me", 100, 10).await, [0; 0]);
        assert!(finish(&store, 1, "me", 100).await);
        assert_eq!(claimed(&store, "me", 100, 10).await, [3]);
        assert!(finish(&store, 3, "me", 100).await);
        assert!(finish(&store, 2, "me", 100).await);
        assert_eq!(claimed(&store, "me", 101, 1).await.len(), 1);
        assert_eq!(claimed(&store, "me", 101, 10).await.len(), 1);
        let first = row(&store, 1).await;
        assert_eq!(first.status, DeliveryStatus::Completed);
        assert_eq!((first.attempts, first.finished_at), (1, Some(at(100))));
        assert_eq!((first.lease_owner, first.lease_until), (None, None));
        store.close().await;
    }
}

#[tokio::test]
async fn a_claim_takes_what_is_due_and_no_more_than_asked_for() {
    for database in databases().await {
        let store = database.open().await;
        let all = (1..=10).map(|n| delivery(n, &n.to_string())).collect();
        insert(&store, all).await;
        let claims = claim(&store, "me", 7, 3).await;
        assert_eq!(ids(&claims), [id(1), id(2), id(3)]);
        assert!(claims.more, "4 to 7 are due");
        let claims = claim(&store, "me", 7, 10).await;
        assert_eq!(ids(&claims), [id(4), id(5), id(6), id(7)], "8 is not due");
        assert!(!claims.more);
        assert_eq!(next_due(&store).await, Some(at(8)));
        store.close().await;
    }
}

#[tokio::test]
async fn what_waits_for_a_retry_holds_its_session_back() {
    for database in databases().await {
        let store = database.open().await;
        insert(&store, vec![delivery(1, "a"), delivery(2, "a")]).await;
        assert_eq!(claimed(&store, "me", 10, 5).await, [1]);
        assert!(requeue(&store, 1, "me", later(Some(500))).await);
        assert_eq!(claimed(&store, "me", 499, 5).await, [0; 0]);
        assert_eq!(claimed(&store, "me", 500, 5).await, [1]);
        let again = row(&store, 1).await;
        assert_eq!((again.attempts, again.error.as_deref()), (2, Some("busy")));
        assert!(finish(&store, 1, "me", 501).await);
        assert_eq!(claimed(&store, "me", 501, 5).await, [2]);
        store.close().await;
    }
}

#[tokio::test]
async fn thousands_that_wait_for_one_are_read_once() {
    const MANY: u32 = 10_000;
    for database in databases().await {
        let store = database.open().await;
        insert(&store, (1..=MANY).map(|n| delivery(n, "one")).collect()).await;
        let late = i64::from(MANY) + 1;
        insert(&store, vec![delivery(MANY + 1, "other")]).await;
        let mut calls = 0;
        let mut found = Vec::new();
        loop {
            let claims = claim(&store, "me", late, 4).await;
            found.extend(ids(&claims).iter().map(number));
            calls += 1;
            if !claims.more {
                break;
            }
        }
        assert_eq!(found, [1, MANY + 1]);
        assert!(
            (60..=120).contains(&calls),
            "each parks a bounded part: {calls}"
        );
        // From here on, these deliveries cost nothing: none is due until the first one ends.
        for n in 1..=5 {
            assert_eq!(next_due(&store).await, None);
            assert!(finish(&store, n, "me", late).await);
            let claims = claim(&store, "me", late, 4).await;
            assert_eq!((ids(&claims), claims.more), (vec![id(n + 1)], false));
        }
        let waiting = store
            .read(|conn| Box::pin(async move { conn.count_queued_deliveries().await }))
            .await
            .unwrap();
        assert_eq!(waiting, i64::from(MANY) - 6);
        store.close().await;
    }
}

#[tokio::test]
async fn nodes_that_share_a_database_never_claim_the_same() {
    for database in databases().await {
        let nodes = [
            database.open().await,
            database.open().await,
            database.open().await,
        ];
        let all = (1..=300)
            .map(|n| delivery(n, &(n % 100).to_string()))
            .collect();
        insert(&nodes[0], all).await;
        let claims = (0..60).map(|n| {
            let store = &nodes[n % 3];
            async move { ids(&claim(store, &n.to_string(), 1000, 2).await) }
        });
        let all: Vec<DeliveryId> = futures_util::future::join_all(claims)
            .await
            .into_iter()
            .flatten()
            .collect();
        let different: HashSet<_> = all.iter().collect();
        assert_eq!(
            (all.len(), different.len()),
            (100, 100),
            "{:?}",
            database.engine()
        );
        for store in nodes {
            store.close().await;
        }
    }
}

#[tokio::test]
async fn who_lost_the_lease_changes_nothing() {
    for database in databases().await {
        let store = database.open().await;
        insert(&store, vec![delivery(1, "a")]).await;
        assert_eq!(claimed(&store, "old", 10, 5).await, [1]);
        assert!(requeue(&store, 1, "old", later(Some(20))).await);
        assert_eq!(claimed(&store, "new", 20, 5).await, [1]);
        assert!(!finish(&store, 1, "old", 30).await);
        assert!(!requeue(&store, 1, "old", later(None)).await);
        assert!(
            !finish_attempt(&store, 1, "new", 1, 30).await,
            "an earlier attempt"
        );
        let renewed = store
            .write(|conn| {
                Box::pin(async move {
                    let old = conn.renew_leases("old", at(900)).await?;
                    Ok::<_, StoreError>((old, conn.renew_leases("new", at(999)).await?))
                })
            })
            .await
            .unwrap();
        assert_eq!(renewed, (vec![], vec![(id(1), 2)]));
        let leases = store
            .read(|conn| Box::pin(async move { conn.list_leases().await }))
            .await
            .unwrap();
        let expected = LeaseRow {
            id: id(1),
            owner: "new".to_owned(),
            until: at(999),
            attempts: 2,
        };
        assert_eq!(leases, [expected]);
        assert!(finish(&store, 1, "new", 30).await);
        assert!(!finish(&store, 1, "new", 31).await);
        store.close().await;
    }
}

#[tokio::test]
async fn deliveries_of_a_deleted_webhook_neither_run_nor_hold_others_back() {
    for database in databases().await {
        let store = database.open().await;
        let mut kept = delivery(3, "shared");
        kept.webhook_id = WebhookId::from_text("hook_2");
        let mut sealed = delivery(4, "sealed");
        sealed.next_attempt_at = None;
        insert(
            &store,
            vec![delivery(1, "shared"), delivery(2, "shared"), kept, sealed],
        )
        .await;
        store
            .write(|conn| {
                Box::pin(async move { conn.insert_webhook_removal("hook_1", at(5)).await })
            })
            .await
            .unwrap();
        assert_eq!(claimed(&store, "me", 10, 5).await, [3]);
        store.close().await;
    }
}

/// A long line must not hide the deliveries of other lines.
#[tokio::test]
async fn each_line_is_claimed_separately() {
    for database in databases().await {
        let store = database.open().await;
        let of = |n, hook: &str, target: &str| NewDelivery {
            webhook_id: WebhookId::from_text(hook),
            target: Some(target.into()),
            ..delivery(n, &n.to_string())
        };
        let mut all: Vec<_> = (1..=300).map(|n| of(n, "hook_1", "http:a")).collect();
        all.extend([
            of(400, "hook_2", "http:a"),
            of(401, "hook_1", ""),
            of(402, "hook_3", "inbox"),
        ]);
        all.push(NewDelivery {
            next_attempt_at: None,
            ..of(403, "hook_4", "inbox")
        });
        all.push(NewDelivery {
            target: None,
            ..of(404, "hook_5", "")
        });
        insert(&store, all).await;
        let line = |hook: &str, target: &str, due| DeliveryLine {
            target: target.to_owned(),
            webhook_id: WebhookId::from_text(hook),
            due: at(due),
        };
        let expected = [
            line("hook_1", "", 401),
            line("hook_1", "http:a", 1),
            line("hook_2", "http:a", 400),
            line("hook_3", "inbox", 402),
        ];
        assert_eq!(lines(&store).await, expected);
        let after = expected[1].clone();
        let page = store
            .read(|conn| Box::pin(async move { conn.list_delivery_lines(Some(&after), 1).await }))
            .await;
        assert_eq!(page.unwrap(), expected[2..3]);
        let claims = claim(&store, "me", 1000, 2).await;
        assert_eq!(ids(&claims), [401, 1, 2, 400, 402].map(id));
        assert!(claims.more, "3 is due");
        let works = claims.claimed.iter();
        let targets: Vec<_> = works
            .map(|work| work.row.target.as_deref().unwrap())
            .collect();
        assert_eq!(targets, ["", "http:a", "http:a", "http:a", "inbox"]);
        store.close().await;
    }
}
