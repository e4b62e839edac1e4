//! Tests for the metrics.

use super::crashes::let_the_lease_end;
use super::harness::{Harness, everywhere, leave_in_work};
use gatehouse_domain::{DeliveryStatus, WebhookId};
use gatehouse_webhooks::metrics;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;
use std::time::Duration;

#[test]
fn all_metrics_are_there_from_the_start() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    ::metrics::with_local_recorder(&recorder, metrics::describe);
    let text = handle.render();
    for (name, kind) in [
        ("webhooks_deliveries_total", "counter"),
        ("webhooks_deliveries_rejected_total", "counter"),
        ("webhooks_deliveries_filtered_total", "counter"),
        ("webhooks_processing_duration_seconds", ""),
        ("webhooks_response_actions_total", "counter"),
        ("webhooks_rate_limited_total", "counter"),
        ("webhooks_worker_queue_depth", "gauge"),
        ("webhooks_lease_takeovers_total", "counter"),
    ] {
        assert!(metrics::NAMES.contains(&name));
        assert!(
            text.contains(&format!("# TYPE {name} {kind}")),
            "{name}\n{text}"
        );
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
    }
}

#[test]
fn labels_have_few_values() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    ::metrics::with_local_recorder(&recorder, || {
        let completed = DeliveryStatus::Completed;
        let webhook = WebhookId::from_text("hook_a");
        metrics::delivery(&webhook, completed, Some("push"));
        metrics::delivery(&webhook, completed, Some("a sender's own"));
        metrics::delivery(&webhook, completed, None);
        metrics::delivery(&webhook, completed, Some("pull_request.reopened"));
        metrics::response_action("calc", "ok");
        metrics::response_action("whatever a model calls", "denied");
        metrics::rejected("wrong_signature");
        metrics::filtered(&webhook);
        metrics::rate_limited(&webhook);
        metrics::processing_duration(1500);
        metrics::queue_depth(3);
        metrics::oldest_waiting(Some(Duration::from_millis(2_500)));
    });
    let text = handle.render();
    for line in [
        r#"webhooks_deliveries_total{webhook="hook_a",status="completed",event_type="push"} 1"#,
        r#"webhooks_deliveries_total{webhook="hook_a",status="completed",event_type="other"} 2"#,
        r#"webhooks_deliveries_total{webhook="hook_a",status="completed",event_type="pull_request.reopened"} 1"#,
        r#"webhooks_response_actions_total{tool="calc",status="ok"} 1"#,
        r#"webhooks_response_actions_total{tool="other",status="denied"} 1"#,
        r#"webhooks_deliveries_rejected_total{reason="wrong_signature"} 1"#,
        r#"webhooks_deliveries_filtered_total{webhook="hook_a"} 1"#,
        r#"webhooks_rate_limited_total{webhook="hook_a"} 1"#,
        "webhooks_processing_duration_seconds_sum 1.5",
        "webhooks_worker_queue_depth 3",
        "webhooks_oldest_waiting_seconds 2.5",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn an_unknown_wait_is_not_a_number() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    ::metrics::with_local_recorder(&recorder, || metrics::oldest_waiting(None));
    let text = handle.render();
    assert!(
        text.contains("webhooks_oldest_waiting_seconds NaN"),
        "{text}"
    );
}

#[tokio::test]
async fn a_delivery_of_a_process_that_ended_is_taken_over_and_counted() {
    everywhere(|database, model| async move {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        // The runtime of a test has one thread, so a thread-local recorder receives all metrics.
        let _guard = ::metrics::set_default_local_recorder(&recorder);
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.arrive(&webhook, &[(1, "a"), (2, "b")]).await;
        leave_in_work(&database, 1, 1).await;
        harness.work();
        let_the_lease_end(&harness).await;
        harness.until_all(&[1, 2], DeliveryStatus::Completed).await;
        let text = handle.render();
        assert!(
            text.contains("\nwebhooks_lease_takeovers_total 1\n"),
            "{text}"
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_depth_counts_what_waits_and_not_what_runs() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        harness
            .arrive(&webhook, &[(1, "a"), (2, "a"), (3, "b")])
            .await;
        assert_eq!(harness.webhooks.queue_depth().await.unwrap(), 3);
        model.hold();
        harness.work();
        harness.until_all(&[1, 3], DeliveryStatus::Processing).await;
        assert_eq!(harness.webhooks.queue_depth().await.unwrap(), 1);
        model.release(10);
        harness
            .until_all(&[1, 2, 3], DeliveryStatus::Completed)
            .await;
        assert_eq!(harness.webhooks.queue_depth().await.unwrap(), 0);
        harness.stop().await;
    })
    .await;
}
