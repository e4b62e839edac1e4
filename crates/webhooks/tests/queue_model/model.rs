//! The in-memory model of the queue: its guarantees, independent of the implementation.

use super::calls::HOLDS_DISABLED;
use super::ops::{NODES, SESSIONS, WEBHOOKS};
use std::collections::{BTreeMap, BTreeSet};

/// The start time of every case in Unix seconds. The model's time is relative to it.
pub const START: i64 = 1_795_000_000;
/// After this many attempts, a delivery fails instead of being retried.
pub const MAX_ATTEMPTS: i64 = 5;

/// Why a case ended early.
#[derive(Debug)]
pub enum Problem {
    /// An invariant was violated.
    Wrong(String),
    /// The case requested a rollback.
    RollBack,
}

/// Fails the case if the condition is false.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err($crate::model::Problem::Wrong(format!($($why)+)));
        }
    };
}
pub(crate) use ensure;

#[derive(Debug)]
pub struct Claimed {
    pub number: u32,
    pub webhook: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub number: u32,
    pub owner: String,
    pub until: i64,
    pub attempts: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Waiting(Hold),
    Running { owner: String, until: i64 },
    Completed,
    Failed,
}

/// The reason why a delivery waits, other than older deliveries of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// No reason. The delivery has been due since this time, which matters only if the clock is set back.
    Since(i64),
    /// The delivery was stored but not queued. The next startup of a node queues it.
    Unqueued,
    /// The delivery waits until this time.
    Until(i64),
    /// The delivery waits until the vault is unsealed.
    Vault,
}

#[derive(Clone, Debug)]
pub struct Delivery {
    pub webhook: String,
    pub session: String,
    pub state: State,
    pub attempts: i64,
    /// Whether the delivery has a stored reason to wait.
    pub has_error: bool,
}

impl Delivery {
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Waiting(_) | State::Running { .. })
    }
}

#[derive(Clone, Debug, Default)]
pub struct Node {
    pub life: u32,
    /// The runs that the node has not yet detected as lost.
    pub running: Vec<u32>,
    pub leases: Vec<Lease>,
    pub stranded: Vec<u32>,
    pub behind_vault: Vec<u32>,
}

#[derive(Clone, Debug)]
pub struct Webhook {
    pub id: String,
    pub enabled: bool,
}

/// The complete state of the model.
#[derive(Clone, Debug)]
pub struct ModelState {
    pub now: i64,
    pub sealed: bool,
    pub next_number: u32,
    pub next_webhook: u32,
    pub webhooks: Vec<Webhook>,
    pub nodes: Vec<Node>,
    /// Visible deliveries.
    pub deliveries: BTreeMap<u32, Delivery>,
    /// Deliveries of deleted webhooks whose rows may still exist.
    pub ghosts: BTreeMap<u32, Delivery>,
    /// Deleted webhooks that may still have rows.
    pub removed: BTreeSet<String>,
    /// Sessions that may contain a parked delivery whose predecessor was removed. Only the search for stranded
    /// deliveries finds such a delivery.
    pub stranded: BTreeSet<String>,
}

impl ModelState {
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

    /// Returns the key of a session. Each of the first sessions belongs to one webhook. All webhooks share the last
    /// two sessions.
    pub fn session(&self, webhook: usize, session: usize) -> String {
        if session + 2 >= SESSIONS {
            format!("named {session}")
        } else {
            format!("{} {session}", self.webhooks[webhook].id)
        }
    }

    /// Returns the open deliveries of a session, oldest first.
    fn queue_of<'a>(&'a self, session: &'a str) -> impl Iterator<Item = (&'a u32, &'a Delivery)> {
        let all = self.deliveries.iter();
        all.filter(move |(_, one)| one.session == session && one.is_open())
    }

    pub fn disabled(&self) -> Vec<String> {
        let all = self.webhooks.iter().filter(|one| !one.enabled);
        all.map(|one| one.id.clone()).collect()
    }

    /// Returns whether a claim skips the deliveries of this webhook.
    fn is_held(&self, webhook: &str) -> bool {
        HOLDS_DISABLED && self.disabled().iter().any(|id| id == webhook)
    }

    /// Returns whether this owner runs the delivery.
    pub fn is_own(&self, number: u32, owner: &str) -> bool {
        let state = self.deliveries.get(&number).map(|one| &one.state);
        matches!(state, Some(State::Running { owner: of, .. }) if of == owner)
    }

    /// Returns whether the delivery belongs to a deleted webhook and may still have a row. The model does not
    /// predict the store's answers for such a delivery.
    pub fn is_ghost(&self, number: u32) -> bool {
        self.ghosts.contains_key(&number)
    }

    /// Checks a claim and applies it to the model.
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

    /// Checks that a claim that examined all deliveries has left none that can be claimed.
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

    /// Hides the deliveries of a webhook. Their rows are removed later.
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

    /// Keeps only these deleted webhooks. All rows of the other deleted webhooks have been removed.
    pub fn forget_all_but(&mut self, removed: &[String]) {
        self.removed = removed.iter().cloned().collect();
        let left = &self.removed;
        self.ghosts.retain(|_, ghost| left.contains(&ghost.webhook));
    }

    /// Returns the numbers of the deliveries that match, oldest first.
    pub fn numbers(&self, mut wanted: impl FnMut(&Delivery) -> bool) -> Vec<u32> {
        let all = self.deliveries.iter().filter(|(_, one)| wanted(one));
        all.map(|(number, _)| *number).collect()
    }

    /// Makes the next delivery of the session due after one has ended.
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
        // A delivery that was never parked keeps its due time if that time is in the future, because the clock was
        // set back. Otherwise it is due now.
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
