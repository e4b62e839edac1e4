//! Tests for stopping the worker.

use super::harness::{Harness, everywhere};
use gatehouse_domain::DeliveryStatus;
use serde_json::json;

#[tokio::test]
async fn a_run_that_does_not_end_in_time_goes_back_uncounted() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a"), (2, "a")]).await;
        model.until(1).await;
        harness.stop().await;

        let again = Harness::open(&database, &model).await;
        for n in [1, 2] {
            let row = again.row(n).await;
            assert_eq!(
                (row.status, row.attempts),
                (DeliveryStatus::Queued, 0),
                "{n}"
            );
            assert_eq!(row.lease_owner, None);
        }
        model.release(100);
        again.work();
        let order = again.until_all(&[1, 2], DeliveryStatus::Completed).await;
        assert_eq!(order, [1, 2]);
        assert_eq!(again.row(1).await.attempts, 1);
        again.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_that_ends_in_time_is_written_down() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness
            .arrive(&webhook, &[(1, "a"), (2, "a"), (3, "b")])
            .await;
        model.until(2).await;
        let stopping = harness.begin_to_stop();
        model.release(2);
        stopping.await;

        let again = Harness::open(&database, &model).await;
        assert_eq!(again.row(1).await.status, DeliveryStatus::Completed);
        assert_eq!(again.row(3).await.status, DeliveryStatus::Completed);
        let second = again.row(2).await;
        assert_eq!(
            (second.status, second.attempts),
            (DeliveryStatus::Queued, 0)
        );
        assert_eq!(model.seen().len(), 2, "nothing starts while stopping");
        again.stop().await;
    })
    .await;
}
