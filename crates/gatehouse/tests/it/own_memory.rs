//! The data of a running server that other users of the machine can read: its environment, memory and temporary files.

use crate::process::{BINARY, Installation, Server};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A user that owns no file.
pub const NOBODY: u32 = 65534;

pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Returns a file of the process in `/proc`.
fn proc(server: &Server, name: &str) -> PathBuf {
    Path::new("/proc")
        .join(server.child.id().to_string())
        .join(name)
}

#[expect(clippy::disallowed_methods, reason = "a test may block")]
fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Returns a place with a vault, and its recovery key.
async fn place_with_vault() -> (Installation, String) {
    let installation = Installation::new();
    let server = installation.start();
    let recovery_key = server.set_up().await;
    server.stop();
    (installation, recovery_key)
}

/// Settings with a program that inspects the server that started it, and the file for its findings.
async fn spying_program(installation: &Installation) -> (String, PathBuf) {
    let found = installation.file("found", "").await;
    let folder = found.parent().unwrap();
    let script = format!(
        "cd {}; env > own; cat /proc/$PPID/environ > environ 2> refused; \
         cat /proc/$PPID/fd/* > files 2>> refused < /dev/null & sleep 1; kill $! 2> /dev/null; \
         head -c 1 /proc/$PPID/mem 2>> refused; echo done > found",
        folder.display()
    );
    let mut settings = String::from("[mcp.servers.spy]\ncommand = \"/bin/sh\"\n");
    writeln!(settings, "args = [\"-c\", {}]", json!(script)).unwrap();
    let file = installation.file("g.toml", &settings).await;
    (file.to_str().unwrap().to_owned(), found)
}

async fn wait_until_written(file: &Path) {
    for _ in 0..300 {
        if !read(file).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the program did not run");
}

#[tokio::test]
async fn a_program_that_it_starts_finds_no_secret_of_its_environment() {
    let (mut installation, recovery_key) = place_with_vault().await;
    let (settings, found) = spying_program(&installation).await;
    installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY", &recovery_key);
    installation.env("OPENAI_API_KEY", "sk-openai-from-the-environment");
    installation.env(
        "SERVICE_TOOLS__WEB_SEARCH__API_KEY",
        "search-from-the-environment",
    );
    installation.env("SERVICE_LOG", "info");
    let mut command = Command::new(BINARY);
    command.args(["serve", "--config", &settings]);
    let server = installation.start_as(command);
    // The server still has the secrets.
    assert_eq!(server.vault_status().await, "unsealed");
    wait_until_written(&found).await;
    let folder = found.parent().unwrap();
    let own = read(&proc(&server, "environ"));
    for (what, bytes) in [
        ("its own environment", own),
        ("what the program read", read(&folder.join("environ"))),
        ("the program's environment", read(&folder.join("own"))),
        ("its open files", read(&folder.join("files"))),
        ("its command line", read(&proc(&server, "cmdline"))),
    ] {
        for secret in [
            recovery_key.as_str(),
            "sk-openai-from-the-environment",
            "search-from-the-environment",
        ] {
            assert!(!contains(&bytes, secret), "{what} holds a secret");
        }
    }
    server.stop();
}

#[tokio::test]
async fn other_programs_of_its_user_cannot_look_into_it() {
    let (mut installation, recovery_key) = place_with_vault().await;
    let (settings, found) = spying_program(&installation).await;
    let folder = found.parent().unwrap();
    installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY", &recovery_key);
    let mut command = Command::new(BINARY);
    command.args(["serve", "--config", &settings]);
    if is_root() {
        // Root can read everything, so the test uses another user.
        hand_over(folder);
        command.uid(NOBODY).gid(NOBODY);
    }
    let server = installation.start_as(command);
    assert_eq!(server.vault_status().await, "unsealed");
    assert_eq!(
        proc(&server, "environ").metadata().unwrap().uid(),
        0,
        "it can be traced by its own user"
    );
    wait_until_written(&found).await;
    let refused = String::from_utf8(read(&folder.join("refused"))).unwrap();
    for name in ["environ", "mem"] {
        let received = refused.lines().find(|line| line.contains(name));
        assert!(
            received.is_some_and(|line| line.contains("denied")),
            "{refused}"
        );
    }
    server.stop();
}

/// Gives a directory and everything in it to another user.
pub fn hand_over(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            hand_over(&entry.unwrap().path());
        }
    }
}

#[tokio::test]
async fn it_writes_no_core_files() {
    let server = Installation::new().start();
    let limits = String::from_utf8(read(&proc(&server, "limits"))).unwrap();
    let core = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"));
    let core: Vec<_> = core.unwrap().split_whitespace().collect();
    assert_eq!(core[..2], ["0", "0"]);
}

/// Returns the regions of the process's writable memory that contain the text.
fn found_in_memory(server: &Server, text: &str) -> Vec<String> {
    let maps = String::from_utf8(read(&proc(server, "maps"))).unwrap();
    let mut memory = fs::File::open(proc(server, "mem")).unwrap();
    let mut found = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let at = |text| u64::from_str_radix(text, 16).unwrap();
        let (from, to) = (at(from), at(to));
        let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
        memory.seek(SeekFrom::Start(from)).unwrap();
        // A stack's guard pages cannot be read.
        if memory.read_exact(&mut bytes).is_ok() && contains(&bytes, text) {
            found.push(line.to_owned());
        }
    }
    found
}

#[tokio::test]
async fn no_copy_of_the_auto_unseal_key_stays_in_its_memory() {
    for by_file in [false, true] {
        let (mut installation, recovery_key) = place_with_vault().await;
        if by_file {
            let file = installation.file("recovery", &recovery_key).await;
            installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE", file.to_str().unwrap());
        } else {
            installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY", &recovery_key);
        }
        installation.env("OPENAI_API_KEY", "sk-a-key-that-is-kept-in-memory");
        let server = installation.start();
        assert_eq!(server.vault_status().await, "unsealed");
        if !is_root() {
            // Only root can read this memory, as the test above verifies.
            let opened = fs::File::open(proc(&server, "mem"));
            let read = opened.and_then(|file| file.read_at(&mut [0], 0));
            assert!(read.is_err());
            return;
        }
        let kept = found_in_memory(&server, "sk-a-key-that-is-kept-in-memory");
        assert!(!kept.is_empty(), "the search finds nothing at all");
        let found = found_in_memory(&server, &recovery_key);
        assert!(found.is_empty(), "file: {by_file}: {found:?}");
        let letters = recovery_key.replace('-', "");
        let found = found_in_memory(&server, &letters);
        assert!(found.is_empty(), "letters, file: {by_file}: {found:?}");
        server.stop();
    }
}

/// SQLite unlinks a temporary file right after it creates the file. The directory's modification time reveals the
/// creation.
#[tokio::test]
async fn nothing_spills_into_temporary_files() {
    let mut installation = Installation::new();
    let folder = installation.file("temporary/x", "").await;
    let folder = folder.parent().unwrap();
    installation.env("SQLITE_TMPDIR", folder.to_str().unwrap());
    let server = installation.start();
    for number in 0..40 {
        let params = json!({ "key": format!("KEY_{number}"), "value": "plaintext ".repeat(6_000) });
        let answer = server.rpc("", "env.set", params).await;
        assert_eq!(answer["result"]["encrypted"], 0, "{answer}");
    }
    let changed = || {
        let metadata = folder.metadata().unwrap();
        (metadata.mtime(), metadata.mtime_nsec())
    };
    let before = changed();
    // Encrypts 2.4 MB in one transaction.
    server.set_up().await;
    assert_eq!(changed(), before, "the migration made a temporary file");
    server.stop();
    assert_eq!(changed(), before, "a temporary file was made");
}
