//! A process that is killed while it migrates a database.

use gatehouse_store::testing::{TestDatabase, migrate};
use gatehouse_store::{Location, fault};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const URL: &str = "GATEHOUSE_UPGRADE_URL";
const TO: &str = "GATEHOUSE_UPGRADE_TO";
const AT: &str = "GATEHOUSE_UPGRADE_AT";
/// The text that the other process prints before it waits to be killed.
const AT_POINT: &str = "at the point";
const MIGRATED: &str = "migrated";
/// The number of writes before the end of the first migration's statements: three in the transaction that creates
/// the table of migrations, and two that begin the migration.
const BEFORE: i64 = 5;

/// Prints a line to the parent, and waits to be killed.
fn wait_for_death(line: &str) -> ! {
    // Printed after the name of the test, which has no line break.
    println!("\n{line}");
    loop {
        std::thread::park();
    }
}

#[tokio::test]
#[ignore = "run by other tests, as another process"]
async fn victim() {
    #[expect(
        clippy::disallowed_methods,
        reason = "parameters of the parent process"
    )]
    let parameter = |name| std::env::var(name).ok();
    let Some(url) = parameter(URL) else {
        return;
    };
    let number = |name| parameter(name).and_then(|text| text.parse::<i64>().ok());
    let location = Location::from_url(&url).unwrap();
    fault::call_at(number(AT).unwrap(), || wait_for_death(AT_POINT));
    migrate(&location, number(TO)).await;
    wait_for_death(MIGRATED);
}

/// Migrates in another process, which is killed at the n-th write or at the end. Returns whether the migration
/// finished.
fn is_finished_by_killed_process(url: &str, to: i64, at: i64) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::victim", "--ignored", "--nocapture"])
        .env(URL, url)
        .env(TO, to.to_string())
        .env(AT, at.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let last = lines.find(|line| [AT_POINT, MIGRATED].contains(&line.as_str()));
    // Sends SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    last.unwrap_or_else(|| panic!("the process ended in migration {to}")) == MIGRATED
}

/// Applies the missing migration `to` in processes. A process is killed at each write after the migration's
/// statements, and after its end. Calls `check` after each kill that left the migration unapplied.
pub(crate) async fn migrate_with_deaths(
    database: &TestDatabase,
    to: i64,
    mut check: impl AsyncFnMut(i64),
) {
    let mut deaths = 0;
    loop {
        let url = database.location.url();
        // Runs in another thread, because this thread closes the connections for which the process would wait.
        let migrate = move || is_finished_by_killed_process(&url, to, BEFORE + deaths);
        if tokio::task::spawn_blocking(migrate).await.unwrap() {
            break;
        }
        deaths += 1;
        check(deaths).await;
    }
    assert!((2..6).contains(&deaths), "{to}: {deaths}");
}
