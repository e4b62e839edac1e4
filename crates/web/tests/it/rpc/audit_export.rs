//! `audit.file` and `audit.syslog`: copies of the audit log.

use crate::incidents::logs::Log;
use crate::steps::stopped_clock;
use gatehouse_auth::audit::verify;
use gatehouse_domain::ManualClock;
use gatehouse_store::testing::{hold_write_lock, postgres, run_sql, sqlite, until_waits_for};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixDatagram;

const FILE: &str = "audit.jsonl";
/// Longer than the wait after a failure, and than a claim is respected.
const LONG: Duration = Duration::from_secs(61);

fn to_file() -> Options {
    Options::default().env("SERVICE_AUDIT__FILE", FILE)
}

async fn export(server: &TestServer) {
    server.app().services().export_audit_rows().await;
}

/// Returns the records in a file, and that they are a chain.
async fn records(path: &Path) -> Vec<Value> {
    let text = tokio::fs::read_to_string(path).await.unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'));
    let lines = text.lines();
    let records: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for pair in records.windows(2) {
        assert_eq!(pair[1]["prev_hash"], pair[0]["hash"]);
    }
    records
}

fn seqs(records: &[Value]) -> Vec<i64> {
    let seqs = records.iter().map(|record| record["seq"].as_i64());
    seqs.map(Option::unwrap).collect()
}

/// Returns how many rows the audit log has.
async fn rows(server: &TestServer) -> i64 {
    let verified = verify(&server.app().services().store).await.unwrap();
    i64::try_from(verified.rows).unwrap()
}

async fn doctor(owner: &Actor) -> Value {
    let report = owner.rpc("system.doctor", json!({})).await.unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let mut found = checks.filter(|check| check["id"] == "audit_export");
    found.next().cloned().unwrap_or_default()
}

#[tokio::test]
async fn each_record_is_in_the_file_once_also_after_a_restart_and_a_rotation() {
    let server = TestServer::start(to_file()).await;
    let owner = server.set_up().await;
    server.api_key(&owner, &["operator.read"]).await;
    export(&server).await;
    let path = server.directory().join(FILE);
    let first = records(&path).await;
    let count = rows(&server).await;
    assert_eq!(seqs(&first), (1..=count).collect::<Vec<_>>());
    let listed = owner
        .rpc("audit.list", json!({ "limit": 1 }))
        .await
        .unwrap();
    let (newest, copied) = (&listed["events"][0], first.last().unwrap());
    for field in ["id", "at", "kind", "actor", "detail"] {
        assert_eq!(copied[field], newest[field], "{field}");
    }
    export(&server).await;
    assert_eq!(records(&path).await, first);
    assert_eq!(doctor(&owner).await["ok"], true);

    let rotated = server.directory().join("audit.jsonl.1");
    tokio::fs::rename(&path, &rotated).await.unwrap();
    let server = server.restart().await;
    let owner = owner.at(server.address());
    server.api_key(&owner, &["operator.read"]).await;
    export(&server).await;
    let second = records(&path).await;
    assert_eq!(second[0]["prev_hash"], first.last().unwrap()["hash"]);
    let expected: Vec<i64> = (count + 1..=rows(&server).await).collect();
    assert_eq!(seqs(&second), expected);
    assert_eq!(records(&rotated).await, first);
}

#[tokio::test]
async fn rows_that_were_written_before_the_process_was_killed_are_not_written_again() {
    let mut server = TestServer::start(to_file()).await;
    let owner = server.set_up().await;
    for _ in 0..3 {
        server.api_key(&owner, &["operator.read"]).await;
    }
    export(&server).await;
    let path = server.directory().join(FILE);
    let before = records(&path).await;
    // The position was not stored, and the claim not ended.
    let database = server.stop().await;
    run_sql(
        &database.location,
        r#"UPDATE settings SET value = '{"seq":1,"claim":"of the killed process"}' WHERE key = 'audit_export_file'"#,
    )
    .await;
    let server = TestServer::start(to_file().database(database)).await;
    export(&server).await;
    assert_eq!(records(&path).await, before);
    let owner = owner.at(server.address());
    server.api_key(&owner, &["operator.read"]).await;
    export(&server).await;
    let expected: Vec<i64> = (1..=rows(&server).await).collect();
    assert_eq!(seqs(&records(&path).await), expected);
}

#[tokio::test]
async fn what_cannot_be_copied_is_copied_later_and_the_doctor_says_why() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // The runtime of a test has one thread.
    let _guard = tracing::subscriber::set_default(subscriber);
    let clock = stopped_clock();
    let options = Options::default()
        .env("SERVICE_AUDIT__FILE", "copies/audit.jsonl")
        .clock(Arc::clone(&clock));
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    for _ in 0..3 {
        export(&server).await;
        clock.advance(LONG);
    }
    let check = doctor(&owner).await;
    assert_eq!(
        (&check["ok"], &check["urgent"]),
        (&json!(false), &json!(true))
    );
    let message = check["message"].as_str().unwrap();
    assert!(
        message.contains("cannot be copied to audit.file: No such file"),
        "{message}"
    );
    assert!(!message.contains("copies/"), "{message}");
    let folder = server.directory().join("copies");
    tokio::fs::create_dir(&folder).await.unwrap();
    export(&server).await;
    clock.advance(LONG);
    export(&server).await;
    assert_eq!(doctor(&owner).await["ok"], true);
    let expected: Vec<i64> = (1..=rows(&server).await).collect();
    assert_eq!(seqs(&records(&folder.join(FILE)).await), expected);
    let text = log.text();
    assert_eq!(
        text.matches("the audit log cannot be copied").count(),
        1,
        "{text}"
    );
    assert_eq!(
        text.matches("copying the audit log works again").count(),
        1,
        "{text}"
    );
}

async fn with_syslog(clock: &Arc<ManualClock>) -> (TestServer, UnixDatagram) {
    let database = sqlite();
    let socket = UnixDatagram::bind(database.directory().join("log.sock")).unwrap();
    let options = Options::default()
        .env("SERVICE_AUDIT__SYSLOG", "log.sock")
        .clock(Arc::clone(clock))
        .database(database);
    (TestServer::start(options).await, socket)
}

/// Reads this many messages, which have the form of `syslog(3)`.
async fn receive(socket: &UnixDatagram, count: i64) -> Vec<Value> {
    let mut records = Vec::new();
    let mut bytes = vec![0; 64 * 1024];
    for _ in 0..count {
        let read = tokio::time::timeout(Duration::from_secs(30), socket.recv(&mut bytes));
        let length = read.await.unwrap().unwrap();
        let text = String::from_utf8(bytes[..length].to_vec()).unwrap();
        let (head, record) = text.split_once("]: ").unwrap();
        let (time, tag) = head.split_at("<85>Nov 18 11:06:40 ".len());
        assert!(time.starts_with("<85>") && time.ends_with(' '), "{head}");
        assert_eq!(tag, format!("gatehouse-audit[{}", std::process::id()));
        records.push(serde_json::from_str(record).unwrap());
    }
    records
}

#[tokio::test]
async fn syslog_gets_each_record_once_also_after_it_was_away() {
    let clock = stopped_clock();
    let (server, socket) = with_syslog(&clock).await;
    let owner = server.set_up().await;
    for _ in 0..15 {
        server.api_key(&owner, &["operator.read"]).await;
    }
    let count = rows(&server).await;
    // The socket has room for a few messages only, so the export waits for the reader.
    let ((), records) = tokio::join!(export(&server), receive(&socket, count));
    assert_eq!(seqs(&records), (1..=count).collect::<Vec<_>>());

    drop(socket);
    server.api_key(&owner, &["operator.read"]).await;
    export(&server).await;
    let check = doctor(&owner).await;
    assert_eq!(check["ok"], false, "{check}");
    assert!(
        check["message"].as_str().unwrap().contains("audit.syslog"),
        "{check}"
    );
    let path = server.directory().join("log.sock");
    tokio::fs::remove_file(&path).await.unwrap();
    let socket = UnixDatagram::bind(&path).unwrap();
    clock.advance(LONG);
    let missing = rows(&server).await - count;
    let ((), records) = tokio::join!(export(&server), receive(&socket, missing));
    assert_eq!(
        seqs(&records),
        (count + 1..=count + missing).collect::<Vec<_>>()
    );
    assert_eq!(doctor(&owner).await["ok"], true);
    let error = socket.try_recv(&mut [0; 16]).unwrap_err();
    assert_eq!(
        error.kind(),
        std::io::ErrorKind::WouldBlock,
        "nothing came twice"
    );
}

#[tokio::test]
async fn of_several_nodes_one_writes_each_record() {
    let Some(database) = postgres().await else {
        return;
    };
    let there = database.for_another_node();
    let one = TestServer::start(to_file().database(database)).await;
    let owner = one.set_up().await;
    let two = TestServer::start(to_file().database(there)).await;
    for _ in 0..20 {
        one.api_key(&owner, &["operator.read"]).await;
        tokio::join!(export(&one), export(&two));
    }
    let count = rows(&one).await;
    let everything = async {
        loop {
            tokio::join!(export(&one), export(&two));
            let mut all = Vec::new();
            for node in [&one, &two] {
                let text = tokio::fs::read_to_string(node.directory().join(FILE)).await;
                let text = text.unwrap_or_default();
                let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
                all.extend(seqs(&lines.collect::<Vec<_>>()));
            }
            if all.len() >= usize::try_from(count).unwrap() {
                return all;
            }
        }
    };
    let everything = tokio::time::timeout(Duration::from_secs(30), everything).await;
    let mut everything = everything.unwrap();
    everything.sort_unstable();
    assert_eq!(everything, (1..=count).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_a_node_claimed_before_it_was_killed_is_taken_over_after_a_minute() {
    let Some(database) = postgres().await else {
        return;
    };
    let clock = stopped_clock();
    let location = database.location.clone();
    let options = to_file().database(database).clock(Arc::clone(&clock));
    let server = TestServer::start(options).await;
    run_sql(
        &location,
        r#"INSERT INTO settings (key, value, updated_at)
           VALUES ('audit_export_file', '{"seq":0,"claim":"of the killed node"}', 0)"#,
    )
    .await;
    server.set_up().await;
    let path = server.directory().join(FILE);
    export(&server).await;
    clock.advance(Duration::from_secs(59));
    export(&server).await;
    assert!(records(&path).await.is_empty());
    clock.advance(Duration::from_secs(1));
    export(&server).await;
    let expected: Vec<i64> = (1..=rows(&server).await).collect();
    assert_eq!(seqs(&records(&path).await), expected);
}

#[tokio::test]
async fn a_claim_that_changed_while_the_database_stood_still_is_respected() {
    let Some(database) = postgres().await else {
        return;
    };
    let clock = stopped_clock();
    let location = database.location.clone();
    let options = to_file().database(database).clock(Arc::clone(&clock));
    let server = TestServer::start(options).await;
    run_sql(
        &location,
        r#"INSERT INTO settings (key, value, updated_at)
           VALUES ('audit_export_file', '{"seq":0,"claim":"the first"}', 0)"#,
    )
    .await;
    server.set_up().await;
    let path = server.directory().join(FILE);
    export(&server).await;
    let lock = hold_write_lock(&location).await;
    let outage = async {
        until_waits_for(&location, "advisory").await;
        run_sql(
            &location,
            r#"UPDATE settings SET value = '{"seq":0,"claim":"the second"}'
               WHERE key = 'audit_export_file'"#,
        )
        .await;
        clock.advance(LONG);
        drop(lock);
    };
    tokio::join!(export(&server), outage);
    export(&server).await;
    clock.advance(Duration::from_secs(59));
    export(&server).await;
    assert!(records(&path).await.is_empty());
    clock.advance(Duration::from_secs(1));
    export(&server).await;
    assert!(!records(&path).await.is_empty());
}
