//! Runs the real worker under the same disturbances. Complete nodes, each on its own runtime, deliver to a receiver
//! that responds, refuses or is slow. A crash drops the runtime of a node: every task ends at its current await
//! point, and its connections to the database close.
//!
//! The operating system schedules the tasks, so a failure cannot be shrunk. The sequence of disturbances comes from
//! a seed, which a failure reports.

use super::cluster_node::{Node, Receiver};
use gatehouse_domain::{DeliveryStatus, Random, SeededRandom};
use gatehouse_store::testing::{TestDatabase, postgres, sqlite};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Disturbances per run.
const STEPS: u32 = 250;
/// The queue must be empty within this many hours after the disturbances end.
const ROUNDS: usize = 300;

/// The accepted deliveries.
#[derive(Default)]
struct Accepted {
    /// Mark and ID of each delivery by webhook, in the order of the responses.
    by_webhook: BTreeMap<String, Vec<(String, String)>>,
    /// Pairs of original and replay.
    replays: Vec<(String, String)>,
    removed: BTreeSet<String>,
}

struct Cluster {
    seed: u64,
    random: SeededRandom,
    database: TestDatabase,
    nodes: Vec<Option<Node>>,
    receiver: Receiver,
    /// Public IDs of the existing webhooks.
    webhooks: Vec<String>,
    accepted: Accepted,
    marks: u32,
    sealed: bool,
    /// The wall clock, in milliseconds since the start.
    now_ms: i64,
}

impl Cluster {
    async fn open(database: TestDatabase, nodes: usize, seed: u64) -> Self {
        let receiver = Receiver::start().await;
        let first = Node::open(database.for_another_node(), 0).await;
        first.prepare(&receiver).await;
        let mut cluster = Self {
            seed,
            random: SeededRandom::new(seed),
            database,
            nodes: vec![Some(first)],
            receiver,
            webhooks: Vec::new(),
            accepted: Accepted::default(),
            marks: 0,
            sealed: false,
            now_ms: 0,
        };
        for place in 0..3 {
            cluster.add_webhook(place).await;
        }
        while cluster.nodes.len() < nodes {
            let node = cluster.fresh_node().await;
            cluster.nodes.push(Some(node));
        }
        cluster
    }

    fn below(&self, bound: usize) -> usize {
        let random: &dyn Random = &self.random;
        random.below(u32::try_from(bound).unwrap()) as usize
    }

    async fn fresh_node(&self) -> Node {
        let node = Node::open(self.database.for_another_node(), self.now_ms).await;
        if !self.sealed {
            node.unseal().await;
        }
        node
    }

    fn some_node(&self) -> Option<&Node> {
        let up: Vec<&Node> = self.nodes.iter().flatten().collect();
        (!up.is_empty()).then(|| up[self.below(up.len())])
    }

    /// Creates a webhook: one for the inbox, one for the receiver, or one for the receiver with a secret.
    async fn add_webhook(&mut self, place: usize) {
        let target = [None, Some("http:open"), Some("http:signed")][place];
        let Some(node) = self.some_node() else { return };
        let id = node.create_webhook(place, target).await;
        if let Some(old) = self.webhooks.get_mut(place) {
            *old = id;
        } else {
            self.webhooks.push(id);
        }
    }

    async fn step(&mut self) {
        match self.below(40) {
            0..=15 => self.accept().await,
            16..=23 => self.look().await,
            24..=27 => self.advance().await,
            28 => self.jump(),
            29..=30 => self.receiver.answer([200, 503, 429][self.below(3)]),
            31..=33 => self.crash().await,
            34 => self.seal().await,
            35..=36 => self.enable().await,
            37..=38 => self.replay().await,
            _ => self.delete().await,
        }
    }

    async fn accept(&mut self) {
        let place = self.below(3);
        self.marks += 1;
        let mark = format!("mark-{}", self.marks);
        let Some(node) = self.some_node() else { return };
        if let Some(id) = node.accept(&self.webhooks[place], &mark).await {
            let webhook = self.webhooks[place].clone();
            let all = self.accepted.by_webhook.entry(webhook).or_default();
            all.push((mark, id));
        }
    }

    async fn look(&self) {
        for node in self.nodes.iter().flatten() {
            node.look().await;
        }
    }

    async fn advance(&mut self) {
        let seconds = [1, 15, 61, 700][self.below(4)];
        self.move_time(seconds);
        self.look().await;
    }

    fn move_time(&mut self, seconds: u32) {
        self.now_ms += i64::from(seconds) * 1000;
        for node in self.nodes.iter().flatten() {
            node.advance(Duration::from_secs(u64::from(seconds)));
        }
    }

    /// Sets the wall clock, but not the monotonic clock.
    fn jump(&mut self) {
        let hours = i64::try_from(self.below(200)).unwrap() - 100;
        self.now_ms += hours * 3_600_000;
        for node in self.nodes.iter().flatten() {
            node.jump(hours * 3_600_000);
        }
    }

    /// Crashes a node that is up, or starts one that is down.
    async fn crash(&mut self) {
        let place = self.below(self.nodes.len());
        if let Some(node) = self.nodes[place].take() {
            node.crash().await;
            // Keeps one node up, because otherwise nothing is accepted.
            if self.nodes.iter().flatten().count() > 0 {
                return;
            }
        }
        self.nodes[place] = Some(self.fresh_node().await);
    }

    async fn seal(&mut self) {
        self.sealed = !self.sealed;
        for node in self.nodes.iter().flatten() {
            if self.sealed {
                node.seal().await;
            } else {
                node.unseal().await;
            }
        }
    }

    async fn enable(&self) {
        let (place, enabled) = (self.below(3), self.below(3) > 0);
        if let Some(node) = self.some_node() {
            node.enable(&self.webhooks[place], enabled).await;
        }
    }

    async fn replay(&mut self) {
        let all: Vec<&String> = self
            .accepted
            .by_webhook
            .values()
            .flatten()
            .map(|(_, id)| id)
            .collect();
        if all.is_empty() {
            return;
        }
        let id = all[self.below(all.len())].clone();
        let Some(node) = self.some_node() else { return };
        if let Some(again) = node.replay(&id).await {
            self.accepted.replays.push((id, again));
        }
    }

    async fn delete(&mut self) {
        let place = self.below(3);
        let webhook = self.webhooks[place].clone();
        let Some(node) = self.some_node() else { return };
        node.delete(&webhook).await;
        self.accepted.removed.insert(webhook);
        self.add_webhook(place).await;
    }

    /// Ends all disturbances and advances time until no delivery waits.
    async fn settle(&mut self) {
        self.receiver.answer(200);
        for place in 0..self.nodes.len() {
            if self.nodes[place].is_none() {
                self.nodes[place] = Some(self.fresh_node().await);
            }
        }
        if self.sealed {
            self.seal().await;
        }
        for webhook in &self.webhooks {
            if let Some(node) = self.some_node() {
                node.enable(webhook, true).await;
            }
        }
        for _ in 0..ROUNDS {
            self.move_time(3600);
            self.look().await;
            let Some(node) = self.some_node() else { return };
            node.purge().await;
            if node.is_idle().await {
                return;
            }
        }
        let left = match self.some_node() {
            Some(node) => node.open_rows().await,
            None => Vec::new(),
        };
        panic!("seed {}: parked for ever: {left:?}", self.seed);
    }

    async fn check(&self) {
        let seed = self.seed;
        let Some(node) = self.some_node() else { return };
        let (rows, inbox) = (node.rows().await, node.inbox().await);
        let replays = &self.accepted.replays;
        for (webhook, all) in &self.accepted.by_webhook {
            if self.accepted.removed.contains(webhook) {
                continue;
            }
            for (mark, id) in all {
                let again = replays.iter().filter(|(first, _)| first == id);
                let (mut attempts, mut completed) = (0, false);
                for id in again.map(|(_, again)| again).chain([id]) {
                    let Some((status, made)) = rows.get(id) else {
                        panic!("seed {seed}: lost: {mark} {id}");
                    };
                    assert!(
                        matches!(status, DeliveryStatus::Completed | DeliveryStatus::Failed),
                        "seed {seed}: {mark} {id} is {status}"
                    );
                    attempts += *made;
                    completed |= *status == DeliveryStatus::Completed;
                }
                let came = self.receiver.times(mark).max(count(&inbox, mark));
                assert!(
                    i64::try_from(came).unwrap() <= attempts,
                    "seed {seed}: {mark} came {came} times in {attempts} attempts"
                );
                assert!(
                    came > 0 || !completed,
                    "seed {seed}: {mark} is completed and never came"
                );
            }
            self.check_order(all);
        }
    }

    /// Checks the order within sessions. If a delivery was accepted before another one of its session and has the
    /// smaller ID, it must arrive first. If the clock was set back and the later delivery has the smaller ID,
    /// either order is correct.
    fn check_order(&self, all: &[(String, String)]) {
        let is_replayed = |id: &String| self.accepted.replays.iter().any(|(first, _)| first == id);
        let first_times: Vec<(usize, &str, &str)> = all
            .iter()
            .filter(|(_, id)| !is_replayed(id))
            .filter_map(|(mark, id)| {
                let first = self.receiver.first(mark)?;
                Some((first, mark.as_str(), id.as_str()))
            })
            .collect();
        for (place, (first, mark, id)) in first_times.iter().enumerate() {
            for (later, other, other_id) in &first_times[place + 1..] {
                assert!(
                    first < later || id > other_id,
                    "seed {}: order: {other} {other_id} came before {mark} {id}",
                    self.seed
                );
            }
        }
    }

    async fn close(mut self) {
        for node in self.nodes.drain(..).flatten() {
            node.stop().await;
        }
    }
}

fn count(texts: &[String], mark: &str) -> usize {
    texts.iter().filter(|text| *text == mark).count()
}

async fn run(database: TestDatabase, nodes: usize, seed: u64) {
    let mut cluster = Cluster::open(database, nodes, seed).await;
    for _ in 0..STEPS {
        cluster.step().await;
    }
    cluster.settle().await;
    cluster.check().await;
    cluster.close().await;
}

#[tokio::test]
async fn a_worker_keeps_the_promises_through_crashes_on_sqlite() {
    run(sqlite(), 1, 11).await;
}

#[tokio::test]
async fn two_workers_keep_the_promises_through_crashes_on_postgresql() {
    if let Some(database) = postgres().await {
        run(database, 2, 12).await;
    }
}
