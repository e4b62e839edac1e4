//! `bench crash`: sends deliveries while the gateway is killed repeatedly. A delivery that was answered with 202
//! must not be lost, and must not be processed twice without a record. On PostgreSQL, the database server is also
//! killed.

pub mod lane;
pub mod recorder;
mod sender;
pub mod verdict;

pub use lane::INBOX;
pub use sender::{Accepted, Message, sign};

use crate::gateway::Server;
use crate::owner::Installation;
use crate::postgres::Postgres;
use crate::table::Report;
use anyhow::{Context, Result};
use lane::make_lanes;
use sender::Plan;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Arguments of `crash`.
#[derive(clap::Args)]
pub struct Args {
    /// Minimum number of deliveries
    #[arg(long, default_value_t = 10_000)]
    deliveries: usize,
    /// How often the gateway is killed
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// Seed of the random moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Database engine that stores the deliveries
    #[arg(long, value_enum, default_value_t = Engine::Sqlite)]
    engine: Engine,
}

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// A file in the data directory
    Sqlite,
    /// A PostgreSQL server that the benchmark starts
    Postgres,
}

/// How often the gateway and the database were killed.
#[derive(Clone, Copy, Default)]
struct Kills {
    gateway: u32,
    database: u32,
}

impl Kills {
    const fn all(self) -> u32 {
        self.gateway + self.database
    }
}

/// Runs the benchmark and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let mut database = match args.engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Postgres::start()?),
    };
    let (outside, sunk, asked) = recorder::start().await?;
    let installation = Installation::set_up(&environment(outside, database.as_ref())).await?;
    let server = installation.start()?;
    let lanes = make_lanes(
        &installation,
        &server,
        outside,
        [sunk, asked],
        "per_delivery",
    )
    .await?;
    let (address, follow) = watch::channel(server.address);
    let plan = Arc::new(Plan::new(args.deliveries));
    let senders: Vec<_> = lanes
        .iter()
        .flat_map(|lane| sender::start(lane, &plan, &follow))
        .collect();
    let (server, kills) = kill_often(
        args,
        &installation,
        server,
        &address,
        (&plan, database.as_mut()),
    )
    .await?;
    let mut accepted = Vec::new();
    for sender in senders {
        accepted.extend(sender.await??);
    }
    let drained = wait_until_done(&installation, &server).await?;
    let mut report = Report::default();
    let inbox = lanes.iter().find(|lane| lane.name == INBOX);
    verdict::read_inbox(
        &installation,
        &server,
        inbox.context("no lane for the inbox")?,
    )
    .await?;
    verdict::tell(&installation, &server, &lanes, &accepted, &mut report).await?;
    verdict::tell_inbox(&lanes, &accepted, &mut report);
    report.fact(
        "killed with SIGKILL and started again",
        &format!("≥ {}", args.kills),
        kills.all() >= args.kills,
        format!("gateway {}, database {}", kills.gateway, kills.database),
    );
    report.fact("the queue ran empty afterwards", "yes", drained, drained);
    report.print();
    eprintln!("{:.0} s", begun.elapsed().as_secs_f64());
    server.stop()
}

/// Returns the settings of a gateway whose model and channel are the recorders at this address.
pub fn environment(
    outside: SocketAddr,
    database: Option<&Postgres>,
) -> Vec<(&'static str, String)> {
    let database = database.map(|database| ("SERVICE_DATABASE_URL", database.url()));
    [
        ("SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE", "1000000"),
        ("SERVICE_WEBHOOKS__MAX_ATTEMPTS", "100"),
        ("SERVICE_WEBHOOKS__RETRY_BASE_MS", "100"),
        ("SERVICE_WEBHOOKS__WORKERS", "8"),
        ("SERVICE_MODELS__DEFAULT", "recorder/m"),
        ("SERVICE_MODELS__PROVIDERS__RECORDER__KIND", "openai"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into_iter()
    .chain([(
        "SERVICE_MODELS__PROVIDERS__RECORDER__BASE_URL",
        format!("http://{outside}/v1"),
    )])
    .chain(database)
    .collect()
}

/// Kills the gateway at random moments until the number of kills is reached and all deliveries are accepted. If the
/// database is a server, every third kill is of the database server.
async fn kill_often(
    args: &Args,
    installation: &Installation,
    mut server: Server,
    address: &watch::Sender<SocketAddr>,
    (plan, mut database): (&Plan, Option<&mut Postgres>),
) -> Result<(Server, Kills)> {
    use gatehouse_domain::{Random, SeededRandom};
    let seeded = SeededRandom::new(args.seed);
    let random: &dyn Random = &seeded;
    let mut kills = Kills::default();
    while kills.all() < args.kills {
        // The time covers everything from the first moment after a start to the middle of the work.
        let wait = Duration::from_micros(u64::from(random.below(400_000)));
        tokio::time::sleep(wait).await;
        match &mut database {
            Some(database) if random.below(3) == 0 => {
                database.kill()?;
                kills.database += 1;
                database.start_again()?;
            }
            _ => {
                server.kill()?;
                kills.gateway += 1;
                server = installation
                    .start()
                    .context("the gateway did not start after a kill")?;
                address.send_replace(server.address);
            }
        }
        // The senders are throttled, so that the last kill and the last delivery happen at about the same time.
        plan.release(kills.all(), args.kills);
        if kills.all().is_multiple_of(10) {
            eprintln!("  {} kills, {} accepted", kills.all(), plan.accepted());
        }
    }
    plan.release_all();
    Ok((server, kills))
}

/// Waits until no delivery is waiting or running; `false` after a timeout.
pub async fn wait_until_done(installation: &Installation, server: &Server) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(5) {
        // The database may have just been killed.
        let Ok(status) = installation.rpc(server, "system.status", json!({})).await else {
            tokio::time::sleep(Duration::from_millis(250)).await;
            continue;
        };
        let open = status.get("queue_depth").and_then(Value::as_u64);
        if open == Some(0) && verdict::count(installation, server, "processing").await? == 0 {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(false)
}
