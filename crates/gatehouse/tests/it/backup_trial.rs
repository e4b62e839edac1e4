//! Trial restores of backups, and backups of the same second.

use crate::backup::{path_of, text};
use crate::process::{BINARY, Installation, PASSWORD, Server, make_key};
use gatehouse_backup::age::{FileKey, Recipient};
use gatehouse_backup::{Source, create};
use gatehouse_domain::{Clock, SystemClock, SystemRandom};
use gatehouse_services::backup::{DrillError, Trial};
use gatehouse_store::Location;
use gatehouse_store::testing::run_sql;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RECIPIENT: &str = "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d";

#[tokio::test]
async fn a_drill_restores_a_backup_on_trial_and_says_what_is_wrong_with_a_damaged_one() {
    let from = Installation::new();
    let server = from.start();
    server.set_up().await;
    let folder = from.data_dir().join("backups");
    let to = format!("{}/", text(&folder));
    let created = from
        .run(&["backup", "create", "--to", &to, "--json"])
        .json();
    let backup = PathBuf::from(path_of(&created));
    let program = Path::new(BINARY);
    // The files that a killed check left behind.
    let left = from.data_dir().join("verify-drill");
    std::fs::create_dir_all(left.join("verify-old")).unwrap();
    let verify = async || {
        let trial = Trial::of(backup.clone());
        gatehouse::drill::verify(program, &[], &from.data_dir(), trial).await
    };
    verify().await.unwrap();
    assert!(!left.exists());
    std::fs::create_dir_all(&left).unwrap();
    let whole = tokio::fs::read(&backup).await.unwrap();
    let half = &whole[..whole.len() / 2];
    tokio::fs::write(&backup, half).await.unwrap();
    let Err(DrillError::Unusable(why)) = verify().await else {
        panic!("a damaged backup must be reported");
    };
    assert!(!why.is_empty() && !why.contains('\n'), "{why}");
    std::fs::remove_file(&backup).unwrap();
    let why = verify().await.unwrap_err().to_string();
    assert!(
        why.contains("No such file") || why.contains("cannot"),
        "{why}"
    );
    // No temporary file remains, even after a failure.
    let names = std::fs::read_dir(from.data_dir()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut temporary = names.filter(|name| name.starts_with("verify-"));
    assert_eq!(temporary.next(), None);
    server.stop();
}

/// A limit on file sizes simulates a disk without space for the restored data.
#[tokio::test]
async fn a_backup_that_cannot_be_checked_for_lack_of_space_is_not_called_unusable() {
    let from = Installation::new();
    from.start().stop();
    let created = from.run(&["backup", "create", "--json"]).json();
    let backup = PathBuf::from(path_of(&created));
    let limited = from
        .file(
            "limited",
            &format!("#!/bin/sh\ntrap '' XFSZ\nulimit -f 64\nexec {BINARY} \"$@\"\n"),
        )
        .await;
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&limited, runnable).unwrap();
    let trial = Trial::of(backup.clone());
    let result = gatehouse::drill::verify(&limited, &[], &from.data_dir(), trial).await;
    assert!(matches!(result, Err(DrillError::NotMade(_))), "{result:?}");
    let program = Path::new(BINARY);
    let trial = Trial::of(backup);
    let result = gatehouse::drill::verify(program, &[], &from.data_dir(), trial).await;
    assert_eq!(result, Ok(()));
}

/// Returns an encrypted backup of the installation, and the key of its file in hexadecimal.
async fn encrypted(from: &Installation, recipient: Recipient) -> (PathBuf, String) {
    let now = SystemClock::new().now();
    let source = Source {
        location: Location::sqlite_file(&from.data_dir().join("gatehouse.db")),
        files: Vec::new(),
        directories: Vec::new(),
        version: "1.2.3".to_owned(),
        now,
    };
    let mut file = Vec::new();
    let created = create(
        &mut file,
        &source,
        Some(&recipient),
        &SystemRandom,
        |_, _| {},
    );
    let key = created.await.unwrap().key.unwrap();
    let path = from.data_dir().join("a.backup.age");
    tokio::fs::write(&path, file).await.unwrap();
    (path, key.to_hex().as_str().to_owned())
}

fn trial(backup: &Path, key: &str, reads_only: bool) -> Trial {
    Trial {
        backup: backup.to_path_buf(),
        key: Some(FileKey::parse_hex(key).unwrap()),
        reads_only,
    }
}

#[tokio::test]
async fn a_drill_decrypts_a_backup_with_the_key_of_its_file_and_finds_damage() {
    let from = Installation::new();
    from.start().stop();
    let passphrase = Recipient::Passphrase(SecretString::from("a passphrase"));
    for recipient in [Recipient::parse(RECIPIENT).unwrap(), passphrase] {
        let (backup, key) = encrypted(&from, recipient).await;
        let whole = tokio::fs::read(&backup).await.unwrap();
        let mut changed = whole.clone();
        let place = changed.len() / 2;
        changed[place] ^= 1;
        let half = whole[..whole.len() / 2].to_vec();
        for reads_only in [false, true] {
            let verify = async |key: &str| {
                let trial = trial(&backup, key, reads_only);
                let program = Path::new(BINARY);
                gatehouse::drill::verify(program, &[], &from.data_dir(), trial).await
            };
            tokio::fs::write(&backup, &whole).await.unwrap();
            assert_eq!(verify(key.as_str()).await, Ok(()));
            let wrong = verify("0".repeat(32).as_str()).await;
            assert!(matches!(wrong, Err(DrillError::Unusable(_))), "{wrong:?}");
            for damaged in [&changed, &half] {
                tokio::fs::write(&backup, damaged).await.unwrap();
                let found = verify(key.as_str()).await;
                assert!(matches!(found, Err(DrillError::Unusable(_))), "{found:?}");
            }
        }
    }
    assert!(!from.data_dir().join("verify-drill").exists());
}

/// With this limit, no file can have content.
#[tokio::test]
async fn a_backup_that_is_only_read_is_not_written_to_the_disk() {
    let from = Installation::new();
    from.start().stop();
    let (backup, key) = encrypted(&from, Recipient::parse(RECIPIENT).unwrap()).await;
    let script = format!("#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec {BINARY} \"$@\"\n");
    let program = from.file("limited", &script).await;
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&program, runnable).unwrap();
    for (reads_only, is_possible) in [(true, true), (false, false)] {
        let trial = trial(&backup, &key, reads_only);
        let result = gatehouse::drill::verify(&program, &[], &from.data_dir(), trial).await;
        assert_eq!(result.is_ok(), is_possible, "{result:?}");
    }
}

/// Other users can read the arguments of a process.
#[tokio::test]
async fn the_key_of_a_drill_is_passed_on_standard_input_only() {
    let from = Installation::new();
    from.start().stop();
    let (backup, key) = encrypted(&from, Recipient::parse(RECIPIENT).unwrap()).await;
    // The sixth argument is the backup.
    let script =
        "#!/bin/sh\nprintf '%s ' \"$@\" > \"$6.seen\"\nenv >> \"$6.seen\"\ncat > \"$6.key\"\n";
    let program = from.file("program", script).await;
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&program, runnable).unwrap();
    let trial = trial(&backup, &key, false);
    let variables = [("PATH".to_owned(), "/usr/bin:/bin".into())];
    let result = gatehouse::drill::verify(&program, &variables, &from.data_dir(), trial).await;
    assert!(result.is_err(), "the program reports nothing");
    let beside = async |ending: &str| {
        let path = format!("{}.{ending}", text(&backup));
        tokio::fs::read_to_string(path).await.unwrap()
    };
    assert_eq!(beside("key").await, key);
    let seen = beside("seen").await;
    assert!(seen.contains("--key-from-stdin"), "{seen}");
    assert!(!seen.contains(&key), "{seen}");
}

/// Makes the server create an encrypted backup, which it verifies immediately. Returns the result.
async fn tried_backup(from: &Installation, server: &Server, key: &str) -> Value {
    let password = json!({ "password": PASSWORD });
    server.post("/api/auth/login", password).await;
    let params = json!({ "passphrase": "a passphrase of the owner" });
    let made = server.rpc(key, "backup.create", params).await;
    assert_eq!(made["result"]["encrypted"], true, "{made}");
    let listed = || from.run(&["backup", "list", "--json"]).json()["backups"][0].clone();
    for _ in 0..600 {
        if !listed()["checked"].is_null() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    listed()["checked"]["result"].clone()
}

#[tokio::test]
async fn the_server_restores_the_encrypted_backup_that_it_made_on_trial() {
    let from = Installation::new();
    let server = from.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&from).await;
    let server = from.start();
    assert_eq!(tried_backup(&from, &server, &key).await, "restored");
    let shown = from.run(&["backup", "list"]).ok();
    assert!(shown.contains("trial restore succeeded ("), "{shown}");
    server.stop();
}

/// The state after the upgrade of a package, before the restart.
#[tokio::test]
async fn a_server_whose_program_was_deleted_restores_backups_on_trial() {
    let from = Installation::new();
    let server = from.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&from).await;
    // A second name of the program, on its file system.
    let folder = tempfile::tempdir_in(Path::new(BINARY).parent().unwrap()).unwrap();
    let program = folder.path().join("gatehouse");
    std::fs::hard_link(BINARY, &program).unwrap();
    let mut command = Command::new(&program);
    command.arg("serve");
    let server = from.start_as(command);
    std::fs::remove_file(&program).unwrap();
    assert_eq!(tried_backup(&from, &server, &key).await, "restored");
    server.stop();
}

/// When a service stops, systemd also sends the signal to the process that verifies a backup.
#[tokio::test]
async fn a_check_that_was_stopped_does_not_blame_the_backup_and_one_that_crashed_does() {
    let from = Installation::new();
    std::fs::create_dir_all(from.data_dir()).unwrap();
    for (signal, is_blamed) in [("TERM", false), ("KILL", false), ("ABRT", true)] {
        let script = format!("#!/bin/sh\nulimit -c 0\nkill -s {signal} $$\n");
        let program = from.file(signal, &script).await;
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&program, runnable).unwrap();
        let trial = Trial::of(from.data_dir().join("a.backup"));
        let result = gatehouse::drill::verify(&program, &[], &from.data_dir(), trial).await;
        let found = matches!(result, Err(DrillError::Unusable(_)));
        assert_eq!((result.is_err(), found), (true, is_blamed), "{result:?}");
    }
}

/// The server's variables may contain secrets and settings.
#[tokio::test]
async fn a_drill_gets_only_the_variables_of_child_processes() {
    let from = Installation::new();
    std::fs::create_dir_all(from.data_dir()).unwrap();
    // The last argument is the backup.
    let script = "#!/bin/sh\nenv > \"$6\"\n";
    let program = from.file("program", script).await;
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&program, runnable).unwrap();
    let written = from.data_dir().join("variables");
    let path = "/usr/bin:/bin";
    let variables = [("PATH".to_owned(), std::ffi::OsString::from(path))];
    let trial = Trial::of(written.clone());
    let result = gatehouse::drill::verify(&program, &variables, &from.data_dir(), trial).await;
    assert!(result.is_err(), "the program reports nothing");
    let text = tokio::fs::read_to_string(&written).await.unwrap();
    let of_shell = ["PWD=", "OLDPWD=", "SHLVL=", "_="];
    let passed = text
        .lines()
        .filter(|line| !of_shell.iter().any(|name| line.starts_with(name)));
    let passed: Vec<&str> = passed.collect();
    assert_eq!(passed, [format!("PATH={path}")]);
}

#[tokio::test]
async fn a_command_verifies_the_encrypted_backup_that_it_made_before_it_deletes_older_ones() {
    let from = Installation::new();
    let server = from.start();
    server.set_up().await;
    server.stop();
    let create = |more: &[&str]| {
        let create = ["backup", "create", "--verify", "--recipient", RECIPIENT];
        from.run(&[&create[..], more].concat())
    };
    let made = create(&["--keep", "1", "--json"]).json();
    assert_eq!(
        (&made["encrypted"], &made["verified"]),
        (&json!(true), &json!(true))
    );
    let database = Location::sqlite_file(&from.data_dir().join("gatehouse.db"));
    run_sql(&database, "UPDATE audit_log SET actor = 'x' WHERE seq = 1").await;
    let failed = create(&["--keep", "1"]).failed(1);
    assert!(failed.contains("The audit log is not intact"), "{failed}");
    let folder = from.data_dir().join("backups");
    assert_eq!(folder.read_dir().unwrap().count(), 2, "none was deleted");
    let names = from.data_dir().read_dir().unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.starts_with("verify-")));
    create(&["--to", "-"]).failed(2);
    create(&["--url", "http://127.0.0.1:9"]).failed(2);
}

#[test]
fn backups_of_the_same_second_are_both_kept() {
    let installation = Installation::new();
    installation.start().stop();
    // Two of the three begin within one second. On a slow machine this may fail, and the test then
    // shows nothing.
    let made = [(); 3].map(|()| installation.run(&["backup", "create", "--json"]).json());
    let mut paths = made.map(|record| path_of(&record));
    paths.sort();
    assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "{paths:?}");
}

/// The first trial restore is made when the server starts. The key of the backup was not kept.
#[tokio::test]
async fn the_list_of_backups_shows_that_an_encrypted_one_was_not_restored() {
    let mut from = Installation::new();
    from.env("SERVICE_BACKUP__SCHEDULE", "0 0 1 1 *");
    from.env("SERVICE_BACKUP__RECIPIENT", RECIPIENT);
    from.env("SERVICE_BACKUP__DRILL_DAYS", "0");
    let server = from.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&from).await;
    let server = from.start();
    let password = json!({ "password": PASSWORD });
    server.post("/api/auth/login", password).await;
    let made = server.rpc(&key, "backup.create", json!({})).await;
    assert_eq!(made["result"]["encrypted"], true, "{made}");
    server.stop();
    let list = ["backup", "list", "--json"];
    let listed = |from: &Installation| from.run(&list).json()["backups"][0].clone();
    let before = listed(&from);
    assert_eq!(before["encrypted"], true);
    assert!(before["checked"].is_null(), "{before}");
    from.env("SERVICE_BACKUP__DRILL_DAYS", "7");
    let server = from.start();
    for _ in 0..600 {
        if !listed(&from)["checked"].is_null() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(listed(&from)["checked"]["result"], "file_unchanged");
    let shown = from.run(&["backup", "list"]).ok();
    assert!(shown.contains("file unchanged, not restored ("), "{shown}");
    let of_server = ["--url", &server.url, "--api-key", &key, "backup", "list"];
    let password = json!({ "password": PASSWORD });
    server.post("/api/auth/login", password).await;
    let shown = from.run(&of_server).ok();
    for part in [" KiB  yes ", "not restored ("] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Another directory with files of the same names belongs to another installation.
    let folder = from.data_dir().join("backups");
    let other = from.data_dir().join("other");
    std::fs::create_dir(&other).unwrap();
    let name = folder.read_dir().unwrap().next().unwrap().unwrap();
    std::fs::copy(name.path(), other.join(name.file_name())).unwrap();
    let shown = from.run(&["backup", "list", "--to", text(&other)]).ok();
    assert!(!shown.contains("not restored"), "{shown}");
    let shown = from.run(&["backup", "list", "--to", text(&folder)]).ok();
    assert!(shown.contains("not restored"), "{shown}");
    server.stop();
}

/// Only backups in the directory of `backup.to` have stored checks.
#[test]
fn backups_in_another_directory_are_listed_without_the_database() {
    let from = Installation::new();
    let other = from.data_dir().join("other");
    std::fs::create_dir_all(&other).unwrap();
    let database = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    database.set_nonblocking(true).unwrap();
    let address = database.local_addr().unwrap();
    let url = format!("postgres://gatehouse@{address}/gatehouse");
    let list = ["backup", "list", "--database-url", &url, "--to"];
    let listed = from.run(&[&list[..], &[text(&other)]].concat());
    assert!(listed.ok().contains("No backups."));
    assert!(database.accept().is_err(), "it connected to the database");
}

#[test]
fn a_backup_is_not_written_where_its_disk_is_missing() {
    let mut from = Installation::new();
    from.start().stop();
    let disk = from.data_dir().with_file_name("disk");
    from.env("SERVICE_BACKUP__TO", text(&disk));
    let refused = from.run(&["backup", "create"]).failed(1);
    assert!(refused.contains("mount its disk"), "{refused}");
    let listed = from.run(&["backup", "list"]);
    assert!(listed.ok().contains("No backups."));
    assert!(listed.stderr().contains("disk does not exist."));
    assert!(!disk.exists());
    std::fs::create_dir(&disk).unwrap();
    let created = from.run(&["backup", "create", "--json"]).json();
    assert!(Path::new(&path_of(&created)).starts_with(&disk));
}

/// A problem of the installation is shown, but it is not a problem of its backup.
#[tokio::test]
async fn verifying_a_backup_shows_the_state_of_the_installation() {
    let mut from = Installation::new();
    from.start().stop();
    let verified = |from: &Installation| {
        let created = from.run(&["backup", "create", "--json"]).json();
        from.run(&["backup", "verify", &path_of(&created)]).ok()
    };
    let settings = from.data_dir().join("gatehouse.toml");
    tokio::fs::write(&settings, "[log]\nlevel = \"info\"\n")
        .await
        .unwrap();
    let shown = verified(&from);
    assert!(shown.contains("State of the installation"), "{shown}");
    assert!(
        shown.contains("! No password or passkey is set."),
        "{shown}"
    );
    assert!(shown.contains("The settings file is valid."), "{shown}");
    assert!(shown.contains("were not applied"), "{shown}");
    // A setting that is complete only with the environment variables.
    from.env("SERVICE_SERVER__TLS__KEY", "key.pem");
    tokio::fs::write(&settings, "[server.tls]\ncert = \"cert.pem\"\n")
        .await
        .unwrap();
    let shown = verified(&from);
    assert!(shown.contains("not valid on its own"), "{shown}");
}
