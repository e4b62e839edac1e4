//! Permits under rate limits that nodes share.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::databases;
use gatehouse_store::{RateLease, RateRequest, Store, StoreError};

async fn lease(store: &Store, amounts: (u32, u32), now_ms: i64) -> RateLease {
    lease_of(store, amounts, 60_000, now_ms).await
}

async fn lease_of(
    store: &Store,
    (wanted, limit): (u32, u32),
    window_ms: u32,
    now_ms: i64,
) -> RateLease {
    let now = Timestamp::from_millis(now_ms);
    let request = RateRequest {
        wanted,
        limit,
        window_ms,
    };
    let name = format!("name of {window_ms}");
    let write = store.write_limits(move |conn| {
        Box::pin(async move { conn.lease_rate(&name, request, now).await })
    });
    let leased: Result<RateLease, StoreError> = write.await;
    leased.unwrap()
}

#[tokio::test]
async fn a_minute_has_no_more_permits_than_the_limit() {
    for database in databases().await {
        let store = database.open().await;
        assert_eq!(lease(&store, (3, 5), 950).await.granted, 3);
        assert_eq!(lease(&store, (3, 5), 30_000).await.granted, 2);
        let refused = lease(&store, (3, 5), 60_850).await;
        assert_eq!(refused.granted, 0);
        assert_eq!(refused.next_at, Timestamp::from_millis(60_900));
        assert_eq!(lease(&store, (9, 5), 60_900).await.granted, 3);
        assert_eq!(lease(&store, (9, 5), 60_950).await.granted, 0);
        assert_eq!(
            lease(&store, (9, 6), 60_950).await.granted,
            1,
            "a higher limit"
        );
        store.close().await;
    }
}

#[tokio::test]
async fn permits_from_before_the_clock_was_set_back_count_for_a_minute() {
    for database in databases().await {
        let store = database.open().await;
        assert_eq!(lease(&store, (5, 5), 10_000_000).await.granted, 5);
        assert_eq!(lease(&store, (5, 5), 0).await.granted, 0);
        assert_eq!(lease(&store, (5, 5), 59_900).await.granted, 0);
        assert_eq!(lease(&store, (5, 5), 60_000).await.granted, 5);
        store.close().await;
    }
}

#[tokio::test]
async fn permits_of_a_longer_window_count_until_it_has_passed() {
    for database in databases().await {
        let store = database.open().await;
        let ten_minutes = async |now_ms| lease_of(&store, (3, 5), 600_000, now_ms).await;
        assert_eq!(ten_minutes(0).await.granted, 3);
        assert_eq!(ten_minutes(60_000).await.granted, 2);
        // Permits of shorter windows expire in the meantime.
        assert_eq!(lease(&store, (5, 5), 60_000).await.granted, 5);
        assert_eq!(lease(&store, (5, 5), 120_000).await.granted, 5);
        let refused = ten_minutes(599_900).await;
        assert_eq!(refused.granted, 0);
        assert_eq!(refused.next_at, Timestamp::from_millis(600_000));
        assert_eq!(ten_minutes(600_000).await.granted, 3);
        store.close().await;
    }
}

#[tokio::test]
async fn returned_permits_are_free_again_and_expired_ones_change_nothing() {
    for database in databases().await {
        let store = database.open().await;
        let give_back = async |count, leased_ms| {
            let leased_at = Timestamp::from_millis(leased_ms);
            let write = store.write_limits(move |conn| {
                Box::pin(async move {
                    conn.return_rate("name of 60000", count, leased_at, 60_000)
                        .await
                })
            });
            let done: Result<(), StoreError> = write.await;
            done.unwrap();
        };
        assert_eq!(lease(&store, (5, 5), 0).await.granted, 5);
        give_back(2, 50).await;
        give_back(4, 0).await;
        give_back(1, 30_000).await;
        assert_eq!(lease(&store, (5, 5), 1_000).await.granted, 2);
        // All permits of the first slot are returned, so the next permits become free later.
        give_back(3, 0).await;
        assert_eq!(lease(&store, (5, 5), 1_000).await.granted, 3);
        let refused = lease(&store, (5, 5), 1_000).await;
        assert_eq!(refused.next_at, Timestamp::from_millis(61_000));
        give_back(3, 0).await;
        assert_eq!(lease(&store, (5, 5), 60_999).await.granted, 0);
        store.close().await;
    }
}
