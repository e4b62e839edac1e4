//! `bench crash`: deliveries come in while the gateway is killed again and again. Nothing that was
//! answered 202 may be lost, and nothing may be done twice without a record of it.

mod recorder;
mod sender;
mod verdict;

pub use sender::sign;

use crate::gateway::Server;
use crate::owner::{Home, text};
use crate::table::Report;
use anyhow::{Context, Result};
use recorder::Recorder;
use sender::{Accepted, Plan};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What `crash` takes.
#[derive(clap::Args)]
pub struct Args {
    /// How many deliveries at least
    #[arg(long, default_value_t = 10_000)]
    deliveries: usize,
    /// How often the gateway is killed
    #[arg(long, default_value_t = 100)]
    kills: u32,
    /// Of the random moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A webhook and who remembers what it forwards.
struct Lane {
    name: &'static str,
    id: String,
    public_id: String,
    secret: String,
    recorder: Recorder,
}

/// Runs it and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let (outside, sunk, asked) = recorder::start().await?;
    let home = Home::set_up(&environment(outside)).await?;
    let server = home.start()?;
    let lanes = make_lanes(&home, &server, outside, [sunk, asked]).await?;
    let (address, follow) = watch::channel(server.address);
    let plan = Arc::new(Plan::new(args.deliveries));
    let senders: Vec<_> = lanes
        .iter()
        .flat_map(|lane| sender::start(lane, &plan, &follow))
        .collect();
    let (server, kills) = kill_often(args, &home, server, &address, &plan).await?;
    let mut accepted = Vec::new();
    for sender in senders {
        accepted.extend(sender.await??);
    }
    let drained = wait_until_done(&home, &server).await?;
    let mut report = Report::default();
    verdict::tell(&home, &server, &lanes, &accepted, &mut report).await?;
    report.fact(
        "killed with SIGKILL and started again",
        &format!("≥ {}", args.kills),
        kills >= args.kills,
        format!("{kills} times"),
    );
    report.fact("the queue ran empty afterwards", "yes", drained, drained);
    report.print();
    eprintln!("{:.0} s", begun.elapsed().as_secs_f64());
    server.stop()
}

fn environment(outside: SocketAddr) -> Vec<(&'static str, String)> {
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
    .collect()
}

async fn make_lanes(
    home: &Home,
    server: &Server,
    outside: SocketAddr,
    [sunk, asked]: [Recorder; 2],
) -> Result<Vec<Lane>> {
    let account = json!({
        "type": "http", "id": "sink", "label": "sink",
        "fields": { "url": format!("http://{outside}/sink") },
    });
    home.rpc(server, "channels.create", account).await?;
    let forwarded = json!({
        "name": "forwarded", "source_profile": "codehost_a", "rate_limit_per_minute": 100_000,
        "deliver_only": true, "deliver_to": "http:sink", "prompt_template": "{mark}",
    });
    let worked_on = json!({
        "name": "worked on", "source_profile": "codehost_a", "rate_limit_per_minute": 100_000,
    });
    let mut lanes = Vec::new();
    for (name, params, recorder) in [
        ("deliver-only", forwarded, sunk),
        ("agent", worked_on, asked),
    ] {
        let made = home.rpc(server, "webhooks.create", params).await?;
        lanes.push(Lane {
            name,
            id: text(&made, "id")?,
            public_id: text(&made, "public_id")?,
            secret: text(&made, "secret")?,
            recorder,
        });
    }
    Ok(lanes)
}

/// Kills at random moments until it was often enough and all deliveries are in.
async fn kill_often(
    args: &Args,
    home: &Home,
    mut server: Server,
    address: &watch::Sender<SocketAddr>,
    plan: &Plan,
) -> Result<(Server, u32)> {
    use gatehouse_domain::{Random, SeededRandom};
    let seeded = SeededRandom::new(args.seed);
    let random: &dyn Random = &seeded;
    let mut kills = 0;
    while kills < args.kills {
        // Between the first moment after a start and well into the work.
        let wait = Duration::from_micros(u64::from(random.below(400_000)));
        tokio::time::sleep(wait).await;
        server.kill()?;
        kills += 1;
        // The senders are held back so that kills and deliveries end together.
        plan.release(kills, args.kills);
        server = home.start().context("the gateway did not start again")?;
        address.send_replace(server.address);
        if kills % 10 == 0 {
            eprintln!("  {kills} kills, {} accepted", plan.accepted());
        }
    }
    plan.release_all();
    Ok((server, kills))
}

/// Waits until nothing is waiting or in work; `false` when that takes too long.
async fn wait_until_done(home: &Home, server: &Server) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(5) {
        let status = home.rpc(server, "system.status", json!({})).await?;
        let open = status.get("queue_depth").and_then(Value::as_u64);
        if open == Some(0) && verdict::count(home, server, "processing").await? == 0 {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(false)
}
