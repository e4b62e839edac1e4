//! Kills the process before each write of deliveries to the inbox. After a restart, each delivery must be in the
//! inbox exactly once.
//!
//! The test runs its own executable as the victim: the ignored test [`victim`] runs on the given database and is
//! killed before its n-th write.

use super::harness::{Harness, number, settings};
use super::model;
use gatehouse_channels::InboxFilter;
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::testing::sqlite;
use gatehouse_store::{Location, fault};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

const DIRECTORY: &str = "GATEHOUSE_CRASH_DIRECTORY";
const AT: &str = "GATEHOUSE_CRASH_AT";
const FIRST: &str = "GATEHOUSE_CRASH_FIRST";
/// Far more than the number of writes in a round. The loop below must end before this number.
const MOST: u32 = 200;
/// Number of deliveries per round.
const ROUND: u32 = 3;

#[tokio::test]
#[ignore = "run by the test below, as another process"]
async fn victim() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent process configures the victim this way"
    )]
    let received = [DIRECTORY, AT, FIRST].map(|name| std::env::var(name).ok());
    let [Some(directory), Some(at), Some(first)] = received else {
        return;
    };
    let directory = Path::new(&directory);
    let location = Location::sqlite_file(&directory.join("gatehouse.db"));
    let model = model::start().await;
    let harness = Harness::open_at(&location, directory, &model, settings()).await;
    fault::abort_at(at.parse().unwrap());
    harness.work();
    let first: u32 = first.parse().unwrap();
    let numbers: Vec<u32> = (first..first + ROUND).collect();
    harness.until_all(&numbers, DeliveryStatus::Completed).await;
    harness.stop().await;
}

/// Runs the victim. Returns whether it survived.
fn run_victim(directory: &Path, at: u32, first: u32) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::inbox_crash::victim", "--ignored"])
        .env(DIRECTORY, directory)
        .env(AT, at.to_string())
        .env(FIRST, first.to_string())
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

/// Returns whether any of these deliveries waits or runs. Reads all rows with one query, because a running delivery
/// may return to the queue between two reads.
async fn is_any_open(harness: &Harness, numbers: &[u32]) -> bool {
    for n in numbers {
        if harness.row(*n).await.status.is_open() {
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_has_each_delivery_once_wherever_the_process_ends() {
    let database = sqlite();
    let model = model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
    harness.stop().await;
    for (crashes, at) in (0..MOST).enumerate() {
        let first = 1 + at * ROUND;
        let numbers: Vec<u32> = (first..first + ROUND).collect();
        let harness = Harness::open(&database, &model).await;
        // Two deliveries share a session, and one has its own.
        let new = numbers.iter().map(|n| {
            let session = if *n == first + 2 { "b" } else { "a" };
            harness.delivery(*n, &webhook, session)
        });
        harness.insert(new.collect()).await;
        harness.stop().await;
        let lived = run_victim(database.directory(), at, first);
        let harness = Harness::open(&database, &model).await;
        harness.work();
        let mut looks = 0;
        while is_any_open(&harness, &numbers).await {
            assert!(looks < 1000, "{at}: it does not end");
            harness.worker_has_looked().await;
            looks += 1;
        }
        for n in &numbers {
            let row = harness.row(*n).await;
            assert_eq!(row.status, DeliveryStatus::Completed, "{at}: {n}");
            assert!(row.attempts <= 2, "{at}: {n}");
        }
        let page = harness
            .channels
            .list_inbox(&InboxFilter::default(), 1000, None)
            .await
            .unwrap();
        let mut all: Vec<u32> = page
            .messages
            .iter()
            .map(|it| number(it.delivery_id.as_ref().unwrap()))
            .collect();
        all.sort_unstable();
        let expected: Vec<u32> = (1..first + ROUND).collect();
        assert_eq!(all, expected, "crash at write {at}");
        harness.stop().await;
        if lived {
            assert!(crashes > 10, "only {crashes} writes");
            return;
        }
    }
    panic!("the victim never lives");
}
