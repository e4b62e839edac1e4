//! The probes and the metrics for scrapers without an account.

use gatehouse_store::testing::sqlite;
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

const LIVE: [&str; 3] = ["/health/live", "/livez", "/healthz"];
const TOKEN: &str = "a token for the scraper";
const READY: [&str; 2] = ["/health/ready", "/readyz"];

/// Returns the reasons of a probe, as a stranger gets them.
async fn reasons(server: &TestServer, path: &str) -> (u16, Value) {
    let reply = server.remote().get(path).await;
    let body = reply.json();
    let status = reply.status.as_u16();
    let word = if status == 200 { "ok" } else { "unavailable" };
    assert_eq!(body, json!({ "status": word, "reasons": body["reasons"] }));
    (status, body["reasons"].clone())
}

#[tokio::test]
async fn a_sealed_node_is_live_and_not_ready_unless_the_owner_wants_it() {
    let (server, owner) = TestServer::with_owner().await;
    for path in LIVE.iter().chain(&READY) {
        assert_eq!(reasons(&server, path).await, (200, json!([])), "{path}");
    }
    let seal = async || {
        let sealed = owner.post("/api/auth/vault/seal", json!({})).await;
        sealed.expect(200);
    };
    seal().await;
    for path in LIVE {
        assert_eq!(reasons(&server, path).await, (200, json!([])), "{path}");
    }
    for path in READY {
        let sealed = (503, json!(["sealed"]));
        assert_eq!(reasons(&server, path).await, sealed, "{path}");
    }
    let unlock = json!({ "password": PASSWORD });
    let unlocked = owner.post("/api/auth/vault/unlock", unlock).await;
    unlocked.expect(200);
    let ready = json!({ "key": "server.ready_when_sealed", "value": true });
    owner.rpc("config.set", ready).await.unwrap();
    seal().await;
    assert_eq!(reasons(&server, "/health/ready").await, (200, json!([])));
}

#[tokio::test]
async fn without_its_database_a_node_is_live_and_not_ready() {
    let server = TestServer::fresh().await;
    server.app().services().store.close().await;
    let (status, reasons) = reasons(&server, "/health/ready").await;
    assert_eq!((status, reasons), (503, json!(["database"])));
    let live = server.remote().get("/health/live").await;
    live.expect(200);
}

#[tokio::test]
async fn a_node_whose_database_file_is_gone_is_not_ready_and_accepts_nothing() {
    let database = sqlite();
    let path = database.directory().join("gatehouse.db");
    let moved = database.directory().join("moved.db");
    let server = TestServer::start(Options::default().database(database)).await;
    let owner = server.set_up().await;
    assert_eq!(reasons(&server, "/health/ready").await, (200, json!([])));
    tokio::fs::rename(&path, &moved).await.unwrap();
    let change = json!({ "key": "server.ready_when_sealed", "value": true });
    let refused = owner.rpc("config.set", change.clone()).await;
    assert_eq!(refused, Err("STORAGE_UNAVAILABLE".to_owned()));
    // The last result of the database check is used for one second.
    let until = async |wanted: fn(&[Value]) -> bool| {
        let changed = async {
            loop {
                let (_, found) = reasons(&server, "/health/ready").await;
                if wanted(found.as_array().unwrap()) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), changed).await;
        waited.unwrap();
    };
    until(|found| found.contains(&json!("database"))).await;
    assert_eq!(reasons(&server, "/health/live").await, (200, json!([])));
    tokio::fs::rename(&moved, &path).await.unwrap();
    until(<[Value]>::is_empty).await;
    owner.rpc("config.set", change).await.unwrap();
}

async fn scraped(server: &TestServer) -> String {
    let scraper = server.remote().bearer(TOKEN);
    let reply = scraper.get("/metrics").await;
    reply.expect(200);
    reply.text
}

/// Returns the value of a metric without labels.
fn value(text: &str, name: &str) -> f64 {
    let of_metric = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(' ')?.parse().unwrap());
    let Some(value) = text.lines().find_map(of_metric) else {
        panic!("no {name}:\n{text}")
    };
    value
}

#[tokio::test]
async fn the_metrics_name_the_state_of_the_node() {
    let options = Options::default().env("SERVICE_METRICS__TOKEN", TOKEN);
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let text = scraped(&server).await;
    for (name, expected) in [
        ("vault_sealed", 0.0),
        ("database_reachable", 1.0),
        ("webhooks_oldest_waiting_seconds", 0.0),
        ("change_feed_lag_seconds", 0.0),
        ("webhooks_lease_takeovers_total", 0.0),
    ] {
        assert_eq!(
            value(&text, name).to_bits(),
            f64::to_bits(expected),
            "{name}"
        );
    }
    for name in ["store_writer_busy_seconds", "store_writer_queue_length"] {
        assert!(value(&text, name) >= 0.0, "{name}");
    }
    let version = server.app().services().build.version;
    let build = format!("gatehouse_build_info{{version=\"{version}\",engine=\"sqlite\"}} 1");
    for line in [
        build.as_str(),
        "backups_total{outcome=\"ok\"} 0",
        "backup_drills_total{outcome=\"ok\"} 0",
        "backup_drills_total{outcome=\"file_only\"} 0",
        "backup_drills_total{outcome=\"error\"} 0",
        "backup_drills_total{outcome=\"not_made\"} 0",
        "backups_total{outcome=\"error\"} 0",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let sealed = owner.post("/api/auth/vault/seal", json!({})).await;
    sealed.expect(200);
    let text = scraped(&server).await;
    assert_eq!(value(&text, "vault_sealed").to_bits(), 1.0_f64.to_bits());
}

#[tokio::test]
async fn the_metrics_are_answered_while_the_database_is_away() {
    let options = Options::default().env("SERVICE_METRICS__TOKEN", TOKEN);
    let server = TestServer::start(options).await;
    server.app().services().store.close().await;
    let text = scraped(&server).await;
    for name in [
        "database_reachable",
        "vault_sealed",
        "store_writer_busy_seconds",
    ] {
        assert_eq!(value(&text, name).to_bits(), 0.0_f64.to_bits(), "{name}");
    }
    assert!(value(&text, "webhooks_oldest_waiting_seconds").is_nan());
}

#[tokio::test]
async fn the_token_of_the_metrics_opens_the_metrics_and_nothing_else() {
    let options = Options::default().env("SERVICE_METRICS__TOKEN", TOKEN);
    let server = TestServer::start(options).await;
    server.set_up().await;
    let scraper = server.remote().bearer(TOKEN);
    let reply = scraper.get("/metrics").await;
    reply.expect(200);
    assert!(reply.text.contains("store_group_size"));
    for path in ["/api/gon", "/api/openapi.json"] {
        scraper
            .get(path)
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    let wrong = server.remote().bearer("another token");
    wrong
        .get("/metrics")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    // The metrics need no database.
    server.app().services().store.close().await;
    scraper.get("/metrics").await.expect(200);
}
