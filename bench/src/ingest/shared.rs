//! PostgreSQL: one node, two nodes, a distant database, an idle node, and nodes and connections that stop
//! responding.

use super::completion;
use super::site;
use crate::gate::revocation::open;
use crate::gateway::Server;
use crate::http1::Client;
use crate::owner::Installation;
use crate::postgres::Postgres;
use crate::proxy::Proxy;
use crate::table::{Goal, Report};
use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use rustix::process::Signal;
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::time::timeout;

const CONNECTIONS: usize = 64;
const ROUND: Duration = Duration::from_secs(5);
/// The round-trip time to the database for which the targets are set.
const ROUND_TRIP: Duration = Duration::from_micros(2_700);
const IDLE: Duration = Duration::from_secs(30);
/// The duration of the measurement. Long enough for one run of the health checks.
const IDLE_WITH_SOCKET: Duration = Duration::from_mins(1);
/// Settings whose features read the database at intervals.
const WATCHFUL: [(&str, &str); 3] = [
    ("SERVICE_AUDIT__FILE", "audit.jsonl"),
    ("SERVICE_BACKUP__SCHEDULE", "30 3 * * *"),
    ("SERVICE_NOTIFY__HEALTH", "inbox"),
];
/// How long a failure is observed. A longer failure is reported as this value.
const WATCHED: Duration = Duration::from_mins(1);
/// Maximum number of attempts to stop a node inside a transaction.
const TRIES: usize = 200;

/// Sets up a home whose database is the server on this port.
async fn installation(port: u16) -> Result<Installation> {
    let url = ("SERVICE_DATABASE_URL", Postgres::url_at(port));
    Installation::set_up(&site::environment(vec![url])).await
}

/// Runs the selected measurements.
pub async fn measure(report: &mut Report, wanted: impl Fn(&str) -> bool) -> Result<()> {
    if wanted("nodes") {
        nodes(report).await?;
    }
    if wanted("far") {
        far(report).await?;
    }
    if wanted("idle") {
        idle(report).await?;
    }
    if wanted("frozen") {
        frozen(report).await?;
    }
    if wanted("silent") {
        silent(report).await?;
    }
    Ok(())
}

async fn nodes(report: &mut Report) -> Result<()> {
    let database = Postgres::start()?;
    let installation = installation(database.port()).await?;
    let one = installation.start()?;
    let beside = tempfile::tempdir()?;
    let two = installation.beside(&beside.path().join("data")).start()?;
    let target = site::webhook(
        &installation,
        &one,
        json!({ "enabled": true, "deliver_only": true }),
    )
    .await?;
    let until = |_: usize, elapsed: Duration| elapsed >= ROUND;
    target
        .flood(&one, CONNECTIONS, |_, elapsed| elapsed >= ROUND / 5)
        .await?;
    let alone = target.flood(&one, CONNECTIONS, until).await?.per_second();
    site::until_empty(&installation, &one, WATCHED).await?;
    let (first, second) = tokio::join!(
        target.flood(&one, CONNECTIONS / 2, until),
        target.flood(&two, CONNECTIONS / 2, until)
    );
    let both = first?.per_second() + second?.per_second();
    report.value(
        "PostgreSQL: deliveries a second, one node",
        Goal::AtLeast(5_000.0),
        alone,
        (0, ""),
    );
    report.value(
        "PostgreSQL: deliveries a second, two nodes on the same machine",
        Goal::AtLeast(alone),
        both,
        (0, ""),
    );
    two.stop()?;
    one.stop()
}

async fn far(report: &mut Report) -> Result<()> {
    let database = Postgres::start()?;
    let proxy = Proxy::start(database.port(), ROUND_TRIP / 2)?;
    let installation = installation(proxy.port).await?;
    let server = installation.start()?;
    let target = site::webhook(&installation, &server, json!({ "deliver_only": true })).await?;
    let flood = target
        .flood(&server, CONNECTIONS, |_, elapsed| elapsed >= ROUND)
        .await?;
    report.value(
        "PostgreSQL at 2.7 ms: deliveries a second",
        Goal::AtLeast(3_000.0),
        flood.per_second(),
        (0, ""),
    );
    site::until_empty(&installation, &server, WATCHED).await?;
    let rate = completion::drain(&installation, &server, json!({ "deliver_only": true })).await?;
    report.value(
        "PostgreSQL at 2.7 ms: completions a second",
        Goal::AtLeast(1_000.0),
        rate,
        (0, ""),
    );
    server.stop()
}

async fn idle(report: &mut Report) -> Result<()> {
    let database = Postgres::start()?;
    let mut installation = installation(database.port()).await?;
    let server = installation.start()?;
    let wait = async {
        tokio::time::sleep(IDLE).await;
        Ok(())
    };
    let rate = statements_per_second(&database, IDLE, wait).await?;
    report.value(
        "PostgreSQL: an idle node's statements a second",
        Goal::AtMost(1.0),
        rate,
        (1, ""),
    );
    server.stop()?;

    for (name, value) in WATCHFUL {
        installation.set_environment(name, value.to_owned());
    }
    let server = installation.start()?;
    let mut socket = open(server.address, "cookie", installation.cookie()).await?;
    let wait = async {
        // Reading answers the server's pings.
        let read = async { while socket.next().await.is_some_and(|message| message.is_ok()) {} };
        let ended = timeout(IDLE_WITH_SOCKET, read).await;
        ensure!(ended.is_err(), "the socket was closed");
        Ok(())
    };
    let rate = statements_per_second(&database, IDLE_WITH_SOCKET, wait).await?;
    drop(socket);
    report.value(
        "PostgreSQL: idle, with a socket, audit.file, backup.schedule and notify.health: statements per second",
        Goal::AtMost(2.0),
        rate,
        (1, ""),
    );
    server.stop()
}

/// Counts the statements while `wait` runs, which takes `time`. Statements directly after a start are not counted.
async fn statements_per_second(
    database: &Postgres,
    time: Duration,
    wait: impl Future<Output = Result<()>>,
) -> Result<f64> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    database.ask("ALTER SYSTEM SET log_statement = 'all'")?;
    database.ask("SELECT pg_reload_conf()")?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = database.statements_logged()?;
    wait.await?;
    let count = database.statements_logged()? - before;
    #[expect(clippy::cast_precision_loss, reason = "a count of statements")]
    let rate = count as f64 / time.as_secs_f64();
    Ok(rate)
}

/// Sends deliveries on one connection at a time and opens a new one after each failure. Returns the longest
/// time without a 202.
async fn longest_refusal(
    target: &'static super::Target,
    address: SocketAddr,
    watched: Duration,
) -> Duration {
    let (begun, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    while begun.elapsed() < watched {
        let accepted = async {
            let mut client = Client::connect(address).await?;
            while begun.elapsed() < watched {
                target.send(&mut client).await?;
                longest = longest.max(last.elapsed());
                last = Instant::now();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            anyhow::Ok(())
        };
        // A request without a response is abandoned, because the next one may succeed.
        drop(timeout(Duration::from_secs(2), accepted).await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    longest.max(last.elapsed())
}

/// Stops a node while it is inside a transaction.
async fn freeze(database: &Postgres, node: &Server, target: &'static super::Target) -> Result<()> {
    let inside = "SELECT COUNT(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    for _ in 0..TRIES {
        let load = target.flood(node, 8, |_, elapsed| elapsed >= Duration::from_millis(60));
        let stop = async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            node.signal(Signal::STOP)
        };
        // The load does not end while the node is stopped.
        let stopped = tokio::select! {
            ended = load => { drop(ended); node.signal(Signal::STOP) }
            stopped = stop => stopped,
        };
        stopped?;
        if database.ask(inside)?.parse::<u64>()? > 0 {
            return Ok(());
        }
        node.signal(Signal::CONT)?;
    }
    bail!("the node was never inside a transaction when it was stopped")
}

async fn frozen(report: &mut Report) -> Result<()> {
    let database = Postgres::start()?;
    let installation = installation(database.port()).await?;
    let one = installation.start()?;
    let beside = tempfile::tempdir()?;
    let two = installation.beside(&beside.path().join("data")).start()?;
    let target = site::webhook(&installation, &one, json!({ "deliver_only": true })).await?;
    freeze(&database, &one, target)
        .await
        .context("freezing a node")?;
    let longest = longest_refusal(target, two.address, WATCHED).await;
    report.value(
        "a node is frozen inside a transaction: another's longest refusal (watched 60 s)",
        Goal::AtMost(5.0),
        longest.as_secs_f64(),
        (1, "s"),
    );
    one.signal(Signal::CONT)?;
    one.kill()?;
    two.kill()
}

async fn silent(report: &mut Report) -> Result<()> {
    let database = Postgres::start()?;
    let proxy = Proxy::start(database.port(), Duration::ZERO)?;
    let installation = installation(proxy.port).await?;
    let server = installation.start()?;
    let target = site::webhook(&installation, &server, json!({ "deliver_only": true })).await?;
    target
        .flood(&server, 8, |_, elapsed| elapsed >= Duration::from_secs(1))
        .await?;
    proxy.fall_silent();
    let longest = longest_refusal(target, server.address, WATCHED).await;
    report.value(
        "database connections fall silent: this node's longest outage (watched 60 s)",
        Goal::AtMost(15.0),
        longest.as_secs_f64(),
        (1, "s"),
    );
    server.kill()
}
