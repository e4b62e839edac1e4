//! A channel without markup receives texts unchanged.

use crate::corpus::corpus;
use crate::senders::{Shape, Target, ample, ended};
use crate::worker::harness::Harness;
use crate::worker::model;
use futures_util::future::join_all;
use gatehouse_channels::InboxFilter;
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::testing::sqlite;
use serde_json::json;

#[tokio::test]
async fn the_inbox_holds_the_very_same_texts() {
    let database = sqlite();
    let harness = Harness::open_with(&database, &model::start().await, ample()).await;
    let more = json!({ "deliver_only": true, "prompt_template": "{title}" });
    let target = Target::create(&harness, "generic", more).await;
    harness.work();
    let entries = corpus(80);
    let deliver = |(number, text)| target.send(&harness, Shape::Generic, number, text);
    let texts = entries.iter().map(|entry| entry.text.as_str());
    let ids = join_all(texts.enumerate().map(deliver)).await;
    for delivery in ended(&harness, &ids).await {
        assert_eq!(delivery.status, DeliveryStatus::Completed, "{delivery:?}");
    }
    let page = harness
        .channels
        .list_inbox(&InboxFilter::default(), 10_000, None)
        .await
        .unwrap();
    let mut read: Vec<_> = page.messages.into_iter().map(|m| m.text).collect();
    // PostgreSQL cannot store NUL; both engines store its replacement.
    let texts = entries
        .into_iter()
        .map(|e| e.text.replace('\0', "\u{fffd}"));
    let mut sent: Vec<String> = texts.collect();
    read.sort_unstable();
    sent.sort_unstable();
    assert_eq!(read, sent);
    harness.stop().await;
}
