//! Several connections that fall silent at the same time.

use crate::proxy::Proxy;
use futures_util::future::{BoxFuture, try_join_all};
use gatehouse_store::testing::{TestDatabase, postgres};
use gatehouse_store::{Conn, Store, StoreError};
use std::time::{Duration, Instant};

/// The maximum time for which a node may be without its database if only its connections are silent.
pub(super) const RECOVERY: Duration = Duration::from_secs(15);

/// Repeats an operation until it succeeds. Returns the number of failures.
async fn failures(mut operation: impl AsyncFnMut() -> Result<(), StoreError>) -> usize {
    let mut failed = 0;
    while let Err(error) = operation().await {
        assert!(error.is_unavailable(), "{error:?}");
        failed += 1;
        assert!(failed < 30);
    }
    failed
}

fn look(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move { conn.find_last_change().await.map(drop) })
}

#[tokio::test]
async fn a_node_whose_connections_are_all_silent_recovers() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    let use_all = async || {
        let reads = (0..4).map(|_| store.ping());
        let reads = async { try_join_all(reads).await.map(drop) };
        tokio::try_join!(
            reads,
            store.write(look),
            store.write_queue(look),
            store.write_arrivals(look),
            store.write_limits(look),
        )
    };
    use_all().await.unwrap();
    proxy.silence_all();
    let recovery = async {
        tokio::join!(
            failures(async || store.ping().await),
            failures(async || store.write(look).await),
            failures(async || store.write_queue(look).await),
            failures(async || store.write_arrivals(look).await),
            failures(async || store.write_limits(look).await),
        )
    };
    let failed = tokio::time::timeout(RECOVERY, recovery).await.unwrap();
    assert_eq!(failed, (1, 1, 1, 1, 1));
    use_all().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn after_one_silent_connection_no_write_or_read_waits_for_another() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    let others = async || {
        tokio::try_join!(
            store.ping(),
            store.write(look),
            store.write_queue(look),
            store.write_arrivals(look),
        )
        .map(drop)
    };
    others().await.unwrap();
    store.write_limits(look).await.unwrap();
    proxy.silence_all();
    assert_eq!(failures(async || store.write_limits(look).await).await, 1);
    let at_once = tokio::time::timeout(Duration::from_secs(5), others()).await;
    at_once.unwrap().unwrap();
    store.close().await;
}

/// Returns a store whose connections became silent after a read and a write under the rate limits.
async fn silent_store() -> Option<(TestDatabase, Proxy, Store)> {
    let database = postgres().await?;
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    store.ping().await.unwrap();
    store.write_limits(look).await.unwrap();
    proxy.silence_all();
    Some((database, proxy, store))
}

fn nothing(_: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(std::future::ready(Ok(())))
}

#[tokio::test]
async fn a_connection_that_was_only_taken_from_its_pool_is_not_trusted_after_another_fell_silent() {
    let Some((_database, _proxy, store)) = silent_store().await else {
        return;
    };
    let taken = async {
        // Ends after the write below has sent its statement.
        tokio::time::sleep(Duration::from_secs(1)).await;
        store.read(nothing).await.unwrap();
    };
    let write = failures(async || store.write_limits(look).await);
    let (failed, ()) = tokio::join!(write, taken);
    assert_eq!(failed, 1);
    // Each ping takes the connection that has not been used for the longest time.
    let pings = async {
        for _ in 0..4 {
            store.ping().await.unwrap();
        }
    };
    let at_once = tokio::time::timeout(Duration::from_secs(5), pings).await;
    at_once.unwrap();
    store.close().await;
}

#[tokio::test]
async fn while_one_connection_is_silent_for_seconds_another_one_is_replaced_before_use() {
    let Some((_database, _proxy, store)) = silent_store().await else {
        return;
    };
    let begun = Instant::now();
    let ping = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        store.ping().await.unwrap();
        begun.elapsed()
    };
    let write = async {
        store.write_limits(look).await.unwrap_err();
        begun.elapsed()
    };
    let (pinged, failed) = tokio::join!(ping, write);
    assert!(
        pinged < Duration::from_secs(8) && pinged < failed,
        "{pinged:?} {failed:?}"
    );
    store.close().await;
}

#[tokio::test]
async fn reads_whose_callers_give_up_early_do_not_keep_silent_connections() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    store.ping().await.unwrap();
    proxy.silence_all();
    let impatient = async || {
        let read = tokio::time::timeout(Duration::from_secs(1), store.ping()).await;
        read.unwrap_or_else(|_| Err(StoreError::NotCommitted("given up".to_owned())))
    };
    let failed = tokio::time::timeout(RECOVERY, failures(impatient)).await;
    assert!(failed.unwrap() > 0);
    store.close().await;
}
