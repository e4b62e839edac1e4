//! Kills the process before each write of each transition. After a restart, every secret must be readable with
//! every password that was reported as valid.
//!
//! The test runs its own binary as the victim: the hidden test [`victim`] runs in a given directory and is killed
//! before its n-th write.

use crate::harness::{Node, OTHER, PASSWORD, actor, secret, service};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::Status;
use gatehouse_store::{Location, Store, fault};
use secrecy::ExposeSecret;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

const DIRECTORY: &str = "GATEHOUSE_CRASH_DIRECTORY";
const STEP: &str = "GATEHOUSE_CRASH_STEP";
const AT: &str = "GATEHOUSE_CRASH_AT";
const URL: &str = "https://p.example/v1";
/// Far more than the number of writes in any transition. The loop below must end before this number.
const MOST: u32 = 200;

async fn node(directory: &Path) -> Node {
    let location = Location::sqlite_file(&directory.join("gatehouse.db"));
    let store = Store::open(&location).await.unwrap();
    // Without the plaintext file, only the copy contains the provider keys, so a lost copy is detected.
    Node::start(store, directory, |s| s.keep_plaintext_provider_keys = false).await
}

/// Prepares the state before the transition: secrets of every kind, in plaintext and encrypted.
async fn prepare(directory: &Path, step: &str) {
    let node = node(directory).await;
    node.set("A", "value of A").await;
    node.secrets.generate_ssh_key(actor(), "k").await.unwrap();
    let provider = node
        .secrets
        .set_provider_key(actor(), "p", secret("sk-p"), ("openai", URL));
    provider.await.unwrap();
    if step != "initialize" && step != "first password" {
        node.initialize().await;
        node.secrets.seal(actor()).await.unwrap();
        node.set("B", "value of B").await;
    } else {
        node.set("B", "value of B").await;
    }
    node.stop().await;
}

async fn carry_out(node: &Node, step: &str) {
    let secrets = &node.secrets;
    if !["initialize", "first password", "migrate"].contains(&step) {
        node.unlock(PASSWORD).await.unwrap();
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent process configures the victim this way"
    )]
    let at = std::env::var(AT).unwrap().parse().unwrap();
    fault::abort_at(at);
    match step {
        "initialize" => drop(secrets.initialize(actor(), secret(PASSWORD)).await.unwrap()),
        "first password" | "password change" => {
            let plan = if step == "first password" {
                secrets
                    .plan_first_password(actor(), &secret(PASSWORD))
                    .await
            } else {
                let (current, new) = (secret(PASSWORD), secret(OTHER));
                secrets.plan_password_change(actor(), &current, &new).await
            };
            let plan = Arc::new(plan.unwrap());
            let applied = Arc::clone(&plan);
            let write = node.store.write(move |conn| {
                Box::pin(async move { applied.apply(conn, Timestamp::from_millis(1)).await })
            });
            write.await.unwrap();
            secrets.conclude(plan).await;
        }
        "migrate" => drop(node.unlock(PASSWORD).await.unwrap()),
        "rotate" => drop(secrets.rotate(actor(), secret(PASSWORD)).await.unwrap()),
        "disable" => drop(secrets.disable(actor(), None).await.unwrap()),
        other => panic!("there is no step {other}"),
    }
}

#[tokio::test]
#[ignore = "run by the tests below, as another process"]
async fn victim() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent process configures the victim this way"
    )]
    let received = std::env::var(DIRECTORY).ok().zip(std::env::var(STEP).ok());
    let Some((directory, step)) = received else {
        return;
    };
    let node = node(Path::new(&directory)).await;
    carry_out(&node, &step).await;
    node.stop().await;
}

/// Returns whether the victim survived.
fn run_victim(directory: &Path, step: &str, at: u32) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::victim", "--ignored"])
        .env(DIRECTORY, directory)
        .env(STEP, step)
        .env(AT, at.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        const SIGABRT: i32 = 6;
        assert!(
            status.success() || status.signal() == Some(SIGABRT),
            "{status}"
        );
    }
    status.success()
}

/// Checks the state after the crash: all secrets are present, and the state is either completely old or completely
/// new.
async fn inspect(directory: &Path, step: &str) {
    let node = node(directory).await;
    match node.secrets.status() {
        Status::Uninitialized => assert!(["initialize", "first password"].contains(&step)),
        Status::Disabled => {
            assert_eq!(step, "disable");
            assert_eq!(node.encrypted().await, 0);
        }
        Status::Sealed => {
            let confirmed = if step == "password change" && node.unlock(PASSWORD).await.is_err() {
                OTHER
            } else {
                PASSWORD
            };
            node.unlock(confirmed).await.unwrap();
            assert_eq!(node.encrypted().await, 3);
        }
        Status::Unsealed => panic!("a start does not unseal"),
    }
    assert_eq!(node.value("A").await, "value of A");
    assert_eq!(node.value("B").await, "value of B");
    let key = node.secrets.ssh_private_key("k").await.unwrap();
    assert!(
        key.expose_secret()
            .starts_with("-----BEGIN OPENSSH PRIVATE KEY-----")
    );
    let key = node.secrets.provider_key("p", &service(URL)).await.unwrap();
    assert_eq!(key.unwrap().expose_secret(), "sk-p");
    // The vault must still be usable.
    node.set("C", "value of C").await;
    assert_eq!(node.value("C").await, "value of C");
    node.stop().await;
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Removes the directory on drop, even if the test fails.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

async fn crash_at_every_write(step: &str) {
    let name = format!("gh_crash_{}_{}", std::process::id(), step.replace(' ', "_"));
    let base = Directory(std::env::temp_dir().join(name));
    let (before, after) = (base.0.join("before"), base.0.join("after"));
    std::fs::create_dir_all(&before).unwrap();
    prepare(&before, step).await;
    let mut writes = 0;
    loop {
        copy(&before, &after);
        let lived = run_victim(&after, step, writes);
        inspect(&after, step).await;
        std::fs::remove_dir_all(&after).unwrap();
        if lived {
            break;
        }
        writes += 1;
        assert!(writes < MOST, "the step never ends");
    }
    eprintln!("{step}: ended before each of {writes} writes");
    // Begin, savepoint, record, audit and others. Fewer writes would mean that the victim is never killed.
    assert!(writes >= 5, "only {writes} writes were seen");
}

#[tokio::test]
async fn initialize() {
    crash_at_every_write("initialize").await;
}

#[tokio::test]
async fn first_password() {
    crash_at_every_write("first password").await;
}

#[tokio::test]
async fn password_change() {
    crash_at_every_write("password change").await;
}

#[tokio::test]
async fn migrate() {
    crash_at_every_write("migrate").await;
}

#[tokio::test]
async fn rotate() {
    crash_at_every_write("rotate").await;
}

#[tokio::test]
async fn disable() {
    crash_at_every_write("disable").await;
}
