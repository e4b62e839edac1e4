//! Nodes on one PostgreSQL database while a newer version migrates it.

use crate::webhooks::{made, send};
use gatehouse_store::testing::{TestDatabase, migrate_as_newer, number, postgres};
use gatehouse_store::{OpenError, Store};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::RwLock;
use tokio::time::{Instant, sleep, timeout};

fn options(database: TestDatabase) -> Options {
    let limit = "SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE";
    let secret = "the secret of this cluster: 32 characters or more";
    Options::default()
        .database(database)
        .env(limit, "1000000")
        .env("SERVICE_VAULT__CLUSTER_SECRET", secret)
}

/// Waits until a load balancer would use the node. The node gets the vault's key from another node.
async fn until_ready(server: &TestServer) {
    let ready = async {
        while server.remote().get("/health/ready").await.status != 200 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(20), ready).await.unwrap();
}

#[tokio::test]
async fn nodes_of_an_earlier_version_stop_writing_and_say_so_when_the_schema_needs_a_newer_one() {
    let Some(database) = postgres().await else {
        return;
    };
    let (location, other) = (database.location.clone(), database.for_another_node());
    let one = TestServer::start(options(database)).await;
    let owner = one.set_up().await;
    let two = TestServer::start(options(other)).await;
    until_ready(&two).await;
    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    for node in [&one, &two] {
        let there = owner.clone().at(node.local().address());
        let set = json!({ "key": "A", "value": "1" });
        there.rpc("env.set", set).await.unwrap();
        node.remote().get("/health/ready").await.expect(200);
    }

    let contract = "-- contract 9000\nALTER TABLE settings ADD COLUMN later BIGINT;";
    migrate_as_newer(&location, 9000, contract).await;
    let migrated = Instant::now();
    for node in [&one, &two] {
        while !node.app().services().store.is_outdated() {
            assert!(migrated.elapsed() < Duration::from_secs(2));
            sleep(Duration::from_millis(10)).await;
        }
        let ready = node.remote().get("/health/ready").await.expect(503);
        assert_eq!(
            ready,
            json!({ "status": "unavailable", "reasons": ["migrating"] })
        );
        node.remote().get("/health/live").await.expect(200);
        let there = owner.clone().at(node.local().address());
        let set = json!({ "key": "A", "value": "2" });
        let refused = there.rpc("env.set", set).await.unwrap_err();
        assert_eq!(refused, "STORAGE_UNAVAILABLE");
        let reply = send(&node.remote(), &hook.path(), &[], "{}").await;
        reply.refused(503, "STORAGE_UNAVAILABLE");
        // What only reads still works.
        there.rpc("webhooks.list", json!({})).await.unwrap();
    }
    let count = "SELECT COUNT(*) FROM webhook_deliveries";
    assert_eq!(number(&location, count).await, 0);
    let refused = Store::open(&location).await.unwrap_err();
    assert!(
        matches!(refused, OpenError::NewerVersion { version: 9000 }),
        "{refused:?}"
    );
}

/// Sends requests one after another to a node, except while a load balancer would not use it.
async fn keep_sending(
    node: Arc<RwLock<Actor>>,
    path: String,
    sender: usize,
    stop: Arc<AtomicBool>,
) -> i64 {
    let mut sent = 0;
    while !stop.load(Ordering::Acquire) {
        let node = node.read().await;
        // Deliveries with equal bodies would count as repeats.
        let body = json!({ "sender": sender, "number": sent }).to_string();
        send(&node, &path, &[], body).await.expect(202);
        sent += 1;
    }
    sent
}

#[tokio::test]
async fn no_sender_gets_an_error_while_nodes_under_load_are_upgraded_one_by_one() {
    let Some(database) = postgres().await else {
        return;
    };
    let (location, other) = (database.location.clone(), database.for_another_node());
    let mut servers = vec![TestServer::start(options(database)).await];
    let owner = servers[0].set_up().await;
    servers.push(TestServer::start(options(other)).await);
    until_ready(&servers[1]).await;
    let members = json!({ "auth_mode": "none", "rate_limit_per_minute": 1_000_000 });
    let hook = made(&owner, members).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (mut nodes, mut senders) = (Vec::new(), Vec::new());
    for server in &servers {
        let node = Arc::new(RwLock::new(server.remote()));
        nodes.push(Arc::clone(&node));
        for _ in 0..2 {
            let (node, stop) = (Arc::clone(&node), Arc::clone(&stop));
            let sender = keep_sending(node, hook.path(), senders.len(), stop);
            #[expect(clippy::disallowed_methods, reason = "awaited below")]
            let sender = tokio::spawn(sender);
            senders.push(sender);
        }
    }
    sleep(Duration::from_millis(300)).await;
    // The newer version changes tables that are in use.
    let expand = "-- expand
        ALTER TABLE webhook_deliveries ADD COLUMN later BIGINT NOT NULL DEFAULT 0;
        ALTER TABLE webhooks ADD COLUMN later TEXT;
        ALTER TABLE inbox_messages ADD COLUMN later BIGINT NOT NULL DEFAULT 0;
        ALTER TABLE changes ADD COLUMN later BIGINT NOT NULL DEFAULT 0;";
    migrate_as_newer(&location, 9000, expand).await;
    let mut upgraded = Vec::new();
    for (server, node) in servers.into_iter().zip(&nodes) {
        sleep(Duration::from_millis(300)).await;
        let mut sender = node.write().await;
        let restarted = server.restart().await;
        until_ready(&restarted).await;
        *sender = restarted.remote();
        drop(sender);
        upgraded.push(restarted);
    }
    sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Release);
    let mut sent = 0;
    for sender in senders {
        sent += sender.await.unwrap();
    }
    assert!(sent > 20, "{sent}");
    let count = "SELECT COUNT(*) FROM webhook_deliveries";
    assert_eq!(number(&location, count).await, sent);
    let open = "SELECT COUNT(*) FROM webhook_deliveries WHERE status <> 'completed'";
    let all_done = async {
        while number(&location, open).await > 0 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), all_done).await.unwrap();
}
