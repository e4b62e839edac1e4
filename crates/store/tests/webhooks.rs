//! Queries of webhooks on every available engine.

use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::testing::databases;
use gatehouse_store::{StoreError, WebhookRow};

fn webhook(number: usize, mode: &str, rest: &str) -> WebhookRow {
    WebhookRow {
        id: WebhookId::from_text(format!("hook_{number:04}")),
        public_id: format!("p{number}"),
        name: format!("n{number}"),
        config: format!(r#"{{"auth":{{"mode":"{mode}"}},"source_profile":"generic"{rest}}}"#),
        enabled: true,
        delivery_count: 0,
        last_delivery_at: None,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    }
}

#[tokio::test]
async fn webhooks_without_verification_are_counted_however_many_there_are() {
    for database in databases().await {
        let store = database.open().await;
        let stored: Result<(), StoreError> = store
            .write(|conn| {
                Box::pin(async move {
                    for number in 0..600 {
                        conn.insert_webhook(&webhook(number, "none", "")).await?;
                    }
                    let disabled = WebhookRow {
                        enabled: false,
                        ..webhook(600, "none", "")
                    };
                    conn.insert_webhook(&disabled).await?;
                    let schedule = r#","schedule":{"cron":"* * * * *"}"#;
                    conn.insert_webhook(&webhook(601, "none", schedule)).await?;
                    let null = r#","schedule":null"#;
                    conn.insert_webhook(&webhook(602, "none", null)).await?;
                    conn.insert_webhook(&webhook(603, "github_hmac_sha256", ""))
                        .await
                })
            })
            .await;
        stored.unwrap();
        let read: Result<(i64, i64, Vec<String>), StoreError> = store
            .read(|conn| {
                Box::pin(async move {
                    Ok((
                        conn.count_webhooks().await?,
                        conn.count_enabled_webhooks_with_mode("none").await?,
                        conn.list_enabled_webhooks_with_mode("none", 2).await?,
                    ))
                })
            })
            .await;
        let (all, open, names) = read.unwrap();
        assert_eq!((all, open), (604, 601));
        assert_eq!(names, ["n0", "n1"]);
        store.close().await;
    }
}
