//! Distributes free slots among the lines of the queue. Does no I/O.
//!
//! Each line gets one slot in round-robin order, until the slots or the limits per webhook and account are used up.
//! The order begins after the line that was served last, so every line is served even if there are more lines than
//! slots.

use super::slots::{Load, Pool};
use gatehouse_domain::WebhookId;
use gatehouse_store::{DeliveryLine, Take};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum numbers of concurrent runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) agent: usize,
    pub(crate) send: usize,
    pub(crate) per_webhook: usize,
    pub(crate) per_account: usize,
}

/// A line with a due delivery.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) line: DeliveryLine,
    /// The account that the delivery is sent with; `None` for local accounts and agent turns.
    pub(crate) account: Option<Arc<str>>,
    /// Whether the account is on this machine. The limits per webhook and account do not apply to a local account.
    pub(crate) is_local: bool,
    /// Maximum number of starts; 1 if the account allows only a probe.
    pub(crate) room: usize,
}

/// The sort key of a line: target and webhook.
pub(crate) type LineKey = (String, WebhookId);

pub(crate) fn line_key(line: &DeliveryLine) -> LineKey {
    (line.target.clone(), line.webhook_id.clone())
}

/// The line of each pool that was served last.
#[derive(Debug, Default)]
pub(crate) struct Served {
    agent: Option<LineKey>,
    send: Option<LineKey>,
}

impl Served {
    pub(crate) fn note(&mut self, target: &str, webhook: &WebhookId) {
        let place = Some((target.to_owned(), webhook.clone()));
        match Pool::of(target) {
            Pool::Agent => self.agent = place,
            Pool::Send => self.send = place,
        }
    }
}

/// Returns how many deliveries to claim from each line. `candidates` must be sorted by [`line_key`], which
/// puts agent turns first.
pub(crate) fn plan(
    candidates: &[Candidate],
    limits: Limits,
    mut load: Load,
    served: &Served,
) -> Vec<Take> {
    let agents = candidates.partition_point(|it| it.line.target.is_empty());
    let (agents, sends) = candidates.split_at_checked(agents).unwrap_or_default();
    let mut takes = plan_pool(agents, limits, &mut load, served.agent.as_ref());
    takes.extend(plan_pool(sends, limits, &mut load, served.send.as_ref()));
    takes
}

/// Plans one pool and returns its takes in round-robin order.
fn plan_pool(
    candidates: &[Candidate],
    limits: Limits,
    load: &mut Load,
    served: Option<&LineKey>,
) -> Vec<Take> {
    let begin = served.map_or(0, |served| {
        candidates.partition_point(|candidate| line_key(&candidate.line) <= *served)
    });
    let (first, rest) = candidates
        .split_at_checked(begin)
        .unwrap_or((candidates, &[]));
    let turn: Vec<&Candidate> = rest.iter().chain(first).collect();
    let mut shares = vec![0_usize; turn.len()];
    let mut probed: HashSet<Arc<str>> = HashSet::new();
    loop {
        let mut is_over = true;
        for (candidate, share) in turn.iter().zip(&mut shares) {
            let probe = candidate.account.as_ref().filter(|_| candidate.room == 1);
            let has_room = *share < candidate.room && probe.is_none_or(|it| !probed.contains(it));
            if has_room && take_slot(candidate, limits, load) {
                probed.extend(probe.cloned());
                *share += 1;
                is_over = false;
            }
        }
        if is_over {
            break;
        }
    }
    let each = turn.into_iter().zip(shares);
    each.filter(|(_, share)| *share > 0)
        .map(|(candidate, limit)| Take {
            target: candidate.line.target.clone(),
            webhook_id: candidate.line.webhook_id.clone(),
            limit,
        })
        .collect()
}

fn take_slot(candidate: &Candidate, limits: Limits, load: &mut Load) -> bool {
    let (taken, slots) = match Pool::of(&candidate.line.target) {
        Pool::Agent => (&mut load.agent, limits.agent),
        Pool::Send => (&mut load.send, limits.send),
    };
    if *taken >= slots {
        return false;
    }
    if !candidate.is_local {
        let webhook = count(&load.webhooks, &candidate.line.webhook_id);
        let account = candidate.account.as_ref();
        let sends = account.map_or(0, |account| count(&load.accounts, account));
        if webhook >= limits.per_webhook || sends >= limits.per_account {
            return false;
        }
        load.webhooks
            .insert(candidate.line.webhook_id.clone(), webhook + 1);
        if let Some(account) = account {
            load.accounts.insert(Arc::clone(account), sends + 1);
        }
    }
    *taken += 1;
    true
}

fn count<K: std::hash::Hash + Eq>(counts: &HashMap<K, usize>, of: &K) -> usize {
    counts.get(of).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
