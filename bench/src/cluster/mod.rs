//! `bench cluster`: three nodes on one PostgreSQL database accept deliveries while nodes, the database and the
//! network between them fail. A delivery that was answered with 202 must not be lost, must not be processed twice
//! without a record, and must be processed in the order of its session. Limits apply to all nodes together, and
//! sockets of revoked keys are closed in time.

mod fault;
mod limits;
pub mod load;
mod node;
pub mod order;
mod revocation;

use crate::crash::lane::{Lane, make_lanes};
use crate::crash::{environment, recorder, verdict};
use crate::figures::{greatest, median};
use crate::owner::Installation;
use crate::postgres::Postgres;
use crate::table::{Goal, Report};
use anyhow::{Context, Result};
use fault::Fault;
use load::Addresses;
use node::Node;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Arguments of `cluster`.
#[derive(clap::Args)]
pub struct Args {
    /// How long faults are made, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Deliveries per second of all senders
    #[arg(long, default_value_t = 60)]
    rate: u32,
    /// Seed of the random moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The number of nodes.
const NODES: usize = 3;
/// If a node does not accept deliveries this long after a fault was undone, it has not recovered.
const PATIENCE: Duration = Duration::from_secs(40);
/// The lease of a delivery in seconds. If a node is frozen for longer than this, other nodes take over its
/// deliveries.
const LEASE_SECONDS: u64 = 5;
/// The time after the last fault in which permits of the limited webhook may still be lost.
const SETTLING: Duration = Duration::from_secs(10);

/// Runs the benchmark and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let database = Postgres::start()?;
    let (outside, sunk, asked) = recorder::start().await?;
    let mut settings = environment(outside, Some(&database));
    settings.push(("SERVICE_WEBHOOKS__LEASE_SECONDS", LEASE_SECONDS.to_string()));
    let first = Installation::set_up(&settings).await?;
    let mut cluster = Cluster::start(database, &first)?;
    let lanes = {
        let node = cluster.node(0)?;
        make_lanes(
            &node.installation,
            node.server()?,
            outside,
            [sunk, asked],
            "per_entity",
        )
        .await?
    };
    let probed = node::make_probe(cluster.node(0)?).await?;
    let limited = limits::make(cluster.node(0)?).await?;
    let senders = load::start(&lanes, args.rate, (&cluster.addresses, load::ATTEMPT));
    let offered = limits::start(&limited, &cluster.addresses);
    let revoker = revocation::start(first.cookie(), &cluster.addresses);
    let outcome = cluster.fail_often(args, &probed).await;
    let healthy = Instant::now();
    load::stop(&senders);
    let faults = outcome?;
    let mut accepted = Vec::new();
    let mut waits = Vec::new();
    for sender in senders.tasks {
        let sent = sender.await??;
        accepted.extend(sent.accepted);
        waits.extend(sent.waits);
    }
    let mut report = Report::default();
    report_faults(&faults.recoveries, &mut waits, &mut report);
    revocation::check(revoker, &faults.spans, &mut report).await?;
    revocation::measure(&cluster, &mut report).await?;
    tokio::time::sleep((limits::WINDOW + SETTLING).saturating_sub(healthy.elapsed())).await;
    limits::check(offered, &mut report).await?;
    cluster.check(&lanes, &accepted, &mut report).await?;
    report.print();
    Ok(())
}

/// The nodes, their database, and the addresses of the nodes that run.
pub struct Cluster {
    pub database: Postgres,
    pub nodes: Vec<Node>,
    addresses: Addresses,
}

/// How long nodes took until they accepted deliveries again, by the kind of fault.
type Recoveries = BTreeMap<&'static str, Vec<Duration>>;

/// The time from the beginning of a fault until all nodes accepted deliveries again.
type Span = (Instant, Instant);

/// The faults of a run.
#[derive(Default)]
struct Faults {
    recoveries: Recoveries,
    spans: Vec<Span>,
}

impl Cluster {
    fn start(database: Postgres, first: &Installation) -> Result<Self> {
        let addresses = Addresses::new(NODES);
        let nodes = (0..NODES)
            .map(|number| Node::start(number, first, &database, &addresses))
            .collect::<Result<_>>()?;
        Ok(Self {
            database,
            nodes,
            addresses,
        })
    }

    fn node(&self, number: usize) -> Result<&Node> {
        self.nodes.get(number).context("no such node")
    }

    /// Injects one fault after another. Waits before each fault until all nodes have recovered.
    async fn fail_often(&mut self, args: &Args, probed: &Lane) -> Result<Faults> {
        use gatehouse_domain::{Clock, Random, SeededRandom, SystemClock};
        let seeded = SeededRandom::new(args.seed);
        let random: &dyn Random = &seeded;
        let mut faults = Faults::default();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(args.seconds) {
            let fault = Fault::choose(random);
            let number = random.below(u32::try_from(NODES)?) as usize;
            let span_begun = Instant::now();
            eprintln!(
                "  {}: {} of node {number}",
                SystemClock::new().now(),
                fault.name()
            );
            let undone = fault.make(self, number, random).await?;
            let recovered = self.wait_for_all(probed, undone).await;
            let recovered =
                recovered.with_context(|| format!("{} of node {number}", fault.name()))?;
            let of_its_kind = faults.recoveries.entry(fault.name()).or_default();
            of_its_kind.push(recovered);
            faults.spans.push((span_begun, Instant::now()));
            tokio::time::sleep(Duration::from_millis(u64::from(random.below(500)))).await;
        }
        Ok(faults)
    }

    /// Waits until every node accepts deliveries. Returns the time since `undone`.
    async fn wait_for_all(&self, probed: &Lane, undone: Instant) -> Result<Duration> {
        for node in &self.nodes {
            while !load::is_accepting(node.address()?, probed).await {
                anyhow::ensure!(
                    undone.elapsed() < PATIENCE,
                    "the node does not accept deliveries again"
                );
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(undone.elapsed())
    }

    /// Waits until the queue is empty, and compares the rows with the messages that the external services received.
    async fn check(
        &self,
        lanes: &[Lane],
        accepted: &[crate::crash::Accepted],
        report: &mut Report,
    ) -> Result<()> {
        let node = self.node(0)?;
        let (installation, server) = (&node.installation, node.server()?);
        let is_drained = crate::crash::wait_until_done(installation, server).await?;
        report.fact(
            "the queue ran empty afterwards",
            "yes",
            is_drained,
            is_drained,
        );
        let inbox = lanes.iter().find(|lane| lane.name == crate::crash::INBOX);
        verdict::read_inbox(
            installation,
            server,
            inbox.context("no lane for the inbox")?,
        )
        .await?;
        verdict::tell(installation, server, lanes, accepted, report).await?;
        verdict::tell_inbox(lanes, accepted, report);
        for lane in lanes.iter().filter(|lane| lane.name == "agent") {
            let wrong = order::count_out_of_order(&lane.recorder.arrivals());
            report.fact("agent: out of order in its session", "0", wrong == 0, wrong);
        }
        let idle = installation.rpc(server, "system.status", json!({})).await;
        report.fact(
            "a node answers at the end",
            "yes",
            idle.is_ok(),
            idle.is_ok(),
        );
        Ok(())
    }
}

fn report_faults(faults: &Recoveries, waits: &mut [Duration], report: &mut Report) {
    let count: usize = faults.values().map(Vec::len).sum();
    report.fact("faults", "≥ 100", count >= 100, count);
    for (name, times) in faults {
        report.value(
            format!(
                "{name} ({}): longest until all nodes accept again",
                times.len()
            ),
            Goal::Reported,
            greatest(times).as_secs_f64(),
            (2, "s"),
        );
    }
    report.value(
        "a sender's longest time until a delivery is accepted",
        Goal::AtMost(5.0),
        greatest(waits).as_secs_f64(),
        (2, "s"),
    );
    report.value(
        "a sender's median time until a delivery is accepted",
        Goal::Reported,
        median(waits).as_secs_f64() * 1000.0,
        (1, "ms"),
    );
}
