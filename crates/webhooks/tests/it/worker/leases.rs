//! Tests for which node may record the end of a delivery.

use super::harness::{Harness, everywhere, id, leave_in_work, settings};
use super::model::{self, FakeModel};
use gatehouse_agents::{AgentEvent, Agents, Stop};
use gatehouse_domain::DeliveryStatus;
use gatehouse_doubles::openai::{call, say};
use gatehouse_store::testing::{TestDatabase, number, postgres, run_sql, until_waits_for};
use gatehouse_store::{Store, StoreError};
use gatehouse_webhooks::{Delivery, WebhooksSettings};
use serde_json::json;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

#[tokio::test]
async fn a_lease_is_renewed_while_the_run_continues() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        let first = harness.row(1).await.lease_until.unwrap();
        for _ in 0..10 {
            harness.advance(Duration::from_secs(20));
            harness.worker_has_looked().await;
        }
        let row = harness.row(1).await;
        assert_eq!((row.status, row.attempts), (DeliveryStatus::Processing, 1));
        assert!(row.lease_until.unwrap() >= first.after(Duration::from_mins(3)));
        model.release(1);
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!((done.attempts, done.duration_ms), (1, Some(200_000)));
        harness.stop().await;
    })
    .await;
}

/// If another node took over the lease of a run, the run writes nothing, and the other node's result is kept.
#[tokio::test]
async fn who_lost_the_lease_writes_nothing_and_stops() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                agent_workers: 1,
                send_workers: 1,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        let other = harness.webhook("b", json!({ "deliver_only": true })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        run_sql(
            &database.location,
            "UPDATE webhook_deliveries SET lease_owner = 'another node', attempts = 2",
        )
        .await;
        harness.advance(Duration::from_secs(20));
        // The only slot is free again.
        harness.arrive(&other, &[(2, "b")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        let row = harness.row(1).await;
        assert_eq!(row.status, DeliveryStatus::Processing);
        assert_eq!(row.lease_owner.as_deref(), Some("another node"));
        // The other node also dies. After a full lease without renewal, its delivery is taken over.
        model.release(10);
        harness.advance(Duration::from_mins(1));
        let queued = harness.until(1, DeliveryStatus::Queued).await;
        assert_eq!(queued.attempts, 2);
        harness.advance(Duration::from_secs(12));
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(done.attempts, 3);
        harness.stop().await;
    })
    .await;
}

/// A clock jump does not make a live node lose its leases.
#[tokio::test]
async fn a_jump_of_the_clock_neither_loses_nor_doubles() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        for days in [400, -400] {
            harness.jump_days(days);
            harness.webhooks.wake();
            harness.worker_has_looked().await;
        }
        assert_eq!(harness.row(1).await.attempts, 1);
        model.release(10);
        harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(model.seen().len(), 1);
        harness.jump_days(800);
        harness.arrive(&webhook, &[(2, "b")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_stored_before_the_clock_was_set_back_runs_now() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.jump_days(-30);
        harness.work();
        harness.until(1, DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

/// Counts the reads of leases that wait for a lock.
const READING: &str = "SELECT COUNT(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE 'SELECT id, lease_owner, lease_until%'";

async fn until_some(database: &TestDatabase, sql: &str) {
    while number(&database.location, sql).await == 0 {
        tokio::task::yield_now().await;
    }
}

/// A lease that is renewed during a slow read is not considered expired, even if the read takes as long as a lease.
#[tokio::test]
async fn a_lease_that_is_renewed_during_a_slow_read_holds() {
    let Some(database) = postgres().await else {
        return;
    };
    let model = model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
    harness.work();
    harness.worker_has_looked().await;
    harness.arrive_parked(&webhook, 1, "a").await;
    leave_in_work(&database, 1, 1).await;
    let renew = "BEGIN; LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
        UPDATE webhook_deliveries SET lease_until = 7; SELECT pg_sleep(3); COMMIT";
    let lease = Duration::from_mins(1);
    let reading = async {
        until_waits_for(&database.location, "PgSleep").await;
        harness.webhooks.wake();
        until_some(&database, READING).await;
        harness.clock.advance(lease);
    };
    tokio::join!(run_sql(&database.location, renew), reading);
    harness.worker_has_looked().await;
    harness.advance(lease.saturating_sub(Duration::from_millis(1)));
    harness.worker_has_looked().await;
    assert_eq!(harness.row(1).await.attempts, 1);
    harness.advance(Duration::from_millis(1));
    harness.until(1, DeliveryStatus::Completed).await;
    assert_eq!(harness.row(1).await.attempts, 2);
    harness.stop().await;
}

/// A running node keeps its deliveries, no matter how long they take.
#[tokio::test]
async fn a_lease_that_is_renewed_elsewhere_holds() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.work();
        harness.worker_has_looked().await;
        harness.arrive_parked(&webhook, 1, "a").await;
        leave_in_work(&database, 1, 1).await;
        for step in 0..10 {
            let sql = format!("UPDATE webhook_deliveries SET lease_until = {step}");
            run_sql(&database.location, &sql).await;
            harness.advance(Duration::from_secs(40));
            harness.worker_has_looked().await;
        }
        assert_eq!(harness.row(1).await.attempts, 1);
        harness.advance(Duration::from_mins(1));
        harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(harness.row(1).await.attempts, 2);
        harness.stop().await;
    })
    .await;
}

/// The error that is stored for a run whose next request was refused because its lease may have expired.
const EXPIRED: &str = "could not renew its lease";

/// How often a held transaction sends a statement. PostgreSQL ends a transaction that is idle for three seconds.
const HOLDING: Duration = Duration::from_secs(1);

/// Prevents all nodes from changing the queue until `meanwhile` has ended, like a slow database.
async fn without_queue_writes(store: &Store, meanwhile: impl Future<Output = ()>) {
    let (hold, is_held) = oneshot::channel();
    let (release, mut released) = oneshot::channel::<()>();
    let holding = store.write_queue(move |conn| {
        Box::pin(async move {
            // Takes the lock of the queue.
            conn.find_last_change().await?;
            hold.send(()).unwrap();
            // An error means that `release` was dropped.
            while timeout(HOLDING, &mut released).await.is_err() {
                conn.find_last_change().await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    let work = async {
        is_held.await.unwrap();
        meanwhile.await;
        drop(release);
    };
    let (ended, ()) = tokio::join!(holding, work);
    ended.unwrap();
}

/// Waits until a turn of this node ends.
async fn end_of_turn(agents: &Agents, begin: impl FnOnce()) -> Stop {
    let mut events = agents.subscribe();
    begin();
    loop {
        if let AgentEvent::Done(done) = events.recv().await.unwrap() {
            return done.stop;
        }
    }
}

/// Returns a node whose delivery 1 waits for the model, which will call a tool. The next request of the run is its
/// second.
async fn waiting_for_the_model(database: &TestDatabase, max_attempts: u32) -> (Harness, FakeModel) {
    let model = FakeModel::answering(|_| say("done")).await;
    model.will([call("nothing", &json!({}))]);
    model.hold();
    let wanted = WebhooksSettings {
        section: gatehouse_config::Webhooks {
            max_attempts,
            ..gatehouse_config::Webhooks::default()
        },
        ..settings()
    };
    let harness = Harness::open_with(database, &model, wanted).await;
    let webhook = harness.webhook("a", json!({})).await;
    harness.work();
    harness.arrive(&webhook, &[(1, "a")]).await;
    model.until(1).await;
    (harness, model)
}

/// Lets the lease expire while the node cannot renew it, and then runs `take_over`. The run ends at its second
/// request, which is not sent.
async fn end_without_lease(
    database: &TestDatabase,
    (harness, model): (&Harness, &FakeModel),
    take_over: Option<&str>,
) {
    let other = database.open().await;
    let ending = async {
        harness.clock.advance(Duration::from_secs(61));
        if let Some(sql) = take_over {
            run_sql(&database.location, sql).await;
        }
        let stop = end_of_turn(&harness.agents, || model.release(1)).await;
        assert_eq!(stop, Stop::Interrupted);
    };
    without_queue_writes(&other, ending).await;
    other.close().await;
    assert_eq!(model.seen().len(), 1, "the second request was sent");
}

async fn shown(harness: &Harness) -> Delivery {
    let found = harness.webhooks.delivery(id(1).as_str()).await;
    found.unwrap()
}

#[tokio::test]
async fn a_run_without_its_lease_is_recorded_and_repeated() {
    let Some(database) = postgres().await else {
        return;
    };
    let (harness, model) = waiting_for_the_model(&database, 2).await;
    end_without_lease(&database, (&harness, &model), None).await;
    let queued = harness.until(1, DeliveryStatus::Queued).await;
    assert_eq!(queued.attempts, 1);
    assert!(queued.error.unwrap().contains(EXPIRED));
    let waiting = shown(&harness).await;
    let [failed] = waiting.failed_attempts.as_slice() else {
        panic!("{waiting:?}");
    };
    assert_eq!(failed.attempt, 1);
    assert!(failed.error.contains(EXPIRED), "{}", failed.error);

    model.release(10);
    harness.advance(Duration::from_secs(12));
    let done = harness.until(1, DeliveryStatus::Completed).await;
    assert_eq!((done.attempts, done.error), (2, None));
    assert_eq!(model.seen().len(), 2);
    harness.stop().await;
}

#[tokio::test]
async fn the_last_run_of_a_delivery_that_ends_without_its_lease_fails_it() {
    let Some(database) = postgres().await else {
        return;
    };
    let (harness, model) = waiting_for_the_model(&database, 1).await;
    end_without_lease(&database, (&harness, &model), None).await;
    let failed = harness.until(1, DeliveryStatus::Failed).await;
    assert_eq!(failed.attempts, 1);
    assert!(failed.error.unwrap().contains(EXPIRED));
    harness.stop().await;
}

/// The other node has taken over the lease before this run ends.
#[tokio::test]
async fn a_run_that_ends_after_its_lease_was_taken_over_changes_nothing() {
    let Some(database) = postgres().await else {
        return;
    };
    let (harness, model) = waiting_for_the_model(&database, 12).await;
    let take_over = "UPDATE webhook_deliveries SET lease_owner = 'another node', attempts = 2";
    end_without_lease(&database, (&harness, &model), Some(take_over)).await;
    // The node checks the leases of other nodes at most once per second.
    harness.advance(Duration::from_secs(2));
    harness.worker_has_looked().await;
    let row = harness.row(1).await;
    assert_eq!(
        (row.status, row.attempts, row.error),
        (DeliveryStatus::Processing, 2, None)
    );
    assert_eq!(row.lease_owner.as_deref(), Some("another node"));
    assert!(shown(&harness).await.failed_attempts.is_empty());

    // The other node also dies. The delivery is not lost, and completes once.
    model.release(10);
    harness.advance(Duration::from_mins(1));
    let queued = harness.until(1, DeliveryStatus::Queued).await;
    assert_eq!(queued.attempts, 2);
    harness.advance(Duration::from_secs(12));
    let done = harness.until(1, DeliveryStatus::Completed).await;
    assert_eq!(done.attempts, 3);
    assert_eq!(model.seen().len(), 2);
    harness.stop().await;
}
