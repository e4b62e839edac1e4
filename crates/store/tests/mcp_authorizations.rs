//! Authorizations of MCP servers: a node never overwrites a version that it has not read, and only one node
//! refreshes tokens.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::databases;
use gatehouse_store::{McpAuthorizationRow, Store, StoreError};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn row(version: i64, value: &str) -> McpAuthorizationRow {
    McpAuthorizationRow {
        server: "far".to_owned(),
        version,
        resource: "https://a.example/mcp".to_owned(),
        issuer: None,
        client_id: None,
        authorized: true,
        expires_at: Some(at(9)),
        error: None,
        value: value.to_owned(),
        encrypted: false,
        claimed_until: None,
        updated_at: at(1),
    }
}

async fn save(store: &Store, version: i64, value: &str, ends_claim: bool) -> bool {
    let row = row(version, value);
    let write = store.write(move |conn| {
        Box::pin(async move { conn.update_mcp_authorization(&row, ends_claim).await })
    });
    let saved: Result<bool, StoreError> = write.await;
    saved.unwrap()
}

async fn claim(store: &Store, version: i64, now: i64, until: i64) -> bool {
    let write = store.write(move |conn| {
        Box::pin(async move {
            conn.claim_mcp_authorization(("far", version), at(now), at(until))
                .await
        })
    });
    let claimed: Result<bool, StoreError> = write.await;
    claimed.unwrap()
}

async fn find(store: &Store) -> Option<McpAuthorizationRow> {
    let read = store.read(|conn| Box::pin(async move { conn.find_mcp_authorization("far").await }));
    let found: Result<_, StoreError> = read.await;
    found.unwrap()
}

#[tokio::test]
async fn a_save_needs_the_version_that_was_read() {
    for database in databases().await {
        let store = database.open().await;
        assert!(save(&store, 0, "a", true).await);
        assert!(!save(&store, 0, "b", true).await);
        assert!(save(&store, 1, "c", true).await);
        assert!(!save(&store, 1, "d", true).await);
        let found = find(&store).await.unwrap();
        assert_eq!((found.version, found.value.as_str()), (2, "c"));
    }
}

#[tokio::test]
async fn one_claim_is_valid_until_it_expires_or_the_tokens_are_saved() {
    for database in databases().await {
        let store = database.open().await;
        assert!(!claim(&store, 1, 0, 10).await);
        save(&store, 0, "a", true).await;
        assert!(claim(&store, 1, 0, 10).await);
        assert!(!claim(&store, 1, 9, 20).await);
        assert!(claim(&store, 1, 10, 20).await);
        // An authorization that begins during the claim does not end the claim.
        assert!(save(&store, 1, "b", false).await);
        assert!(!claim(&store, 2, 19, 30).await);
        assert!(save(&store, 2, "c", true).await);
        assert!(!claim(&store, 2, 19, 30).await);
        assert!(claim(&store, 3, 19, 30).await);
    }
}

#[tokio::test]
async fn a_row_has_no_version_of_a_deleted_row() {
    for database in databases().await {
        let store = database.open().await;
        assert!(save(&store, 0, "old", true).await);
        assert!(save(&store, 1, "old", true).await);
        let write = store.write(|conn| {
            Box::pin(async move {
                conn.delete_mcp_authorization("far", Some(2)).await?;
                let later = McpAuthorizationRow {
                    updated_at: at(1000),
                    ..row(0, "new")
                };
                conn.update_mcp_authorization(&later, true).await
            })
        });
        let saved: Result<bool, StoreError> = write.await;
        assert!(saved.unwrap());
        for old in [1, 2] {
            assert!(!save(&store, old, "old", true).await);
        }
        assert_eq!(find(&store).await.unwrap().version, 1000);
    }
}
