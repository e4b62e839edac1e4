//! `bench ingest`: how fast deliveries are accepted, each stored on disk before its 202, and how fast they
//! are completed on SQLite and PostgreSQL, with and without hanging receivers. Each ingest figure is shown
//! with a baseline from the same run: a handler that stores nothing, or an fsync.

mod backlog;
mod cache;
mod completion;
mod fairness;
mod latency;
mod memory;
mod migration;
mod million;
mod retention;
mod sending;
mod shared;
mod site;
mod throughput;
mod written;

use crate::gateway::Server;
use crate::owner::{Installation, text};
use crate::table::Report;
use anyhow::Result;
pub use sending::Target;
use serde_json::json;
use std::net::Ipv4Addr;
use std::time::Instant;
use tokio::net::TcpListener;

/// Arguments of `ingest`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only these: throughput, latency, memory, million, migration, retention, completion, sustained,
    /// fairness, written, postgres, or its parts nodes, far, idle, frozen, silent; or cache, which runs only
    /// if named
    only: Vec<String>,
    /// Length of a load round in milliseconds
    #[arg(long, default_value_t = 3000)]
    round_ms: u64,
    /// Number of deliveries for the memory measurement
    #[arg(long, default_value_t = 100_000)]
    deliveries: usize,
    /// Rows in the table for the measurements `million`, `migration` and `cache`
    #[arg(long, default_value_t = 1_000_000)]
    rows: usize,
}

/// A gateway with one webhook whose deliveries are accepted but not completed. Its channel never responds, so that
/// the worker waits and only ingest is measured.
struct Site {
    installation: Installation,
    webhook_id: String,
    public_id: String,
    secret: String,
    /// Accepts connections and never responds.
    _silence: TcpListener,
}

impl Site {
    async fn set_up() -> Result<Self> {
        let silence = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}/", silence.local_addr()?);
        let environment = [
            (
                "SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE",
                "1000000".to_owned(),
            ),
            ("SERVICE_WEBHOOKS__WORKERS", "1".to_owned()),
        ];
        let installation = Installation::set_up(&environment).await?;
        let server = installation.start()?;
        let account = json!({
            "type": "http", "id": "silence", "label": "silence", "fields": { "url": url },
        });
        installation
            .rpc(&server, "channels.create", account)
            .await?;
        let params = json!({
            "name": "bench", "source_profile": "codehost_a", "deliver_only": true,
            "deliver_to": "http:silence", "rate_limit_per_minute": 1_000_000,
        });
        let made = installation.rpc(&server, "webhooks.create", params).await?;
        server.stop()?;
        Ok(Self {
            public_id: text(&made, "public_id")?,
            secret: text(&made, "secret")?,
            webhook_id: text(&made, "id")?,
            installation,
            _silence: silence,
        })
    }

    fn target(&self) -> Result<Target> {
        Target::new(&self.public_id, &self.secret)
    }

    fn start(&self) -> Result<Server> {
        self.installation.start()
    }
}

/// Runs the measurements and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut report = Report::default();
    if wanted("throughput") {
        throughput::measure(&Site::set_up().await?, args.round_ms, &mut report).await?;
    }
    if wanted("latency") {
        latency::measure(&Site::set_up().await?, &mut report).await?;
    }
    if wanted("memory") {
        memory::measure(&Site::set_up().await?, args.deliveries, &mut report).await?;
    }
    if wanted("million") {
        million::measure(&Site::set_up().await?, args.rows, &mut report).await?;
    }
    if wanted("million") || wanted("migration") {
        migration::measure(args.rows, &mut report).await?;
    }
    if wanted("retention") {
        retention::measure(&Site::set_up().await?, &mut report).await?;
    }
    if args.only.iter().any(|only| only == "cache") {
        cache::measure(&Site::set_up().await?, args.rows, &mut report).await?;
    }
    if wanted("completion") {
        completion::measure(&mut report).await?;
    }
    if wanted("sustained") {
        completion::sustained(&mut report).await?;
    }
    if wanted("fairness") {
        fairness::measure(&mut report).await?;
    }
    if wanted("written") {
        written::measure(&mut report).await?;
    }
    shared::measure(&mut report, |part| wanted("postgres") || wanted(part)).await?;
    report.print();
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "{cores} cores, shared by gateway and load generator; {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
