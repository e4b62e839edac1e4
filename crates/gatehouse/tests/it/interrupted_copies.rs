//! Backups and moves on a full disk, without their directory, and after a kill.

use crate::backup::{path_of, text};
use crate::process::{BINARY, CommandOutput, Installation, PASSWORD, Server, make_key, mode};
use gatehouse_store::Location;
use gatehouse_store::testing::number;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The largest file that a server on the simulated full disk may write. A limit on file sizes makes the same writes
/// fail.
const DISK_BYTES: u64 = 1 << 20;
/// The values exceed [`DISK_BYTES`] in total. They are encrypted and therefore not compressible.
const VALUES: usize = 40;
const VALUE_BYTES: usize = 60_000;

/// Fills an installation with more data than the full disk holds. Returns an API key and the size of a database without
/// that data.
async fn fill(installation: &Installation) -> (String, u64) {
    let server = installation.start();
    server.set_up().await;
    server.stop();
    let key = make_key(installation).await;
    let database = installation.data_dir().join("gatehouse.db");
    let empty = database.metadata().unwrap().len();
    let server = installation.start();
    log_in(&server).await;
    for number in 0..VALUES {
        let value = "x".repeat(VALUE_BYTES);
        let variable = json!({ "key": format!("KEY_{number}"), "value": value });
        let set = server.rpc(&key, "env.set", variable).await;
        assert!(set["error"].is_null(), "{set}");
    }
    server.stop();
    (key, empty)
}

async fn log_in(server: &Server) {
    let password = json!({ "password": PASSWORD });
    server.post("/api/auth/login", password).await;
}

/// Prepares a command of the binary with these arguments, to which more can be added. Writes beyond the size limit of a
/// file fail and do not end the process.
fn limited(bytes: &str, args: &[&str]) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--fsize={bytes}:unlimited"));
    let script = "trap '' XFSZ; exec \"$0\" \"$@\"";
    command.args(["/bin/sh", "-c", script, BINARY]).args(args);
    command
}

fn limit(server: &Server, bytes: &str) {
    let id = server.child.id().to_string();
    let limit = format!("--fsize={bytes}:unlimited");
    let set = Command::new("prlimit")
        .args(["--pid", &id, &limit])
        .status();
    assert!(set.unwrap().success());
}

/// Returns the names of the files in a directory; none if it is missing.
fn files(directory: &Path) -> Vec<String> {
    let Ok(entries) = directory.read_dir() else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Waits for a condition.
async fn until(condition: impl AsyncFn() -> bool) {
    for _ in 0..600 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it did not happen within a minute");
}

fn is_partial(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|it| it == "part")
}

#[tokio::test]
async fn a_backup_on_a_full_disk_leaves_no_file_and_is_reported() {
    let mut installation = Installation::new();
    installation.env("SERVICE_BACKUP__SCHEDULE", "* * * * * *");
    let (key, _) = fill(&installation).await;
    let server = installation.start_as(limited("unlimited", &["serve"]));
    log_in(&server).await;
    limit(&server, &DISK_BYTES.to_string());
    // The scheduled backup fails at the next poll of the schedule.
    let failed = async || {
        let doctor = server.rpc(&key, "system.doctor", json!({})).await;
        let checks = doctor["result"]["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter();
        let check = checks.find(|check| check["id"] == "backup").unwrap();
        let message = check["message"].as_str().unwrap().to_owned();
        message.contains("failed") && message.contains("File too large")
    };
    until(failed).await;
    let folder = installation.data_dir().join("backups");
    let complete = || {
        let all = files(&folder).into_iter();
        all.filter(|name| !is_partial(name)).collect::<Vec<_>>()
    };
    let before = complete();
    // A manual backup is refused while a scheduled one is running.
    let create = async || server.rpc(&key, "backup.create", json!({})).await;
    until(async || create().await.to_string().contains("File too large")).await;
    assert_eq!(complete(), before);
    until(async || !files(&folder).iter().any(|name| is_partial(name))).await;
    // With space again, the next backup succeeds.
    limit(&server, "unlimited");
    until(async || create().await["error"].is_null()).await;
    assert!(complete().len() > before.len());
    server.stop();
}

#[tokio::test]
async fn a_missing_directory_is_created_and_one_that_cannot_be_is_named() {
    let installation = Installation::new();
    installation.start().stop();
    let missing = installation.data_dir().join("a/b");
    let to = format!("{}/", text(&missing));
    let create = ["backup", "create", "--json", "--to"];
    let created = installation.run(&[create.as_slice(), &[to.as_str()]].concat());
    assert_eq!(files(&missing).len(), 1, "{}", created.ok());
    assert_eq!(mode(&missing), 0o700);
    let file = installation.file("file", "").await;
    let cases = [
        ("sub/", &create[..]),
        ("sub/gatehouse.db", &["move", "--to"][..]),
    ];
    for (below, args) in cases {
        let to = file.join(below);
        let to = if args[0] == "move" {
            format!("sqlite://{}", text(&to))
        } else {
            text(&to).to_owned()
        };
        let refused = installation.run(&[args, &[to.as_str()]].concat()).failed(1);
        let refused = refused.to_lowercase();
        assert!(refused.contains("not a directory"), "{refused}");
    }
    // A move also creates the directory of its target.
    let target = installation.data_dir().join("c/d/gatehouse.db");
    let to = format!("sqlite://{}", text(&target));
    installation.run(&["move", "--to", &to]).ok();
    assert_eq!(mode(target.parent().unwrap()), 0o700);
}

/// Runs a command until `is_begun`, then kills it. Returns whether it was killed before its end.
async fn kill_when(
    installation: &Installation,
    args: &[&str],
    is_begun: impl AsyncFn() -> bool,
) -> bool {
    let mut command = installation.prepared(Command::new(BINARY));
    command.args(args).arg("--data-dir");
    command.arg(installation.data_dir());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !is_begun().await {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
    }
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

#[tokio::test]
async fn a_killed_backup_is_not_listed_and_the_next_one_deletes_its_file() {
    let installation = Installation::new();
    fill(&installation).await;
    let folder = installation.data_dir().join("backups");
    let partial = || files(&folder).into_iter().find(|name| is_partial(name));
    let create = ["backup", "create"];
    for _ in 0..20 {
        let is_begun = async || partial().is_some();
        if kill_when(&installation, &create, is_begun).await && partial().is_some() {
            break;
        }
    }
    assert!(
        partial().is_some(),
        "every backup ended before it was killed"
    );
    let count = || {
        let listed = installation.run(&["backup", "list", "--json"]).json();
        listed["backups"].as_array().unwrap().len()
    };
    let before = count();
    // The next backup does not depend on the abandoned file.
    let created = installation.run(&["backup", "create", "--json"]).json();
    installation
        .run(&["backup", "verify", &path_of(&created)])
        .ok();
    assert_eq!(count(), before + 1);
    let left = folder.join(partial().unwrap());
    // The file counts as abandoned a minute after the last write.
    let file = std::fs::File::options().write(true).open(&left).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - Duration::from_secs(61))
        .unwrap();
    drop(file);
    installation.run(&create).ok();
    assert!(!left.exists());
}

fn sums(moved: &CommandOutput) -> Vec<Value> {
    let tables = moved.json()["tables"].as_array().unwrap().clone();
    let is_static = |table: &Value| table["name"] == "env_variables";
    tables.into_iter().filter(is_static).collect()
}

/// Returns the URL and the path of a new SQLite database.
fn target(installation: &Installation, name: &str) -> (String, PathBuf) {
    let path = installation.data_dir().join(name).join("gatehouse.db");
    (format!("sqlite://{}", text(&path)), path)
}

#[tokio::test]
async fn a_move_that_was_killed_or_ran_out_of_space_is_continued() {
    let installation = Installation::new();
    let (_, empty) = fill(&installation).await;
    let (whole, _) = target(&installation, "whole");
    let to_whole = installation.run(&["move", "--json", "--to", &whole]);
    let expected = sums(&to_whole);
    assert_eq!(expected[0]["rows"], VALUES);

    // The target has no space for all rows.
    let (url, _) = target(&installation, "full");
    let bytes = (empty + DISK_BYTES).to_string();
    let args = ["move", "--to", url.as_str(), "--data-dir"];
    let mut command = installation.prepared(limited(&bytes, &args));
    command.arg(installation.data_dir());
    let refused = CommandOutput(command.output().unwrap()).failed(1);
    assert!(
        !refused.is_empty() && !refused.contains("panicked"),
        "{refused}"
    );
    let continued = installation.run(&["move", "--json", "--to", &url]);
    assert_eq!(sums(&continued), expected);

    // A process that is killed as soon as the target has rows. The process may have finished by
    // then.
    let mut killed = None;
    for number in 0..20 {
        let (url, path) = target(&installation, &format!("killed-{number}"));
        let is_begun = async || has_variables(&path, empty).await;
        if kill_when(&installation, &["move", "--to", &url], is_begun).await {
            let verified = installation.run(&["audit", "verify", "--database-url", &url]);
            if !verified.0.status.success() {
                killed = Some((url, verified.failed(1)));
                break;
            }
        }
    }
    let (url, refused) = killed.expect("every move ended before it was killed");
    assert!(refused.contains("has not finished"), "{refused}");
    let continued = installation.run(&["move", "--json", "--to", &url]);
    assert_eq!(sums(&continued), expected);
    let verify = ["audit", "verify", "--database-url", &url];
    installation.run(&verify).ok();
}

/// Returns whether the target of a move has variables. `empty` is the size of a database without
/// them.
async fn has_variables(path: &Path, empty: u64) -> bool {
    let size = |path: &Path| path.metadata().map_or(0, |found| found.len());
    if size(path) + size(&path.with_extension("db-wal")) < empty {
        return false;
    }
    let location = Location::sqlite_file(path);
    let tables = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'env_variables'";
    number(&location, tables).await > 0
        && number(&location, "SELECT COUNT(*) FROM env_variables").await > 0
}
