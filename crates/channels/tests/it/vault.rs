//! Account secrets and the vault.

use crate::harness::{actor, blame, harnesses};
use crate::vendor::{Vendor, answer};
use gatehouse_channels::{AccountChange, SendError};
use gatehouse_domain::ErrorCode;
use serde_json::json;

#[tokio::test]
async fn secrets_are_encrypted_and_sending_needs_them() {
    for harness in harnesses().await {
        let vendor = Vendor::start(|_| answer(200, &json!({ "ok": true }))).await;
        let fields = json!({ "bot_token": "1:a", "chat_id": "1", "base_url": vendor.url("") });
        harness.create("telegram", fields.clone()).await;
        harness.initialize_vault().await;
        harness.send("telegram", "x").await.unwrap();
        let second = harness.create("telegram", fields.clone()).await;
        let rows = harness.secret_rows().await;
        assert!(
            rows.iter()
                .all(|row| row.encrypted && !row.value.contains("1:a"))
        );
        harness.send("telegram:telegram-2", "x").await.unwrap();
        assert_eq!(second.fields["bot_token"], "••••");
        vendor.take();

        harness.seal().await;
        assert_eq!(harness.send("telegram", "x").await, Err(SendError::Sealed));
        harness.send("inbox", "still here").await.unwrap();
        assert_eq!(harness.channels.list().await.unwrap().len(), 4);
        let new = harness.try_create("telegram", None, fields).await;
        assert_eq!(blame(new).0, ErrorCode::VaultSealed);
        let change = AccountChange {
            fields: crate::harness::object(json!({ "bot_token": "2:b" })),
            ..AccountChange::default()
        };
        let changed = harness
            .channels
            .update(actor(), true, "telegram", change)
            .await;
        assert_eq!(blame(changed).0, ErrorCode::VaultSealed);
        let untouched = AccountChange {
            label: Some("Other".to_owned()),
            enabled: Some(false),
            fields: crate::harness::object(json!({ "bot_token": "••••", "chat_id": "2" })),
        };
        let update = harness
            .channels
            .update(actor(), true, "telegram", untouched);
        let changed = update.await.unwrap();
        assert_eq!((changed.label.as_str(), changed.enabled), ("Other", false));
        let off = AccountChange {
            enabled: Some(true),
            ..AccountChange::default()
        };
        let update = harness.channels.update(actor(), true, "telegram", off);
        update.await.unwrap();
        harness
            .try_create("ntfy", None, json!({ "topic": "t" }))
            .await
            .unwrap();
        assert_eq!(
            blame(harness.channels.test("telegram", None).await).0,
            ErrorCode::VaultSealed
        );
        assert!(vendor.take().is_empty());

        harness.unseal().await;
        harness.send("telegram", "x").await.unwrap();
        assert_eq!(vendor.take_one().target, "/bot1:a/sendMessage");
    }
}

/// A row that is copied to another account does not decrypt there.
#[tokio::test]
async fn a_secret_belongs_to_its_account() {
    for harness in harnesses().await {
        harness.initialize_vault().await;
        harness
            .create("telegram", json!({ "bot_token": "1:a", "chat_id": "1" }))
            .await;
        harness
            .create("telegram", json!({ "bot_token": "2:b", "chat_id": "1" }))
            .await;
        let mut rows = harness.secret_rows().await;
        let swapped = std::mem::take(&mut rows[1].value);
        let mut row = rows.remove(0);
        row.value = swapped;
        let write = harness
            .store
            .write(move |conn| Box::pin(async move { conn.update_channel_secret(&row).await }));
        let stored: Result<(), gatehouse_store::StoreError> = write.await;
        stored.unwrap();
        let why = crate::harness::give_up(harness.send("telegram", "x").await);
        assert!(why.contains("enter it again"), "{why}");
    }
}
