//! The queue in memory: what is promised of it, without how it is kept.

use super::calls::HOLDS_DISABLED;
use super::ops::{NODES, SESSIONS, WEBHOOKS};
use std::collections::{BTreeMap, BTreeSet};

/// Unix seconds at which every case begins; the model counts from there.
pub const START: i64 = 1_795_000_000;
/// After so many attempts a delivery fails instead of waiting for another.
pub const MAX_ATTEMPTS: i64 = 5;

/// Why a case ends before its time.
#[derive(Debug)]
pub enum Problem {
    /// A promise is broken.
    Wrong(String),
    /// The case asked for a rollback.
    RollBack,
}

/// Fails the case unless something holds.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err($crate::model::Problem::Wrong(format!($($why)+)));
        }
    };
}
pub(crate) use ensure;

/// A delivery that a claim returned.
#[derive(Debug)]
pub struct Claimed {
    pub number: u32,
    pub webhook: String,
}

/// A lease as a node reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub number: u32,
    pub owner: String,
    pub until: i64,
    pub attempts: i64,
}

/// Where a delivery is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Waiting(Hold),
    Running { owner: String, until: i64 },
    Completed,
    Failed,
}

/// What a waiting delivery waits for, besides the older ones of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Nothing. It has its place since this moment, which matters only to a clock that was set back.
    Since(i64),
    /// It was never queued: the start of a node queues it.
    Unqueued,
    /// This moment.
    Until(i64),
    /// The vault.
    Vault,
}

/// A delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub webhook: String,
    pub session: String,
    pub state: State,
    pub attempts: i64,
}

impl Delivery {
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Waiting(_) | State::Running { .. })
    }
}

/// What a node remembers.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub life: u32,
    /// The runs that it believes are its own.
    pub running: Vec<u32>,
    pub leases: Vec<Lease>,
    pub stranded: Vec<u32>,
    pub behind_vault: Vec<u32>,
}

/// A webhook.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub id: String,
    pub enabled: bool,
}

/// Everything.
#[derive(Clone, Debug)]
pub struct World {
    pub now: i64,
    pub sealed: bool,
    pub next_number: u32,
    pub next_webhook: u32,
    pub webhooks: Vec<Webhook>,
    pub nodes: Vec<Node>,
    /// Those that can be seen.
    pub deliveries: BTreeMap<u32, Delivery>,
    /// Those of deleted webhooks whose rows may still be there.
    pub ghosts: BTreeMap<u32, Delivery>,
    /// Webhooks that were deleted and may have rows.
    pub removed: BTreeSet<String>,
    /// Sessions in which something may be parked that nothing will wake but a look at what is
    /// stranded, because an older one was removed.
    pub stranded: BTreeSet<String>,
}

impl World {
    pub fn new() -> Self {
        Self {
            now: 0,
            sealed: false,
            next_number: 1,
            next_webhook: 0,
            webhooks: Vec::with_capacity(WEBHOOKS),
            nodes: vec![Node::default(); NODES],
            deliveries: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            removed: BTreeSet::new(),
            stranded: BTreeSet::new(),
        }
    }

    pub fn owner(&self, node: usize) -> String {
        format!("node {node}, life {}", self.nodes[node].life)
    }

    /// The first sessions are of one webhook each, the last two are shared by all.
    pub fn session(&self, webhook: usize, session: usize) -> String {
        if session + 2 >= SESSIONS {
            format!("named {session}")
        } else {
            format!("{} {session}", self.webhooks[webhook].id)
        }
    }

    /// The open deliveries of a session, the oldest first.
    fn queue_of<'a>(&'a self, session: &'a str) -> impl Iterator<Item = (&'a u32, &'a Delivery)> {
        let all = self.deliveries.iter();
        all.filter(move |(_, one)| one.session == session && one.is_open())
    }

    /// Webhooks that are disabled.
    pub fn disabled(&self) -> Vec<String> {
        let all = self.webhooks.iter().filter(|one| !one.enabled);
        all.map(|one| one.id.clone()).collect()
    }

    /// Whether a claim leaves out the deliveries of this webhook.
    fn is_held(&self, webhook: &str) -> bool {
        HOLDS_DISABLED && self.disabled().iter().any(|id| id == webhook)
    }

    /// Whether a delivery is this owner's.
    pub fn is_own(&self, number: u32, owner: &str) -> bool {
        let state = self.deliveries.get(&number).map(|one| &one.state);
        matches!(state, Some(State::Running { owner: of, .. }) if of == owner)
    }

    /// Whether it is of a deleted webhook and may still have a row: the model does not say then what
    /// the store answers.
    pub fn is_ghost(&self, number: u32) -> bool {
        self.ghosts.contains_key(&number)
    }

    /// Checks one claim and takes it over.
    pub fn claim(&mut self, node: usize, claimed: &Claimed, until: i64) -> Result<(), Problem> {
        let number = claimed.number;
        let owner = self.owner(node);
        let Some(one) = self.deliveries.get(&number) else {
            let why = format!("delivery {number} was claimed and is not there: {claimed:?}");
            return Err(Problem::Wrong(why));
        };
        ensure!(
            one.webhook == claimed.webhook,
            "delivery {number} was claimed for {claimed:?}, not {one:?}"
        );
        let older = self.queue_of(&one.session).next();
        ensure!(
            older.is_some_and(|(first, _)| *first == number),
            "order: delivery {number} was claimed before {older:?}"
        );
        ensure!(
            !self.is_held(&one.webhook),
            "delivery {number} was claimed, and its webhook is disabled: {one:?}"
        );
        let wrong = match one.state {
            State::Waiting(Hold::Vault) => Some("waits for the vault"),
            State::Waiting(Hold::Until(moment)) if moment > self.now => Some("waits for later"),
            State::Waiting(_) => None,
            _ => Some("does not wait"),
        };
        ensure!(
            wrong.is_none(),
            "delivery {number} was claimed at {}, and it {}: {one:?}",
            self.now,
            wrong.unwrap_or_default()
        );
        if let Some(one) = self.deliveries.get_mut(&number) {
            one.state = State::Running { owner, until };
            one.attempts += 1;
        }
        Ok(())
    }

    /// After a claim that looked at everything: nothing that may run is left.
    pub fn ensure_all_claimed(&self) -> Result<(), Problem> {
        let mut seen = BTreeSet::new();
        for (number, one) in self.deliveries.iter().filter(|(_, one)| one.is_open()) {
            let is_head = seen.insert(&one.session);
            let is_due = match one.state {
                State::Waiting(Hold::Since(moment) | Hold::Until(moment)) => moment <= self.now,
                _ => false,
            };
            let has_ghosts = self
                .ghosts
                .values()
                .any(|ghost| ghost.session == one.session);
            let is_excused =
                has_ghosts || self.is_held(&one.webhook) || self.stranded.contains(&one.session);
            ensure!(
                !(is_head && is_due && !is_excused),
                "parked for ever: {number} may run at {} and was not claimed: {one:?}",
                self.now
            );
        }
        Ok(())
    }

    /// The deliveries of a webhook are out of sight; their rows go later.
    pub fn delete(&mut self, webhook: &str) {
        let gone: Vec<u32> = self
            .deliveries
            .iter()
            .filter(|(_, one)| one.webhook == webhook)
            .map(|(number, _)| *number)
            .collect();
        for number in gone {
            if let Some(one) = self.deliveries.remove(&number) {
                if one.is_open() {
                    self.stranded.insert(one.session.clone());
                }
                self.ghosts.insert(number, one);
            }
        }
        self.removed.insert(webhook.to_owned());
    }

    /// No rows of deleted webhooks but these are left.
    pub fn forget_all_but(&mut self, removed: &[String]) {
        self.removed = removed.iter().cloned().collect();
        let left = &self.removed;
        self.ghosts.retain(|_, ghost| left.contains(&ghost.webhook));
    }

    /// Numbers of those in this state, the oldest first.
    pub fn numbers(&self, mut wanted: impl FnMut(&Delivery) -> bool) -> Vec<u32> {
        let all = self.deliveries.iter().filter(|(_, one)| wanted(one));
        all.map(|(number, _)| *number).collect()
    }

    /// The end of one delivery wakes the next of its session.
    pub fn wake_next(&mut self, ended: u32) {
        let now = self.now;
        let Some(session) = self.deliveries.get(&ended).map(|one| one.session.clone()) else {
            return;
        };
        let mut all = self.deliveries.values_mut();
        let next = all.find(|one| one.session == session && one.is_open());
        let Some(Delivery {
            state: State::Waiting(hold),
            ..
        }) = next
        else {
            return;
        };
        // One that was never parked keeps its place, which a clock that was set back makes a later one.
        match *hold {
            Hold::Since(moment) => *hold = Hold::Since(moment.max(now)),
            Hold::Unqueued => *hold = Hold::Since(now),
            Hold::Until(_) | Hold::Vault => {}
        }
    }

    pub fn set(&mut self, number: u32, state: State) {
        if let Some(one) = self.deliveries.get_mut(&number) {
            one.state = state;
        }
    }
}
