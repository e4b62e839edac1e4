//! `bench soak`: a steady load for a long time, with users who open pages. Records memory, open files, threads, the
//! sizes of the database and its log, and latencies in a CSV file, and plots them.

mod plot;

use crate::figures::{mebibytes, millis, percentile};
use crate::gateway::Server;
use crate::http1::Client;
use crate::ingest::Target;
use crate::owner::{Installation, text};
use crate::table::{Goal, Report};
use anyhow::{Result, ensure};
use axum::Router;
use axum::routing::post;
use plot::Panel;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Arguments of `soak`.
#[derive(clap::Args)]
pub struct Args {
    /// Duration in minutes
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Deliveries per second
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rate: u32,
    /// Number of users who open pages, with one call per second each
    #[arg(long, default_value_t = 4)]
    people: usize,
    /// Seconds between two samples
    #[arg(long, default_value_t = 10)]
    every: u64,
    /// Directory for soak.csv and soak.svg
    #[arg(long, default_value = "target/soak")]
    out: PathBuf,
}

/// Connections that send deliveries.
const CONNECTIONS: u32 = 16;

/// Latencies since the last sample.
#[derive(Clone, Default)]
struct Latencies(Arc<Mutex<Vec<Duration>>>);

impl Latencies {
    fn note(&self, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(took);
    }

    fn drain(&self) -> Vec<Duration> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The measured values at one moment.
struct Sample {
    minutes: f64,
    memory_mib: f64,
    open_files: f64,
    threads: f64,
    database_mib: f64,
    log_mib: f64,
    waiting: f64,
    accepted: u64,
    accept: [f64; 2],
    page: [f64; 2],
}

/// Names of the columns, in the order of [`Sample::values`].
const COLUMNS: &str = "minutes,memory_mib,open_files,threads,database_mib,log_mib,waiting,accepted,\
    accept_p50_ms,accept_p99_ms,page_p50_ms,page_p99_ms";

impl Sample {
    #[expect(clippy::cast_precision_loss, reason = "a count, written down")]
    const fn values(&self) -> [f64; 12] {
        [
            self.minutes,
            self.memory_mib,
            self.open_files,
            self.threads,
            self.database_mib,
            self.log_mib,
            self.waiting,
            self.accepted as f64,
            self.accept[0],
            self.accept[1],
            self.page[0],
            self.page[1],
        ]
    }
}

/// Measurements shared between the load and the sampler.
#[derive(Clone, Default)]
struct Seen {
    accept: Latencies,
    page: Latencies,
    accepted: Arc<AtomicU64>,
}

/// Runs the benchmark and writes its results.
pub async fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.out)?;
    let environment = [
        (
            "SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE",
            "1000000".to_owned(),
        ),
        ("SERVICE_WEBHOOKS__RETENTION_DAYS", "1".to_owned()),
    ];
    let installation = Arc::new(Installation::set_up(&environment).await?);
    let server = installation.start()?;
    let targets = targets(&installation, &server).await?;
    let (seen, stop) = (Seen::default(), CancellationToken::new());
    let mut tasks = JoinSet::new();
    for target in targets.iter().cycle().take(CONNECTIONS as usize) {
        let target = Arc::clone(target);
        let pause = Duration::from_secs(1) * CONNECTIONS / args.rate;
        let client = server.connect().await?;
        tasks.spawn(deliver(client, target, pause, (seen.clone(), stop.clone())));
    }
    for _ in 0..args.people {
        let client = server.connect().await?;
        tasks.spawn(look(
            client,
            Arc::clone(&installation),
            (seen.clone(), stop.clone()),
        ));
    }
    let begun = Instant::now();
    let mut samples = Vec::new();
    let length = Duration::from_mins(args.minutes);
    while begun.elapsed() < length && tasks.len() == CONNECTIONS as usize + args.people {
        tokio::time::sleep(Duration::from_secs(args.every.max(1))).await;
        samples.push(sample(&installation, &server, &seen, begun).await?);
        write(args, &samples)?;
    }
    stop.cancel();
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    tell(args, &samples);
    server.stop()
}

/// Creates a webhook for the inbox, and one for a channel with a local receiver.
async fn targets(installation: &Installation, server: &Server) -> Result<Vec<Arc<Target>>> {
    let router = Router::new().route("/", post(|| async { "ok" }));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let account = json!({
        "type": "http", "id": "receiver", "label": "receiver", "fields": { "url": url },
    });
    installation.rpc(server, "channels.create", account).await?;
    let mut targets = Vec::new();
    for more in [json!({}), json!({ "deliver_to": "http:receiver" })] {
        let mut params = json!({
            "name": "soak", "source_profile": "codehost_a", "deliver_only": true,
            "rate_limit_per_minute": 1_000_000,
        });
        if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
            params.extend(more);
        }
        let made = installation.rpc(server, "webhooks.create", params).await?;
        let target = Target::new(&text(&made, "public_id")?, &text(&made, "secret")?)?;
        targets.push(Arc::new(target));
    }
    Ok(targets)
}

/// Sends deliveries at a fixed rate. A late response delays the next deliveries but does not reduce their number.
async fn deliver(
    mut client: Client,
    target: Arc<Target>,
    pause: Duration,
    (seen, stop): (Seen, CancellationToken),
) -> Result<()> {
    let begun = Instant::now();
    let mut sent = 0;
    while !stop.is_cancelled() {
        let due = pause * sent;
        if let Some(early) = due.checked_sub(begun.elapsed()) {
            tokio::time::sleep(early).await;
        }
        seen.accept.note(target.send(&mut client).await?);
        seen.accepted.fetch_add(1, Ordering::Relaxed);
        sent += 1;
    }
    Ok(())
}

/// Requests the pages of a user one after another.
async fn look(
    mut client: Client,
    installation: Arc<Installation>,
    (seen, stop): (Seen, CancellationToken),
) -> Result<()> {
    let pages = [
        ("webhooks.deliveries", json!({})),
        ("webhooks.deliveries", json!({ "status": "failed" })),
        ("webhooks.stats", json!({})),
        ("webhooks.list", json!({})),
        ("inbox.list", json!({})),
    ];
    for (method, params) in pages.iter().cycle() {
        if stop.is_cancelled() {
            break;
        }
        let begun = Instant::now();
        installation
            .rpc_on(&mut client, method, params.clone())
            .await?;
        seen.page.note(begun.elapsed());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

fn both_percentiles(mut took: Vec<Duration>) -> [f64; 2] {
    [0.5, 0.99].map(|share| millis(percentile(&mut took, share)))
}

fn size_mib(path: &Path) -> f64 {
    std::fs::metadata(path).map_or(0.0, |found| mebibytes(found.len()))
}

async fn sample(
    installation: &Installation,
    server: &Server,
    seen: &Seen,
    begun: Instant,
) -> Result<Sample> {
    let status = installation.rpc(server, "system.status", json!({})).await?;
    let waiting = status.get("queue_depth").and_then(Value::as_f64);
    let database = installation.data_dir().join("gatehouse.db");
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let count = |count: usize| count as f64;
    let sample = Sample {
        minutes: begun.elapsed().as_secs_f64() / 60.0,
        memory_mib: mebibytes(server.resident_bytes()?),
        open_files: count(server.open_files()?),
        threads: count(server.threads()?),
        database_mib: size_mib(&database),
        log_mib: size_mib(&database.with_extension("db-wal")),
        waiting: waiting.unwrap_or(f64::NAN),
        accepted: seen.accepted.load(Ordering::Relaxed),
        accept: both_percentiles(seen.accept.drain()),
        page: both_percentiles(seen.page.drain()),
    };
    ensure!(!sample.waiting.is_nan(), "system.status has no queue_depth");
    eprintln!(
        "  {:.1} min: {} accepted, {:.0} waiting, {:.1} MiB, p99 {:.1} ms",
        sample.minutes, sample.accepted, sample.waiting, sample.memory_mib, sample.accept[1]
    );
    Ok(sample)
}

/// Writes both files. Called after each sample, so that an interrupted run leaves results.
fn write(args: &Args, samples: &[Sample]) -> Result<()> {
    let mut csv = format!("{COLUMNS}\n");
    for sample in samples {
        let row = sample.values().map(|value| format!("{value:.3}"));
        // Writing to a string does not fail.
        let _ = writeln!(csv, "{}", row.join(","));
    }
    std::fs::write(args.out.join("soak.csv"), csv)?;
    let line = |value: fn(&Sample) -> f64| samples.iter().map(value).collect::<Vec<f64>>();
    let panels = [
        Panel {
            title: "memory in RAM, MiB",
            lines: vec![("memory", line(|s| s.memory_mib))],
        },
        Panel {
            title: "open files and threads",
            lines: vec![
                ("files", line(|s| s.open_files)),
                ("threads", line(|s| s.threads)),
            ],
        },
        Panel {
            title: "database and write-ahead log, MiB",
            lines: vec![
                ("database", line(|s| s.database_mib)),
                ("log", line(|s| s.log_mib)),
            ],
        },
        Panel {
            title: "deliveries that wait",
            lines: vec![("waiting", line(|s| s.waiting))],
        },
        Panel {
            title: "answer to a delivery, ms",
            lines: vec![
                ("p50", line(|s| s.accept[0])),
                ("p99", line(|s| s.accept[1])),
            ],
        },
        Panel {
            title: "a page, ms",
            lines: vec![("p50", line(|s| s.page[0])), ("p99", line(|s| s.page[1]))],
        },
    ];
    let title = format!(
        "{} deliveries a second, {} people looking at pages",
        args.rate, args.people
    );
    let minutes = line(|s| s.minutes);
    let svg = plot::draw(&title, &minutes, &panels);
    Ok(std::fs::write(args.out.join("soak.svg"), svg)?)
}

/// A name, its unit, and the function that reads the value from a sample.
type Row = (&'static str, &'static str, fn(&Sample) -> f64);

/// Prints the first tenth of the run next to the last tenth.
fn tell(args: &Args, samples: &[Sample]) {
    let part = samples.len().div_ceil(10);
    let first = samples.get(..part).unwrap_or_default();
    let last = samples.get(samples.len() - part..).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    let mean = |samples: &[Sample], value: fn(&Sample) -> f64| {
        samples.iter().map(value).sum::<f64>() / samples.len().max(1) as f64
    };
    let rows: [Row; 8] = [
        ("memory", "MiB", |s| s.memory_mib),
        ("open files", "", |s| s.open_files),
        ("threads", "", |s| s.threads),
        ("database", "MiB", |s| s.database_mib),
        ("write-ahead log", "MiB", |s| s.log_mib),
        ("deliveries that wait", "", |s| s.waiting),
        ("answer to a delivery, p99", "ms", |s| s.accept[1]),
        ("a page, p99", "ms", |s| s.page[1]),
    ];
    let mut report = Report::default();
    for (what, unit, value) in rows {
        for (when, part) in [("at the start", first), ("at the end", last)] {
            let what = format!("{what}, {when}");
            report.value(what, Goal::Reported, mean(part, value), (1, unit));
        }
    }
    let minutes = samples.last().map_or(0.0, |last| last.minutes);
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let rate = samples.last().map_or(0.0, |last| last.accepted as f64) / (minutes * 60.0).max(1.0);
    report.value(
        "deliveries a second",
        Goal::AtLeast(f64::from(args.rate) * 0.99),
        rate,
        (1, ""),
    );
    report.print();
    eprintln!("{}/soak.csv and soak.svg", args.out.display());
}
