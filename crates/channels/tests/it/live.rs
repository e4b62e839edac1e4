//! The cache of accounts.

use crate::harness::{actor, give_up, object, room, rooms};
use crate::vendor::Vendor;
use gatehouse_channels::{AccountChange, SendError};
use gatehouse_domain::Clock;
use serde_json::json;

/// A change without a notification is not visible: accounts are loaded once, not for each message.
#[tokio::test]
async fn accounts_stay_in_memory_until_something_changed() {
    for room in rooms().await {
        let vendor = Vendor::start(|_| (200, Vec::new(), String::new())).await;
        let fields = json!({ "topic": "first", "url": vendor.url("") });
        room.create("ntfy", fields).await;
        let sent = async || {
            room.send("ntfy", "x").await.unwrap();
            vendor.take_one().target
        };
        let rename = async |from: &'static str, to: &'static str, announce: bool| {
            let now = room.clock.now();
            let write = room.store.write(move |conn| {
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
        // As after a change on another node.
        room.channels.forget_accounts();
        assert_eq!(sent().await, "/second");
        rename("second", "third", true).await;
        assert_eq!(sent().await, "/third");
    }
}

#[tokio::test]
async fn each_change_is_seen_by_the_next_message() {
    let room = room().await;
    let vendor = Vendor::start(|_| (200, Vec::new(), String::new())).await;
    give_up(room.send("ntfy", "x").await);
    for round in 0..3 {
        let fields = json!({ "topic": format!("t{round}"), "url": vendor.url("") });
        room.create("ntfy", fields).await;
        room.send("ntfy", "x").await.unwrap();
        assert_eq!(vendor.take_one().target, format!("/t{round}"));
        let change = AccountChange {
            fields: object(json!({ "topic": "other" })),
            ..AccountChange::default()
        };
        room.channels
            .update(actor(), true, "ntfy", change)
            .await
            .unwrap();
        room.send("ntfy", "x").await.unwrap();
        assert_eq!(vendor.take_one().target, "/other");
        room.channels.delete(actor(), "ntfy").await.unwrap();
        give_up(room.send("ntfy", "x").await);
    }
}

/// Secrets opened while the vault was unlocked are not used after it is sealed.
#[tokio::test]
async fn secrets_leave_memory_when_the_vault_is_sealed() {
    for room in rooms().await {
        room.initialize_vault().await;
        let vendor = Vendor::start(|_| crate::vendor::answer(200, &json!({ "ok": true }))).await;
        let fields = json!({ "bot_token": "1:a", "chat_id": "1", "base_url": vendor.url("") });
        room.create("telegram", fields).await;
        for _ in 0..2 {
            room.send("telegram", "x").await.unwrap();
            room.send("telegram", "y").await.unwrap();
            room.seal().await;
            assert!(room.channels.needs_vault("telegram").await);
            assert_eq!(room.send("telegram", "x").await, Err(SendError::Sealed));
            room.unseal().await;
        }
        room.send("telegram", "x").await.unwrap();
        assert_eq!(vendor.take().len(), 5);
    }
}
