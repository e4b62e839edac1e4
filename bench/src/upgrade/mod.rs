//! `bench upgrade`: two nodes on one PostgreSQL database, under load, are replaced one by one: from the binary of
//! an earlier version to this version, back to the earlier one, and to this version again. A load balancer removes
//! a node before it stops. No sender may get an error, and no accepted delivery may be lost.

mod node;

use crate::cluster::{load, order};
use crate::crash::lane::{Lane, make_lanes};
use crate::crash::{Accepted, INBOX, environment, recorder, verdict, wait_until_done};
use crate::figures::{greatest, median, millis};
use crate::gateway::binary;
use crate::owner::Installation;
use crate::postgres::Postgres;
use crate::table::{Goal, Report};
use anyhow::{Context, Result, ensure};
use load::{Addresses, Sent};
use node::Node;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `upgrade`.
#[derive(clap::Args)]
pub struct Args {
    /// The binary of the earlier version [default: the one that `cargo xtask bench --earlier COMMIT` built]
    #[arg(long, value_name = "FILE")]
    earlier: Option<PathBuf>,
    /// How long the load continues between two replacements, in seconds; at most 60, because the owner must confirm the
    /// session after 15 minutes
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=60))]
    seconds: u64,
    /// Deliveries per second of all senders
    #[arg(long, default_value_t = 60)]
    rate: u32,
    /// Do not return to the earlier version, for migrations that end its support
    #[arg(long)]
    one_way: bool,
}

/// The environment variable with the path of the earlier binary.
const EARLIER: &str = "GATEHOUSE_BENCH_EARLIER";
/// The cluster secret of the nodes. A node gets the vault's key from the other node, which has a different version.
const CLUSTER_SECRET: &str = "the secret of this cluster: 32 characters or more";
/// How long a node accepts requests after the load balancer has removed it.
const DRAIN_DELAY_SECONDS: u64 = 1;
/// How long a sender waits for an answer, like a code host.
const ATTEMPT: Duration = Duration::from_secs(10);
const NEWEST_MIGRATION: &str = "SELECT MAX(version) FROM _sqlx_migrations";

/// The two binaries.
struct Versions {
    earlier: PathBuf,
    this: PathBuf,
}

impl Versions {
    fn find(args: &Args) -> Result<Self> {
        let built = || std::env::var_os(EARLIER).map(PathBuf::from);
        let earlier = args.earlier.clone().or_else(built);
        let earlier = earlier
            .filter(|path| path.is_file())
            .context("no earlier binary: run cargo xtask bench --earlier COMMIT upgrade")?;
        Ok(Self {
            earlier,
            this: binary()?,
        })
    }

    fn name(&self, binary: &Path) -> &'static str {
        if binary == self.this {
            "this version"
        } else {
            "the earlier version"
        }
    }
}

/// Runs the benchmark and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let versions = Versions::find(args)?;
    let database = Postgres::start()?;
    let (outside, sunk, asked) = recorder::start().await?;
    let mut settings = environment(outside, Some(&database));
    settings.push(("SERVICE_VAULT__CLUSTER_SECRET", CLUSTER_SECRET.to_owned()));
    let delay = DRAIN_DELAY_SECONDS.to_string();
    settings.push(("SERVICE_SERVER__DRAIN_DELAY_SECONDS", delay));
    let folder = tempfile::tempdir()?;
    let data_dir = folder.path().join("1");
    let (first, server) =
        Installation::with_vault_by(&versions.earlier, &data_dir, &settings).await?;
    let recorders = [sunk, asked];
    let lanes = make_lanes(&first, &server, outside, recorders, "per_entity").await?;
    let addresses = Addresses::new(2);
    let second = first.beside(&folder.path().join("2"));
    let mut nodes = [
        Node::running(0, first, server, &addresses),
        Node::start(1, second, &addresses).await?,
    ];
    let before = database.ask(NEWEST_MIGRATION)?;
    let mut report = Report::default();

    let senders = load::start(&lanes, args.rate, (&addresses, ATTEMPT));
    let outcome = replace_all(args, &versions, &mut nodes, &mut report).await;
    load::stop(&senders);
    outcome?;
    let mut sent = Sent::default();
    for sender in senders.tasks {
        let one = sender.await??;
        sent.accepted.extend(one.accepted);
        sent.waits.extend(one.waits);
        sent.refused += one.refused;
    }
    let after = database.ask(NEWEST_MIGRATION)?;
    report.fact(
        "newest migration, before and after",
        "",
        true,
        format!("{before}, {after}"),
    );
    report_senders(&mut sent, &mut report);
    let [node, _] = &nodes;
    check(node, &lanes, &sent.accepted, &mut report).await?;
    report.print();
    Ok(())
}

fn report_senders(sent: &mut Sent, report: &mut Report) {
    let refused = sent.refused;
    report.fact("errors that a sender got", "0", refused == 0, refused);
    report.value(
        "longest time until a delivery is accepted",
        Goal::AtMost(millis(ATTEMPT)),
        millis(greatest(&sent.waits)),
        (0, "ms"),
    );
    report.value(
        "median time until a delivery is accepted",
        Goal::Reported,
        millis(median(&mut sent.waits)),
        (1, "ms"),
    );
}

/// Waits until the queue is empty, and compares the rows with the messages that the external services received.
async fn check(
    node: &Node,
    lanes: &[Lane],
    accepted: &[Accepted],
    report: &mut Report,
) -> Result<()> {
    let (installation, server) = (&node.installation, node.server()?);
    let is_drained = wait_until_done(installation, server).await?;
    report.fact(
        "the queue ran empty afterwards",
        "yes",
        is_drained,
        is_drained,
    );
    let inbox = lanes.iter().find(|lane| lane.name == INBOX);
    let inbox = inbox.context("no lane for the inbox")?;
    verdict::read_inbox(installation, server, inbox).await?;
    verdict::tell(installation, server, lanes, accepted, report).await?;
    verdict::tell_inbox(lanes, accepted, report);
    for lane in lanes.iter().filter(|lane| lane.name == "agent") {
        let wrong = order::count_out_of_order(&lane.recorder.arrivals());
        report.fact("agent: out of order in its session", "0", wrong == 0, wrong);
    }
    Ok(())
}

/// Replaces both nodes one after the other: with this version, with the earlier one and with this one again.
async fn replace_all(
    args: &Args,
    versions: &Versions,
    nodes: &mut [Node; 2],
    report: &mut Report,
) -> Result<()> {
    let (this, earlier) = (versions.this.as_path(), versions.earlier.as_path());
    let rounds = if args.one_way {
        vec![this]
    } else {
        vec![this, earlier, this]
    };
    let pause = Duration::from_secs(args.seconds);
    tokio::time::sleep(pause).await;
    for (round, binary) in rounds.into_iter().enumerate() {
        for number in 0..nodes.len() {
            let node = nodes.get_mut(number).context("no such node")?;
            let name = versions.name(binary);
            let ready = node.replace(binary).await;
            let ready = ready.with_context(|| format!("{name} on node {}", number + 1))?;
            report.value(
                format!(
                    "round {}: node {} is ready with {name}, its vault unlocked by the other node",
                    round + 1,
                    number + 1
                ),
                Goal::Reported,
                ready.as_secs_f64(),
                (2, "s"),
            );
            exchange(nodes, &format!("ROUND_{round}_NODE_{number}")).await?;
            tokio::time::sleep(pause).await;
        }
    }
    Ok(())
}

/// Stores a secret on each node and reads it on the other node. After the first replacement of a round, the nodes
/// have different versions.
async fn exchange(nodes: &[Node; 2], name: &str) -> Result<()> {
    let [one, other] = nodes;
    for (writer, reader, end) in [(one, other, "A"), (other, one, "B")] {
        let key = format!("{name}_{end}");
        let set = json!({ "key": key, "value": format!("value of {key}") });
        writer.rpc("env.set", set).await?;
        let params = json!({ "program": "bench" });
        let revealed = reader.rpc("env.reveal", params).await?;
        let variables = revealed.get("variables").and_then(Value::as_array);
        let wanted = json!({ "key": key, "value": format!("value of {key}") });
        let is_there = variables.is_some_and(|all| all.contains(&wanted));
        ensure!(
            is_there,
            "a node does not read what the other one wrote: {key}"
        );
    }
    Ok(())
}
