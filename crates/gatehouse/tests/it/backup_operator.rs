//! The messages of `gatehouse backup` for the operator of a server, and the owner of its files.

use crate::backup::{BackedUp, path_of, text};
use crate::own_memory::{NOBODY, hand_over, is_root};
use crate::process::{BINARY, Installation};
use crate::profiles;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[tokio::test]
async fn a_sealed_server_names_the_command_on_its_machine() {
    let from = BackedUp::new().await;
    let server = from.installation.start();
    let here = tempfile::tempdir().unwrap();
    let here = ["--to", text(here.path())];
    let asked = ["--url", &server.url, "--api-key", &from.key];
    for to in [&here[..0], &here[..]] {
        let args = [&asked[..], &["backup", "create"], to].concat();
        let refusal = from.installation.run(&args).failed(1);
        for part in [
            "VAULT_SEALED",
            "works while the vault is sealed: gatehouse backup create",
        ] {
            assert!(refusal.contains(part), "{refusal}");
        }
    }
    from.installation.run(&["backup", "create"]).ok();
}

#[tokio::test]
async fn a_restore_does_not_call_deleted_credentials_valid() {
    let from = BackedUp::new().await;
    let backup = from.installation.data_dir().join("one.backup.age");
    from.create(text(&backup)).ok();
    let (passphrase, backup) = (text(&from.passphrase), text(&backup));
    let restore = ["backup", "restore", backup, "--passphrase-file", passphrase];
    let kept = Installation::new().run(&restore);
    kept.ok();
    let said = kept.stderr();
    for part in [
        "sessions, paired people and share links are as they were then",
        "--revoke-credentials deletes",
        "polls the same channel accounts",
        "`gatehouse backup verify`",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("were deleted"), "{said}");
    let revoking = [&restore[..], &["--revoke-credentials"]].concat();
    let revoked = Installation::new().run(&revoking);
    revoked.ok();
    let said = revoked.stderr();
    for part in [
        "The password and passkeys are as they were then",
        "were deleted",
    ] {
        assert!(said.contains(part), "{said}");
    }
    for part in ["share links are as", "--revoke-credentials"] {
        assert!(!said.contains(part), "{said}");
    }
}

/// Returns the owners of a directory and everything in it, with the paths.
fn owners(path: &Path) -> Vec<(u32, u32, PathBuf)> {
    let found = path.symlink_metadata().unwrap();
    let mut all = vec![(found.uid(), found.gid(), path.to_owned())];
    if found.is_dir() {
        for entry in path.read_dir().unwrap() {
            all.extend(owners(&entry.unwrap().path()));
        }
    }
    all
}

/// The state after the installation of a package whose service has its own user. Skipped if the test does not run as
/// root.
#[tokio::test]
async fn root_works_for_the_user_that_owns_the_data_directory() {
    if !is_root() {
        return;
    }
    let from = BackedUp::new().await;
    profiles::write(&from.installation, "acme.toml", profiles::ACME).await;
    let backup = from.installation.data_dir().join("one.backup.age");
    from.create(text(&backup)).ok();
    let to = Installation::new();
    let data_dir = to.data_dir();
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&data_dir)
        .unwrap();
    hand_over(data_dir.parent().unwrap());
    from.restore(&to, text(&backup), &[]).ok();
    let created = to.run(&["backup", "create", "--json"]).json();
    assert!(Path::new(&path_of(&created)).starts_with(data_dir.join("backups")));
    to.run(&["backup", "verify", &path_of(&created)]).ok();
    let as_service = || {
        let mut command = Command::new(BINARY);
        command.arg("serve").uid(NOBODY).gid(NOBODY);
        let server = to.start_as(command);
        assert!(data_dir.join("profiles/acme.toml").exists());
        server
    };
    let server = as_service();
    assert_eq!(server.vault_status().await, "sealed");
    server.stop();
    // The server, run by root, leaves no file that the service cannot use.
    to.start().stop();
    to.run(&["auth", "reset", "--yes"]).ok();
    for (user, group, path) in owners(&data_dir) {
        assert_eq!((user, group), (NOBODY, NOBODY), "{}", path.display());
    }
    as_service().stop();
    // A directory of root still belongs to root, and so does a backup in it.
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = format!("{}/", text(&elsewhere.path().join("new")));
    let created = to.run(&["backup", "create", "--json", "--to", &elsewhere]);
    let created = path_of(&created.json());
    assert_eq!(Path::new(&created).metadata().unwrap().uid(), 0);
}

/// Key pairs of age: the recipient, and the identity.
const TEAM: [(&str, &str); 2] = [
    (
        "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d",
        "AGE-SECRET-KEY-1TUSH4UEG4MD784UARUPVC8S4FQ0VNVPRZHW39KC6A3KA3U6GT9NSKL2UXZ",
    ),
    (
        "age1m4ec0ud5m8pwkkmxj62lds79n6jdwfm09e8e3rdzq3hcrzzyguusskwkme",
        "AGE-SECRET-KEY-160HFUMW6LTHSA03P7DVXDMUKUUXG3GR3HZTYPDPP5P5350LZGZQSJ77M5S",
    ),
];

#[tokio::test]
async fn each_key_of_a_team_decrypts_a_backup_of_a_command_and_of_the_setting() {
    let from = Installation::new();
    from.start().stop();
    let [(one, _), (two, _)] = TEAM;
    let repeated = ["--recipient", one, "--recipient", two];
    let of_command = [&["backup", "create", "--json"], &repeated[..]].concat();
    let mut made = vec![path_of(&from.run(&of_command).json())];
    let mut with_setting = from;
    with_setting.env("SERVICE_BACKUP__RECIPIENT", format!("{one}, {two}"));
    let of_setting = with_setting.run(&["backup", "create", "--json"]);
    made.push(path_of(&of_setting.json()));
    for (number, (_, identity)) in TEAM.iter().enumerate() {
        let name = format!("key-{number}");
        let key = with_setting.file(&name, identity).await;
        for backup in &made {
            let args = ["backup", "verify", backup, "--identity", text(&key)];
            with_setting.run(&args).ok();
        }
    }
}
