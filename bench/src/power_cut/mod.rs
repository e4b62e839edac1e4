//! `bench power-cut`: generates disk states that a power failure of a real server could leave, and opens each state
//! with the real code. Every delivery that was answered with 202 before the failure must exist, every secret must
//! be readable with the password, and the database must be intact.
//!
//! Needs `sqlite3` and a C compiler, which compiles the recorder that is loaded into the server.

mod disk;
mod record;
mod trace;
mod verify;

use crate::table::{Goal, Report};
use anyhow::{Context, Result};
use disk::{Disk, Loss};
use gatehouse_domain::{Random, SeededRandom};
use record::Recording;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use verify::{OpenedVaults, State, Verifier};

/// Maximum number of failures printed in full.
const TOLD: usize = 10;

/// Arguments of `power-cut`.
#[derive(clap::Args)]
pub struct Args {
    /// Number of disk states
    #[arg(long, default_value_t = 20_000)]
    states: usize,
    /// Number of deliveries that the recorded server accepts
    #[arg(long, default_value_t = 400)]
    deliveries: usize,
    /// Open every n-th state with the real binary first; 1 for each state
    #[arg(long, default_value_t = 1)]
    binary_every: usize,
    /// Ignore every n-th sync, to see that the check fails
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    omit_sync: Option<u64>,
    /// Seed of the random moments and losses
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Verify only this state and keep its directory
    #[arg(long, value_name = "NUMBER")]
    only: Option<usize>,
}

/// The result of checking a recording.
#[derive(Default)]
struct Outcome {
    states: usize,
    by_binary: usize,
    failures: Vec<String>,
}

/// Runs the benchmark and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let mut report = Report::default();
    let (mut states, mut by_binary, mut failures) = (0, 0, Vec::new());
    for (name, earlier, share) in [
        ("a new directory", false, 3),
        ("an earlier schema", true, 1),
    ] {
        let recording = record::record(args.deliveries, earlier).await?;
        let (records, bytes) = (recording.trace.records.len(), recording.trace.bytes.len());
        report.fact(
            format!("from {name}: changes recorded, and they lead to the files that are there"),
            "",
            true,
            format!("{records}, {} KiB", bytes / 1024),
        );
        let wanted = (args.states * share).div_ceil(4);
        let outcome = explore(args, &recording, wanted, &mut report).await?;
        states += outcome.states;
        by_binary += outcome.by_binary;
        failures.extend(
            outcome
                .failures
                .into_iter()
                .map(|why| format!("{name}: {why}")),
        );
    }
    for failure in failures.iter().take(TOLD) {
        eprintln!("{failure}");
    }
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    report.value(
        "states opened",
        Goal::AtLeast(20_000.0),
        states as f64,
        (0, ""),
    );
    report.fact("of them by the real binary first", "", true, by_binary);
    match args.omit_sync {
        None => report.fact(
            "states that broke a promise",
            "0",
            failures.is_empty(),
            failures.len(),
        ),
        Some(every) => report.fact(
            format!("states that broke a promise, every {every}. sync left out"),
            "> 0",
            !failures.is_empty(),
            failures.len(),
        ),
    }
    report.print();
    eprintln!("{:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Chooses the moments of the failures, in order: half of them anywhere, the other half directly after a promise.
fn moments(recording: &Recording, states: usize, random: &dyn Random) -> Vec<usize> {
    let records = &recording.trace.records;
    let any = |bound: usize| random.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize;
    let mut moments: Vec<usize> = (0..states)
        .map(|number| {
            if number % 2 == 0 || recording.promises.is_empty() {
                return any(records.len());
            }
            let promise = recording.promises.get(any(recording.promises.len()));
            let at = promise.map_or(0, |promise| promise.at);
            let after = records.partition_point(|record| record.end < at);
            (after + any(3)).min(records.len().saturating_sub(1))
        })
        .collect();
    moments.sort_unstable();
    moments
}

/// Creates the directory for states, in memory if possible.
fn scratch() -> Result<tempfile::TempDir> {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        return tempfile::tempdir_in(memory).context("/dev/shm");
    }
    Ok(tempfile::tempdir()?)
}

async fn explore(
    args: &Args,
    recording: &Recording,
    states: usize,
    report: &mut Report,
) -> Result<Outcome> {
    let scratch = scratch()?;
    let promises = Arc::new(recording.promises.clone());
    let vaults = OpenedVaults::default();
    let (mut workers, mut lines) = (JoinSet::new(), Vec::new());
    for number in 0..std::thread::available_parallelism()?.get() {
        let (line, mut states) = mpsc::channel::<State>(2);
        lines.push(line);
        let directory = scratch.path().join(format!("state-{number}"));
        let mut verifier = Verifier::new(directory, Arc::clone(&promises), Arc::clone(&vaults))?;
        workers.spawn(async move {
            let mut outcome = Outcome::default();
            while let Some(state) = states.recv().await {
                outcome.states += 1;
                outcome.by_binary += usize::from(state.by_binary);
                if let Err(error) = verifier.check(&state).await {
                    let (number, how) = (state.number, &state.described);
                    let why = format!("state {number}, {how}: {error:#}");
                    outcome.failures.push(why);
                }
            }
            outcome
        });
    }
    let syncs = feed(args, recording, states, &lines).await?;
    report.fact("syncs in it", "", true, syncs);
    drop(lines);
    let mut all = Outcome::default();
    while let Some(outcome) = workers.join_next().await {
        let outcome = outcome?;
        all.states += outcome.states;
        all.by_binary += outcome.by_binary;
        all.failures.extend(outcome.failures);
    }
    if args.only.is_some() {
        eprintln!("the state is kept in {}", scratch.keep().display());
    }
    Ok(all)
}

/// Generates the states and passes each to a worker.
async fn feed(
    args: &Args,
    recording: &Recording,
    states: usize,
    lines: &[mpsc::Sender<State>],
) -> Result<u64> {
    let seeded = SeededRandom::new(args.seed);
    let moments = moments(recording, states, &seeded);
    let trace = &recording.trace;
    let mut disk = Disk::begin(
        &trace.bytes,
        &recording.data_dir,
        &recording.base,
        args.omit_sync,
    )?;
    let mut applied = 0;
    for (number, moment) in moments.into_iter().enumerate() {
        let mut at = 0;
        for record in trace.records.iter().take(moment + 1).skip(applied) {
            disk.apply(&record.change)?;
            applied += 1;
        }
        if let Some(last) = trace.records.get(moment) {
            at = last.end;
        }
        if args.only.is_some_and(|only| only != number) {
            continue;
        }
        let loss = Loss::KINDS.get(number % Loss::KINDS.len()).copied();
        let loss = loss.unwrap_or(Loss::All);
        let random = SeededRandom::new(args.seed.wrapping_mul(1_000_003) ^ number as u64);
        let state = State {
            number,
            at,
            described: format!("cut after change {moment}, loss of unsynced changes: {loss:?}"),
            files: disk.cut(loss, &random),
            by_binary: number % args.binary_every.max(1) == 0,
        };
        let Some(line) = lines.get(number % lines.len().max(1)) else {
            continue;
        };
        line.send(state).await.ok().context("a worker has ended")?;
        if number % 1000 == 999 {
            eprintln!("  {} of {states} states", number + 1);
        }
    }
    Ok(disk.syncs())
}
