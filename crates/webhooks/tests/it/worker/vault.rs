//! Deliveries while the vault is sealed.

use super::harness::{Harness, everywhere, settings};
use super::retries::Receiver;
use gatehouse_domain::DeliveryStatus;
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;

/// 32 bytes, as Standard Webhooks requires.
const SIGNING: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

#[tokio::test]
async fn while_sealed_only_what_needs_a_secret_waits_and_it_uses_no_attempt() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.initialize_vault().await;
        let receiver = Receiver::start().await;
        let target = receiver
            .account(&harness, json!({ "secret": SIGNING }))
            .await;
        let secret = json!({ "deliver_only": true, "deliver_to": target });
        let needs = harness.webhook("a", secret).await;
        let free = harness.webhook("b", json!({ "deliver_only": true })).await;
        harness.seal().await;
        harness.work();
        harness.arrive(&needs, &[(1, "a"), (2, "a")]).await;
        let waiting = harness.until(1, DeliveryStatus::Queued).await;
        assert_eq!((waiting.attempts, waiting.next_attempt_at), (0, None));
        assert!(waiting.error.unwrap().contains("vault"));
        harness.arrive(&free, &[(3, "c")]).await;
        harness.until(3, DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        assert_eq!((receiver.count(), harness.row(1).await.attempts), (0, 0));
        harness.unseal().await;
        let order = harness.until_all(&[1, 2], DeliveryStatus::Completed).await;
        assert_eq!(order, [1, 2]);
        let row = harness.row(1).await;
        assert_eq!((row.attempts, row.error), (1, None));
        assert_eq!(receiver.count(), 2);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_waited_for_the_vault_runs_after_a_restart_too() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                max_attempts: 1,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        harness.initialize_vault().await;
        let receiver = Receiver::start().await;
        let target = receiver
            .account(&harness, json!({ "secret": SIGNING }))
            .await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        harness.seal().await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Queued).await;
        harness.stop().await;

        let again = Harness::open(&database, &model).await;
        again.work();
        again.worker_has_looked().await;
        assert_eq!(again.row(1).await.status, DeliveryStatus::Queued);
        again.unseal().await;
        again.until(1, DeliveryStatus::Completed).await;
        assert_eq!(receiver.count(), 1);
        again.stop().await;
    })
    .await;
}
