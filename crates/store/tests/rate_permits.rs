//! Permits under rate limits that nodes share.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::databases;
use gatehouse_store::{RateLease, Store, StoreError};

async fn lease(store: &Store, amounts: (u32, u32), now_ms: i64) -> RateLease {
    let now = Timestamp::from_millis(now_ms);
    let write = store.write_limits(move |conn| {
        Box::pin(async move { conn.lease_rate("name", amounts, now).await })
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
