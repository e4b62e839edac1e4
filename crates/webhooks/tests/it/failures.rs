//! Tests for the failures and refusals that are kept until they are taken.

use crate::requests::{create, post};
use crate::worker::harness::{Harness, everywhere, settings};
use futures_util::future::join_all;
use gatehouse_domain::DeliveryStatus;
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use tokio::sync::broadcast::error::TryRecvError;

const BURST: usize = 5_000;

#[tokio::test]
async fn a_refusal_in_a_burst_of_accepted_deliveries_is_kept() {
    everywhere(async |database, model| {
        let ample = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 1_000_000,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, ample).await;
        let members = json!({
            "name": "n", "auth_mode": "none", "rate_limit_per_minute": 1_000_000,
            "session_mode": "per_delivery",
        });
        let webhook = create(&harness, members).await.webhook;
        let bodies: Vec<String> = (0..BURST).map(|n| format!("{{\"n\":{n}}}")).collect();
        let mut all = harness.webhooks.subscribe(|| true);
        let (before, after) = bodies.split_at(BURST / 2);
        for half in [before, after] {
            let sent = half.iter().map(|body| post(&harness, &webhook, &[], body));
            for outcome in join_all(sent).await {
                outcome.unwrap();
            }
            post(&harness, &webhook, &[], "{").await.unwrap_err();
        }
        let mut taken = harness.webhooks.next_failures().await;
        while taken.len() < 2 {
            taken.extend(harness.webhooks.next_failures().await);
        }
        let behind = all.try_recv();
        assert!(matches!(behind, Err(TryRecvError::Lagged(_))), "{behind:?}");
        for refused in &taken {
            assert_eq!(
                (&refused.webhook_id, refused.status, refused.count),
                (&webhook.id, DeliveryStatus::Rejected, 1)
            );
        }
        assert!(taken[0].first < taken[1].first, "in their order");
        assert!(harness.webhooks.take_failures().is_empty());
        harness.webhooks.return_failures(taken.clone());
        assert_eq!(harness.webhooks.take_failures(), taken);
        harness.stop().await;
    })
    .await;
}
