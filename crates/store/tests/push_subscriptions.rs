//! Subscriptions at push services on every available engine: they end with their session or device.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::{AuthSessionId, DeviceId, PushSubscriptionId, Scope, ScopeSet, Timestamp};
use gatehouse_store::testing::databases;
use gatehouse_store::{
    AuthSessionRow, DeviceRow, LivePushSubscription, PushSubscriptionRow, Store, StoreError,
};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn session() -> AuthSessionRow {
    AuthSessionRow {
        id: AuthSessionId::from_text("as_1"),
        token_hash: "a".to_owned(),
        login_method: "password".to_owned(),
        user_agent: Some("Browser".to_owned()),
        client_ip: None,
        created_at: at(1),
        last_seen_at: at(1),
        expires_at: at(100),
        confirmed_at: at(1),
        made_by: None,
        passkey_id: None,
    }
}

fn device(number: u8, expires_at: Option<Timestamp>) -> DeviceRow {
    DeviceRow {
        id: DeviceId::from_text(format!("dev_{number}")),
        token_hash: format!("hash {number}"),
        label: format!("Phone {number}"),
        scopes: [Scope::Read].into_iter().collect::<ScopeSet>(),
        created_at: at(1),
        last_seen_at: None,
        expires_at,
        allowed_cidrs: None,
        made_by: None,
        only: None,
        dies_at_setup: false,
    }
}

fn subscription(number: u8) -> PushSubscriptionRow {
    PushSubscriptionRow {
        id: PushSubscriptionId::from_text(format!("push_{number}")),
        endpoint: format!("https://push.example/{number}"),
        p256dh: "key".to_owned(),
        auth_secret: "secret".to_owned(),
        session_id: (number == 0).then(|| session().id),
        device_id: (number > 0).then(|| device(number, None).id),
        created_at: at(1),
    }
}

async fn listed(store: &Store, now: Timestamp) -> Vec<String> {
    let rows: Result<Vec<LivePushSubscription>, StoreError> = store
        .read(move |conn| Box::pin(async move { conn.list_push_subscriptions(now).await }))
        .await;
    let name = |live: LivePushSubscription| live.user_agent.or(live.label).unwrap();
    rows.unwrap().into_iter().map(name).collect()
}

#[tokio::test]
async fn they_end_with_their_session_or_device() {
    for database in databases().await {
        let store = database.open().await;
        let stored: Result<(), StoreError> = store
            .write(|conn| {
                Box::pin(async move {
                    conn.insert_auth_session(&session()).await?;
                    conn.insert_device(&device(1, None)).await?;
                    conn.insert_device(&device(2, Some(at(50)))).await?;
                    for number in 0..3 {
                        conn.update_push_subscription(&subscription(number)).await?;
                    }
                    Ok(())
                })
            })
            .await;
        stored.unwrap();
        assert_eq!(
            listed(&store, at(49)).await,
            ["Browser", "Phone 1", "Phone 2"]
        );
        assert_eq!(listed(&store, at(50)).await, ["Browser", "Phone 1"]);
        assert_eq!(listed(&store, at(99)).await, ["Browser", "Phone 1"]);
        assert_eq!(listed(&store, at(100)).await, ["Phone 1"]);
        let kept: Result<[bool; 3], StoreError> = store
            .write(|conn| {
                Box::pin(async move {
                    conn.delete_auth_session(&session().id).await?;
                    conn.delete_device(&device(1, None).id).await?;
                    let mut kept = [false; 3];
                    for (number, kept) in (0..3).zip(&mut kept) {
                        let endpoint = subscription(number).endpoint;
                        *kept = conn.find_push_subscription(&endpoint).await?.is_some();
                    }
                    Ok(kept)
                })
            })
            .await;
        assert_eq!(
            kept.unwrap(),
            [false, false, true],
            "{:?}",
            database.engine()
        );
        store.close().await;
    }
}

#[tokio::test]
async fn an_endpoint_has_one_subscription_and_the_first_key_stays() {
    for database in databases().await {
        let store = database.open().await;
        let found: Result<_, StoreError> = store
            .write(|conn| {
                Box::pin(async move {
                    conn.insert_device(&device(1, None)).await?;
                    conn.update_push_subscription(&subscription(1)).await?;
                    let renewed = PushSubscriptionRow {
                        id: PushSubscriptionId::from_text("push_9"),
                        p256dh: "other".to_owned(),
                        ..subscription(1)
                    };
                    conn.update_push_subscription(&renewed).await?;
                    let live = conn.list_push_subscriptions(at(1)).await?;
                    let first = conn.get_push_key("first", at(1)).await?;
                    let second = conn.get_push_key("second", at(2)).await?;
                    Ok((live.len(), live[0].row == renewed, first, second))
                })
            })
            .await;
        let expected = (1, true, "first".to_owned(), "first".to_owned());
        assert_eq!(found.unwrap(), expected, "{:?}", database.engine());
        store.close().await;
    }
}
