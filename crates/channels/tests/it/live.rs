//! The cache of accounts.

use crate::harness::{actor, give_up, harness, harnesses, object};
use crate::vendor::Vendor;
use gatehouse_channels::{AccountChange, SendError};
use gatehouse_domain::Clock;
use serde_json::json;

/// A change without a notification is not visible, because accounts are loaded once and not for
/// each message.
#[tokio::test]
async fn accounts_stay_in_memory_until_something_changed() {
    for harness in harnesses().await {
        let vendor = Vendor::start(|_| (200, Vec::new(), String::new())).await;
        let fields = json!({ "topic": "first", "url": vendor.url("") });
        harness.create("ntfy", fields).await;
        let sent = async || {
            harness.send("ntfy", "x").await.unwrap();
            vendor.take_one().target
        };
        let rename = async |from: &'static str, to: &'static str, announce: bool| {
            let now = harness.clock.now();
            let write = harness.store.write(move |conn| {
                Box::pin(async move {
                    let mut row = conn.find_channel_account("ntfy").await?.unwrap();
                    row.fields = row.fields.replace(from, to);
                    conn.update_channel_account(&row).await?;
                    if announce {
                        conn.insert_change("channels", now).await?;
                    }
                    Ok::<_, gatehouse_store::StoreError>(())
                })
            });
            write.await.unwrap();
        };
        assert_eq!(sent().await, "/first");
        rename("first", "second", false).await;
        assert_eq!(sent().await, "/first");
        // The state after a change on another node.
        harness.channels.forget_accounts();
        assert_eq!(sent().await, "/second");
        rename("second", "third", true).await;
        assert_eq!(sent().await, "/third");
    }
}

#[tokio::test]
async fn each_change_is_seen_by_the_next_message() {
    let harness = harness().await;
    let vendor = Vendor::start(|_| (200, Vec::new(), String::new())).await;
    give_up(harness.send("ntfy", "x").await);
    for round in 0..3 {
        let fields = json!({ "topic": format!("t{round}"), "url": vendor.url("") });
        harness.create("ntfy", fields).await;
        harness.send("ntfy", "x").await.unwrap();
        assert_eq!(vendor.take_one().target, format!("/t{round}"));
        let change = AccountChange {
            fields: object(json!({ "topic": "other" })),
            ..AccountChange::default()
        };
        harness
            .channels
            .update(actor(), true, "ntfy", change)
            .await
            .unwrap();
        harness.send("ntfy", "x").await.unwrap();
        assert_eq!(vendor.take_one().target, "/other");
        harness.channels.delete(actor(), "ntfy").await.unwrap();
        give_up(harness.send("ntfy", "x").await);
    }
}

/// Secrets opened while the vault was unlocked are not used after it is sealed.
#[tokio::test]
async fn secrets_leave_memory_when_the_vault_is_sealed() {
    for harness in harnesses().await {
        harness.initialize_vault().await;
        let vendor = Vendor::start(|_| crate::vendor::answer(200, &json!({ "ok": true }))).await;
        let fields = json!({ "bot_token": "1:a", "chat_id": "1", "base_url": vendor.url("") });
        harness.create("telegram", fields).await;
        for _ in 0..2 {
            harness.send("telegram", "x").await.unwrap();
            harness.send("telegram", "y").await.unwrap();
            harness.seal().await;
            assert_eq!(harness.send("telegram", "x").await, Err(SendError::Sealed));
            harness.unseal().await;
        }
        harness.send("telegram", "x").await.unwrap();
        assert_eq!(vendor.take().len(), 5);
    }
}
