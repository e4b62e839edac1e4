//! `bench turn`: the time that the gateway adds to the turns of a model that answers immediately. Each duration is
//! compared with the duration of a direct request to the model in the same run.

mod at_once;
mod first_token;
mod memory;
mod model;
mod steps;
mod timing;
mod tokens;

use crate::figures::{micros, millis, percentile};
use crate::gateway::Server;
use crate::owner::{Installation, text};
use crate::table::{Goal, Report};
use anyhow::Result;
use model::Double;
use serde_json::json;
use std::time::{Duration, Instant};
use timing::{Chat, Direct};

/// Arguments of `turn`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only these: first, tokens, steps, at-once, memory
    only: Vec<String>,
    /// Turns one after the other, and tool steps
    #[arg(long, default_value_t = 300)]
    turns: usize,
    /// Concurrent turns
    #[arg(long, default_value_t = 100)]
    at_once: usize,
    /// Rounds of concurrent turns, and long answers
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Sessions that are idle
    #[arg(long, default_value_t = 1_000)]
    sessions: usize,
    /// Messages of the long session
    #[arg(long, default_value_t = 10_000)]
    messages: usize,
}

/// A gateway whose only model is the double.
struct Site {
    installation: Installation,
    double: Double,
}

impl Site {
    async fn set_up() -> Result<Self> {
        let double = Double::start().await?;
        let environment = [
            (
                "SERVICE_MODELS__PROVIDERS__DOUBLE__BASE_URL",
                double.base_url(),
            ),
            (
                "SERVICE_MODELS__PROVIDERS__DOUBLE__API_KEY",
                "sk-bench".to_owned(),
            ),
            ("SERVICE_MODELS__DEFAULT", "double/m1".to_owned()),
            ("SERVICE_MODELS__AUTODETECT", "false".to_owned()),
        ];
        let installation = Installation::set_up(&environment).await?;
        Ok(Self {
            installation,
            double,
        })
    }

    fn start(&self) -> Result<Server> {
        self.installation.start()
    }

    async fn chat(&self, server: &Server) -> Result<Chat> {
        Chat::open(server, self.installation.cookie(), self.double).await
    }

    async fn direct(&self) -> Result<Direct> {
        Direct::connect(self.double).await
    }

    /// Creates empty sessions and returns their IDs.
    async fn sessions(&self, server: &Server, count: usize) -> Result<Vec<String>> {
        let mut client = server.connect().await?;
        let mut sessions = Vec::with_capacity(count);
        for _ in 0..count {
            let made = self
                .installation
                .rpc_on(&mut client, "sessions.create", json!({}))
                .await?;
            sessions.push(text(&made, "id")?);
        }
        Ok(sessions)
    }
}

/// Durations through the gateway and of direct requests, in one unit.
#[derive(Debug, Default)]
struct Compared {
    ours: Vec<Duration>,
    theirs: Vec<Duration>,
}

impl Compared {
    /// Reports the difference at the median and at the 99th percentile, and the ratio of the medians.
    fn report(&mut self, report: &mut Report, what: &str, aim: Goal) {
        let unit: (usize, &str) = (2, "ms");
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let added = millis(percentile(&mut self.ours, share))
                - millis(percentile(&mut self.theirs, share));
            report.value(format!("{what}, added, {name}"), aim, added, unit);
        }
        self.report_ratio(report, what);
    }

    fn report_ratio(&mut self, report: &mut Report, what: &str) {
        let theirs = micros(percentile(&mut self.theirs, 0.5));
        let ratio = micros(percentile(&mut self.ours, 0.5)) / theirs.max(1.0);
        let direct = format!("{what}, asked directly, p50");
        report.value(direct, Goal::Reported, theirs, (0, "µs"));
        let through = format!("{what}, through the gateway, of that");
        report.value(through, Goal::Reported, ratio, (1, "times"));
    }
}

/// Runs the measurements and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut report = Report::default();
    if wanted("first") {
        first_token::measure(&Site::set_up().await?, args.turns, &mut report).await?;
    }
    if wanted("tokens") {
        tokens::measure(&Site::set_up().await?, args.rounds, &mut report).await?;
    }
    if wanted("steps") {
        steps::measure(&Site::set_up().await?, args.turns, &mut report).await?;
    }
    if wanted("at-once") {
        let size = (args.at_once, args.rounds);
        at_once::measure(&Site::set_up().await?, size, &mut report).await?;
    }
    if wanted("memory") {
        memory::idle(&Site::set_up().await?, args.sessions, &mut report).await?;
        memory::long(&Site::set_up().await?, args.messages, &mut report).await?;
    }
    report.print();
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "{cores} cores, shared by gateway, model and load generator; {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
