//! `gatehouse backup`, with a running and a stopped server.

use crate::process::{CommandOutput, Installation, PASSWORD, make_key, mode};
use crate::profiles;
use gatehouse_store::Location;
use gatehouse_store::testing::{empty_postgres, number, run_sql};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An installation with a password, and a backup of it with a passphrase.
pub struct BackedUp {
    pub installation: Installation,
    pub key: String,
    recovery_key: String,
    pub passphrase: PathBuf,
}

impl BackedUp {
    pub async fn new() -> Self {
        let installation = Installation::new();
        let server = installation.start();
        let recovery_key = server.set_up().await;
        server.stop();
        let key = make_key(&installation).await;
        let passphrase = installation.file("passphrase", "a passphrase\n").await;
        Self {
            installation,
            key,
            recovery_key,
            passphrase,
        }
    }

    pub fn create(&self, to: &str) -> CommandOutput {
        let passphrase = text(&self.passphrase);
        self.installation.run(&[
            "backup",
            "create",
            "--to",
            to,
            "--passphrase-file",
            passphrase,
            "--json",
        ])
    }

    /// Restores a backup into another installation.
    pub fn restore(&self, to: &Installation, backup: &str, flags: &[&str]) -> CommandOutput {
        let passphrase = text(&self.passphrase);
        let mut args = vec![
            "backup",
            "restore",
            backup,
            "--passphrase-file",
            passphrase,
            "--json",
        ];
        args.extend(flags);
        to.run(&args)
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub fn path_of(created: &Value) -> String {
    created["path"].as_str().unwrap().to_owned()
}

/// Verifies the backup and compares the checks of `doctor` of the restored copy.
fn check_verification(from: &BackedUp, backup: &str) {
    let passphrase = text(&from.passphrase);
    let verify = [
        "backup",
        "verify",
        backup,
        "--passphrase-file",
        passphrase,
        "--json",
    ];
    let verified = from.installation.run(&verify).json();
    assert_eq!(verified["ok"], true);
    let found = verified["doctor"].as_array().unwrap().iter();
    let found: Vec<&Value> = found.collect();
    let ids = found.iter().map(|check| check["id"].as_str().unwrap());
    let expected = [
        "vault",
        "plaintext_secrets",
        "setup",
        "auth",
        "before_setup",
    ];
    assert_eq!(ids.collect::<Vec<_>>(), expected, "{verified}");
    assert!(found.iter().all(|check| check["ok"] == true), "{verified}");
    assert!(found[0].to_string().contains("was not unlocked"));
}

#[tokio::test]
async fn a_running_server_is_backed_up_verified_and_restored_elsewhere() {
    let from = BackedUp::new().await;
    profiles::write(&from.installation, "acme.toml", profiles::ACME).await;
    profiles::write(&from.installation, "notes.txt", "not a profile").await;
    let server = from.installation.start();
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let variable = json!({ "key": "TOKEN", "value": "hunter2" });
    let set = server.rpc(&from.key, "env.set", variable).await;
    assert!(set["error"].is_null(), "{set}");
    let folder = from.installation.data_dir().join("elsewhere");
    let folder = format!("{}/", text(&folder));
    let created = from.create(&folder).json();
    assert_eq!(created["encrypted"], true);
    assert_eq!(created["rows"]["env_variables"], 1);
    let backup = path_of(&created);
    assert_eq!(mode(Path::new(&backup)), 0o600);
    let list = ["backup", "list", "--to", &folder, "--json"];
    let listed = from.installation.run(&list).json();
    assert_eq!(listed["backups"][0]["path"], created["path"]);
    server.stop();

    check_verification(&from, &backup);

    // An existing profile is not replaced.
    let with_profile = Installation::new();
    profiles::write(&with_profile, "acme.toml", "# another").await;
    let restored = from.restore(&with_profile, &backup, &[]).json();
    let existing = with_profile.data_dir().join("profiles/acme.toml");
    let beside = existing.with_extension("toml.from-backup");
    assert_eq!(restored["profiles_beside"], json!([text(&beside)]));
    for (path, expected) in [(&existing, "# another"), (&beside, profiles::ACME)] {
        assert_eq!(tokio::fs::read_to_string(path).await.unwrap(), expected);
    }

    let to = Installation::new();
    from.restore(&to, &backup, &[]).ok();
    let directory = to.data_dir().join("profiles");
    assert_eq!(mode(&directory), 0o700);
    assert_eq!(mode(&directory.join("acme.toml")), 0o600);
    assert!(!directory.join("notes.txt").exists());
    let restored = to.start();
    assert_eq!(restored.vault_status().await, "sealed");
    let recovery = json!({ "recovery_key": from.recovery_key });
    let path = "/api/auth/vault/recovery";
    let opened = restored
        .call(Method::POST, path, &from.key, Some(recovery))
        .await;
    assert_eq!(opened.status, StatusCode::OK, "{}", opened.body);
    assert_eq!(restored.vault_status().await, "unsealed");
    let listed = restored
        .rpc(&from.key, "webhooks.profiles", json!({}))
        .await;
    assert!(
        listed.to_string().contains("Orders and refunds"),
        "{listed}"
    );
    let listed = restored.rpc(&from.key, "env.list", json!({})).await;
    assert!(listed.to_string().contains("TOKEN"), "{listed}");
    let kind = json!({ "kind": "backup.restored" });
    let audit = restored.rpc(&from.key, "audit.list", kind).await;
    let events = audit["result"]["events"].as_array();
    assert_eq!(events.map(Vec::len), Some(1), "{audit}");
}

#[tokio::test]
async fn a_restore_replaces_nothing_and_needs_the_passphrase() {
    let from = BackedUp::new().await;
    let backup = from.installation.data_dir().join("one.backup.age");
    let backup = text(&backup);
    from.create(backup).ok();
    let again = from.create(backup);
    assert!(
        again.failed(1).contains("cannot create"),
        "{}",
        again.stderr()
    );

    let to = Installation::new();
    let without = to.run(&["backup", "restore", backup]);
    assert!(
        without.failed(1).contains("is encrypted"),
        "{}",
        without.stderr()
    );
    let wrong = from.installation.file("wrong", "another").await;
    let wrong = to.run(&[
        "backup",
        "restore",
        backup,
        "--passphrase-file",
        text(&wrong),
    ]);
    let refusal = wrong.failed(1);
    assert!(refusal.contains("not encrypted to this"), "{refusal}");

    // The session of the setup, and the key.
    let record = from.restore(&to, backup, &["--revoke-credentials"]).json();
    assert_eq!(record["revoked"], 2, "{record}");
    let second = from.restore(&to, backup, &[]);
    let second = second.failed(1);
    for part in ["nothing was restored", "already has rows"] {
        assert!(second.contains(part), "{second}");
    }
    let restored = to.start();
    let refused = restored.rpc(&from.key, "env.list", json!({})).await;
    assert!(
        refused["result"].is_null(),
        "the key was revoked: {refused}"
    );
    let running = from.restore(&to, backup, &[]);
    assert!(
        running.failed(1).contains("is running"),
        "{}",
        running.stderr()
    );
}

#[tokio::test]
async fn backups_in_a_directory_are_limited_in_number() {
    let from = BackedUp::new().await;
    let run = |args: &[&str]| {
        let mut all = vec!["backup", "create", "--json"];
        all.extend(args);
        from.installation.run(&all)
    };
    let directory = from.installation.data_dir().join("backups");
    let older = directory.join("gatehouse-20200101T000000Z.backup");
    std::fs::create_dir(&directory).unwrap();
    std::fs::File::create(&older).unwrap();
    let created = run(&["--keep", "1"]);
    assert!(
        created.stderr().contains("not encrypted"),
        "{}",
        created.stderr()
    );
    let created = created.json();
    assert_eq!(created["deleted"].as_array().map(Vec::len), Some(1));
    assert!(!older.exists() && Path::new(&path_of(&created)).exists());
    run(&["--keep", "0"]).failed(2);
    let one_file = run(&["--to", text(&older), "--keep", "1"]);
    assert!(
        one_file.failed(2).contains("needs a directory"),
        "{}",
        one_file.stderr()
    );
    let piped = from.installation.run(&["backup", "create", "--to", "-"]);
    assert_eq!(piped.0.stdout.get(..2), Some(&[0x1f, 0x8b][..]));
}

#[tokio::test]
async fn waiting_deliveries_are_held_until_they_are_released() {
    let from = BackedUp::new().await;
    let server = from.installation.start();
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let rpc = async |method, params| {
        let answer = server.rpc(&from.key, method, params).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    };
    // No server listens there, so the delivery waits for its second attempt.
    let fields = json!({ "url": "http://127.0.0.1:9/" });
    let account = json!({ "type": "http", "id": "silent", "label": "silent", "fields": fields });
    rpc("channels.create", account).await;
    let webhook = json!({
        "name": "waits", "source_profile": "github", "deliver_only": true,
        "deliver_to": "http:silent", "prompt_template": "{action}",
    });
    let webhook = rpc("webhooks.create", webhook).await;
    rpc("webhooks.test", json!({ "id": webhook["id"] })).await;
    let backup = from.installation.data_dir().join("one.backup.age");
    from.create(text(&backup)).ok();
    server.stop();

    let to = Installation::new();
    let record = from.restore(&to, text(&backup), &[]).json();
    assert_eq!(record["held"], 1, "{record}");
    let restored = to.start();
    restored
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let page = restored
        .rpc(&from.key, "webhooks.deliveries", json!({}))
        .await;
    let held = &page["result"]["deliveries"][0];
    assert!(
        held["error"]
            .as_str()
            .unwrap()
            .starts_with("Restored from a backup"),
        "{held}"
    );
    let doctor = restored.rpc(&from.key, "system.doctor", json!({})).await;
    assert!(doctor.to_string().contains("held_deliveries"), "{doctor}");
    let waiting = async || {
        let only = json!({ "to_release": true, "limit": 10 });
        let page = restored.rpc(&from.key, "webhooks.deliveries", only).await;
        let listed = page["result"]["deliveries"].as_array().map(Vec::len);
        (listed, page["result"]["to_release"].clone())
    };
    assert_eq!(waiting().await, (Some(1), json!(1)));
    let method = "webhooks.deliveries.release";
    for expected in [1, 0] {
        let released = restored.rpc(&from.key, method, json!({})).await;
        assert_eq!(released["result"]["released"], expected, "{released}");
        assert_eq!(waiting().await, (Some(0), json!(0)));
    }
}

#[tokio::test]
async fn messages_of_people_from_before_a_backup_are_not_answered() {
    let from = BackedUp::new().await;
    let location = |installation: &Installation| {
        Location::sqlite_file(&installation.data_dir().join("gatehouse.db"))
    };
    let rows = "INSERT INTO channel_accounts (id, type, label, fields, created_at, updated_at)
            VALUES ('telegram', 'telegram', 'T', '{}', 1, 1);
        INSERT INTO received_messages
            (account_id, message_id, number, person, chat, text, received_at, ended_at)
            VALUES ('telegram', '1', 1, 'p', 'c', 'Are you there?', 1, NULL),
                ('telegram', '2', 2, 'p', 'c', 'Answered', 1, 2);";
    run_sql(&location(&from.installation), rows).await;
    let backup = from.installation.data_dir().join("one.backup.age");
    from.create(text(&backup)).ok();
    let open = "SELECT COUNT(*) FROM received_messages WHERE ended_at IS NULL";
    let all = "SELECT COUNT(*) FROM received_messages";
    for more in [&[][..], &["--release-queue"]] {
        let to = Installation::new();
        from.restore(&to, text(&backup), more).ok();
        assert_eq!(number(&location(&to), open).await, 0, "{more:?}");
        // An email that arrives again must not be answered again.
        assert_eq!(number(&location(&to), all).await, 1, "{more:?}");
    }
}

#[tokio::test]
async fn the_server_makes_backups_on_request_and_by_its_schedule() {
    let mut from = BackedUp::new().await;
    from.installation.env("SERVICE_BACKUP__KEEP", "1");
    let server = from.installation.start();
    let login = json!({ "password": PASSWORD });
    server.post("/api/auth/login", login).await;
    let run = |args: &[&str]| {
        let mut all = vec![
            "--url",
            &server.url,
            "--api-key",
            &from.key,
            "--json",
            "backup",
        ];
        all.extend(args);
        from.installation.run(&all)
    };
    let made_by = run(&["create", "--passphrase-file", text(&from.passphrase)]);
    let made = made_by.json();
    assert_eq!(
        (
            made["encrypted"].as_bool(),
            made["deleted"].as_array().map(Vec::len)
        ),
        (Some(true), Some(0))
    );
    assert!(!made_by.stderr().contains("not encrypted"));
    run(&["create", "--recipient", "age1"]).failed(2);
    let name = made["name"].as_str().unwrap();
    let backup = from.installation.data_dir().join("backups").join(name);
    let passphrase = text(&from.passphrase);
    let verify = [
        "backup",
        "verify",
        text(&backup),
        "--passphrase-file",
        passphrase,
        "--json",
    ];
    assert_eq!(from.installation.run(&verify).json()["ok"], true);
    assert!(run(&["create"]).stderr().contains("not encrypted"));

    let schedule = json!({ "key": "backup.schedule", "value": "* * * * * *" });
    server.rpc(&from.key, "config.set", schedule).await;
    // The first poll calculates the time. The second poll makes the backup and deletes the previous
    // one.
    for _ in 0..600 {
        let doctor = server.rpc(&from.key, "system.doctor", json!({})).await;
        if doctor
            .to_string()
            .contains("The last scheduled backup was made at")
        {
            let backups = run(&["list"]).json()["backups"].clone();
            assert_eq!(backups.as_array().map(Vec::len), Some(1), "{backups}");
            assert_eq!(backups[0]["encrypted"], false);
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the server made no backup");
}

#[tokio::test]
async fn a_backup_of_a_running_server_is_sent_to_the_machine_of_the_client() {
    let from = BackedUp::new().await;
    let server = from.installation.start();
    let login = json!({ "password": PASSWORD });
    server.post("/api/auth/login", login).await;
    let passphrase = text(&from.passphrase);
    // A machine that has only the program.
    let client = Installation::new();
    let run = |key: &str, args: &[&str]| {
        let mut all = vec!["--url", &server.url, "--api-key", key, "--json", "backup"];
        all.extend(args);
        client.run(&all)
    };
    let here = tempfile::tempdir().unwrap();
    let place = |name: &str| text(&here.path().join(name)).to_owned();
    let file = place("one.backup.age");
    let encrypted = ["--passphrase-file", passphrase];
    let create = |to: &str, more: &[&str]| {
        let args = [&["create", "--to", to], &encrypted[..], more].concat();
        run(&from.key, &args)
    };
    let made = create(&file, &[]).json();
    assert_eq!(made["encrypted"], true);
    assert_eq!(mode(Path::new(&file)), 0o600);
    let size = Path::new(&file).metadata().unwrap().len();
    assert_eq!(made["bytes"], size);
    let verify = |file: &str| {
        let args = [&["backup", "verify", file, "--json"], &encrypted[..]].concat();
        client.run(&args).json()
    };
    assert_eq!(verify(&file)["ok"], true);
    // The server stores nothing, and no local file is replaced.
    assert!(!from.installation.data_dir().join("backups").exists());
    create(&file, &[]).failed(1);

    let piped = create("-", &[]).0;
    assert!(piped.status.success());
    let copy = place("two.backup.age");
    tokio::fs::write(&copy, &piped.stdout).await.unwrap();
    assert_eq!(verify(&copy)["ok"], true);

    let folder = place("kept/");
    let old = place("kept/gatehouse-20200101T000000Z.backup.age");
    tokio::fs::create_dir(&folder).await.unwrap();
    tokio::fs::copy(&file, &old).await.unwrap();
    let made = create(&folder, &["--keep", "1"]).json();
    assert_eq!(made["deleted"].as_array().map(Vec::len), Some(1), "{made}");
    assert!(path_of(&made).starts_with(&folder));
    assert_eq!(verify(&path_of(&made))["ok"], true);
    create(&file, &["--keep", "1"]).failed(2);

    // Only administrators may create a backup.
    let reader = from
        .installation
        .make_key(&server, &["operator.read"])
        .await;
    let refused = run(&reader, &["create", "--to", &place("three")]);
    let received = refused.failed(1);
    assert!(received.contains("operator.admin"), "{received}");
    assert!(!Path::new(&place("three")).exists());

    let log = server.rpc(
        &from.key,
        "audit.list",
        json!({ "kind": "backup.downloaded" }),
    );
    let log = log.await["result"]["events"].clone();
    assert_eq!(log.as_array().map(Vec::len), Some(3), "{log}");
    assert!(log[0]["detail"]["bytes"].as_u64().unwrap() > 0, "{log}");
}

#[tokio::test]
async fn a_restore_names_where_the_rows_are() {
    let from = BackedUp::new().await;
    let backup = from.installation.data_dir().join("one.backup.age");
    from.create(text(&backup)).ok();
    let (passphrase, backup) = (text(&from.passphrase), text(&backup));
    let restore = ["backup", "restore", backup, "--passphrase-file", passphrase];
    let to = Installation::new();
    let said = to.run(&restore).ok();
    let data_dir = to.data_dir();
    let expected = format!(" rows into {}.\n", data_dir.display());
    assert!(said.ends_with(&expected), "{said}");
    let Some(database) = empty_postgres().await else {
        return;
    };
    let mut to = Installation::new();
    to.env("SERVICE_DATABASE_URL", database.location.url());
    let said = to.run(&restore).ok();
    assert!(
        said.contains(" rows into the PostgreSQL database"),
        "{said}"
    );
    assert!(!said.contains(text(&to.data_dir())), "{said}");
}
