//! The metrics of sends.

use crate::harness::{NOW_MS, harness};
use gatehouse_channels::{Outgoing, Picture};
use gatehouse_domain::Timestamp;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::TcpListener;

#[tokio::test]
async fn each_send_is_counted_by_type_and_outcome() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    // A test's runtime has one thread.
    let _guard = metrics::set_default_local_recorder(&recorder);
    gatehouse_channels::metrics::describe();
    let harness = harness().await;
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    harness.create("http", json!({ "url": url })).await;
    harness.send("inbox", "one").await.unwrap();
    harness.send("inbox", "two").await.unwrap();
    harness.send("http", "three").await.unwrap_err();
    // Nothing was sent, and the name of the account is not a label.
    harness.send("http:nobody", "four").await.unwrap_err();
    let text = handle.render();
    let counted = text
        .lines()
        .filter(|line| line.starts_with("channels_sends_total{"));
    let mut counted: Vec<_> = counted.collect();
    counted.sort_unstable();
    assert_eq!(
        counted,
        [
            "channels_sends_total{type=\"http\",outcome=\"unreachable\"} 1",
            "channels_sends_total{type=\"inbox\",outcome=\"ok\"} 2",
        ]
    );
    assert!(text.contains("# HELP channels_sends_total "), "{text}");
}

#[tokio::test]
async fn each_picture_is_counted_by_type_and_outcome() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    gatehouse_channels::metrics::describe();
    let harness = harness().await;
    let picture = Picture::of(b"GIF89a".to_vec().into(), None).unwrap();
    let message = Outgoing {
        target: "log",
        text: "text",
        is_json: false,
        extra: &BTreeMap::new(),
        source: "deploys",
        at: Timestamp::from_millis(NOW_MS),
        delivery: None,
        pictures: &[picture],
        links: &[],
    };
    harness.channels.send(message).await.unwrap();
    let text = handle.render();
    let counted = "channels_pictures_total{type=\"log\",outcome=\"refused\"} 1";
    assert!(text.contains(counted), "{text}");
    assert!(text.contains("# HELP channels_pictures_total "), "{text}");
}
