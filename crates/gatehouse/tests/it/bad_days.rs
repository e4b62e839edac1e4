//! A full disk, and invalid settings.

use crate::process::{BINARY, Installation, PASSWORD, make_key};
use reqwest::StatusCode;
use serde_json::json;
use std::process::Command;

/// Mounting a tiny file system needs privileges that a test may not have. A limit on file sizes makes the
/// same database writes fail, so it simulates the full disk.
#[tokio::test]
async fn on_a_full_disk_writes_say_so_and_reads_go_on() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&installation).await;
    let size = installation
        .data_dir()
        .join("gatehouse.db")
        .metadata()
        .unwrap()
        .len();
    // The shell counts in blocks of 512 or 1,024 bytes. Both leave space for a few writes.
    let blocks = size / 512 + 400;
    let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$0\" serve \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script, BINARY]);
    let server = installation.start_as(command);
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;

    let value = "x".repeat(60_000);
    let mut stored = 0;
    let refused = loop {
        assert!(stored < 100, "the disk never gets full");
        let params = json!({ "key": format!("KEY_{stored}"), "value": value });
        let answer = server.rpc(&key, "env.set", params).await;
        if !answer["error"].is_null() {
            break answer;
        }
        stored += 1;
    };
    assert_eq!(
        refused["error"]["data"]["code"], "STORAGE_UNAVAILABLE",
        "{refused}"
    );
    assert!(stored > 0, "nothing could be written at all");

    let list = server.rpc(&key, "env.list", json!({})).await;
    assert_eq!(
        list["result"]["env_variables"].as_array().unwrap().len(),
        stored,
        "{list}"
    );
    assert_eq!(server.get("/health").await.status, StatusCode::OK);
    let ready = server.get("/health/ready").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    let expected = json!({ "status": "unavailable", "reasons": ["writer"] });
    assert_eq!(ready.body, expected);
    let database_is_ok = async || {
        let status = server.rpc(&key, "system.status", json!({})).await;
        let doctor = server.rpc(&key, "system.doctor", json!({})).await;
        let checks = doctor["result"]["checks"].as_array().unwrap().clone();
        let check = checks.iter().find(|check| check["id"] == "database");
        let found = [
            status["result"]["database"]["ok"].clone(),
            check.unwrap()["ok"].clone(),
        ];
        found.map(|ok| ok.as_bool().unwrap())
    };
    assert_eq!(database_is_ok().await, [false, false]);
    // The server becomes ready again with the space, without a restart.
    let id = server.child.id().to_string();
    let raised = Command::new("prlimit")
        .args(["--pid", &id, "--fsize=unlimited"])
        .status();
    assert!(raised.unwrap().success());
    while server.get("/health/ready").await.status != StatusCode::OK {}
    assert_eq!(database_is_ok().await, [true, true]);
    server.kill();

    // With space again, all acknowledged data is there and writes succeed.
    let server = installation.start();
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let answer = server
        .rpc(&key, "env.set", json!({ "key": "LAST", "value": value }))
        .await;
    assert_eq!(answer["result"]["encrypted"], 1, "{answer}");
    let list = server.rpc(&key, "env.list", json!({})).await;
    assert_eq!(
        list["result"]["env_variables"].as_array().unwrap().len(),
        stored + 1
    );
}

#[tokio::test]
async fn a_mistake_in_the_settings_stops_the_start_and_is_reported_with_its_line() {
    let installation = Installation::new();
    let file = installation
        .file("g.toml", "[server]\n\nbnid = \"127.0.0.1:0\"\n")
        .await;
    let file = file.to_str().unwrap();
    for command in [&["serve"] as &[&str], &["config", "check"], &["doctor"]] {
        let ran = installation.run(&[command, &["--config", file]].concat());
        let received = ran.failed(1);
        for part in [
            "g.toml",
            "line 3",
            "server.bnid",
            "did you mean `server.bind`?",
        ] {
            assert!(received.contains(part), "{received}");
        }
        assert_eq!(ran.stdout(), "");
    }
    let ran = installation.run(&["config", "check", "--json", "--config", file]);
    ran.failed(1);
    let record: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!((&record["line"], &record["ok"]), (&json!(3), &json!(false)));
    assert!(!installation.data_dir().exists(), "nothing was made");
}

#[tokio::test]
async fn a_variable_that_is_wrong_stops_the_start() {
    let mut installation = Installation::new();
    installation.env("SERVICE_BEHIND_PROXY", "maybe");
    assert!(
        installation
            .run(&["serve"])
            .failed(1)
            .contains("SERVICE_BEHIND_PROXY")
    );
}

#[tokio::test]
async fn a_damaged_database_is_reported_with_what_to_do() {
    let installation = Installation::new();
    installation.start().stop();
    let database = installation.data_dir().join("gatehouse.db");
    let whole = tokio::fs::read(&database).await.unwrap();
    let damaged = &whole[..whole.len() / 2];
    tokio::fs::write(&database, damaged).await.unwrap();
    for args in [
        &["serve", "--bind", "127.0.0.1:0"] as &[&str],
        &["doctor"],
        &["auth", "setup-code"],
        &["audit", "verify"],
    ] {
        let received = installation.run(args).failed(1);
        for part in ["its file is damaged", "restore a backup"] {
            assert!(received.contains(part), "{args:?}: {received}");
        }
    }
    let left = tokio::fs::read(&database).await.unwrap();
    assert_eq!(left, damaged);
}

#[tokio::test]
async fn a_file_that_is_missing_empty_or_in_the_way_is_named() {
    let installation = Installation::new();
    installation.start().stop();
    let to = installation.data_dir().join("x.backup");
    let create = ["backup", "create", "--to", to.to_str().unwrap()];
    let empty = installation.file("empty", "\nsecond line\n").await;
    let missing = installation.data_dir().join("missing");
    for (file, part) in [(&empty, "is empty"), (&missing, "cannot open")] {
        let file = file.to_str().unwrap();
        let ran = installation.run(&[&create[..], &["--passphrase-file", file]].concat());
        let received = ran.failed(1);
        assert!(
            received.contains(part) && received.contains(file),
            "{received}"
        );
    }
    installation.run(&create).ok();
    let received = installation.run(&create).failed(1);
    assert!(
        received.contains("a file with this name already exists"),
        "{received}"
    );
}

#[test]
fn an_empty_standard_input_is_named_with_what_belongs_there() {
    let installation = Installation::new();
    for (args, part) in [
        (
            &["env", "set", "TOKEN"][..],
            "standard input has no text: write the value there",
        ),
        (
            &["vault", "unlock"][..],
            "the first line of standard input is empty: write the password there",
        ),
    ] {
        let received = installation.run(args).failed(1);
        assert!(received.contains(part), "{received}");
    }
}

#[tokio::test]
async fn certificate_files_that_cannot_be_used_are_named() {
    let made = |mut installation: Installation| {
        installation.env("SERVICE_SERVER__TLS__SELF_SIGNED", "true");
        installation.start().stop();
        installation
    };
    let (mut installation, other) = (made(Installation::new()), made(Installation::new()));
    let junk = installation.file("junk.pem", "junk\n").await;
    let cert = installation.data_dir().join("self-signed-cert.pem");
    let key = installation.data_dir().join("self-signed-key.pem");
    let foreign = other.data_dir().join("self-signed-key.pem");
    let contains_no = |what: &str| format!("the file {} contains no {what}", junk.display());
    let mismatch = "the certificate and the key do not match".to_owned();
    for (cert, key, expected) in [
        (&junk, &key, contains_no("certificate")),
        (&cert, &junk, contains_no("private key")),
        (&cert, &foreign, mismatch),
    ] {
        installation.environment.clear();
        installation.env("SERVICE_SERVER__TLS__CERT", cert.to_str().unwrap());
        installation.env("SERVICE_SERVER__TLS__KEY", key.to_str().unwrap());
        let ran = installation.run(&["serve", "--bind", "127.0.0.1:0"]);
        let received = ran.failed(1);
        assert!(received.contains(&expected), "{received}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_reported_and_left_unchanged() {
    let installation = Installation::new();
    let file = installation
        .file("other.db", &"no database ".repeat(100))
        .await;
    let url = format!("sqlite://{}", file.display());
    let received = installation
        .run(&["serve", "--database-url", &url])
        .failed(1);
    assert!(
        received.contains("cannot open the SQLite database"),
        "{received}"
    );
    assert!(
        tokio::fs::read_to_string(file)
            .await
            .unwrap()
            .starts_with("no database")
    );
}
