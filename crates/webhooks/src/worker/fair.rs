//! Distributes free slots among the lines of the queue. Pure.
//!
//! Lines get one slot each in round-robin order until the slots or the limits per webhook and account are
//! used up. The order begins after the line that was served last, so every line gets its turn even if there
//! are more lines than slots.

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
    /// The account that it is sent with; `None` for local accounts and agent turns.
    pub(crate) account: Option<Arc<str>>,
    /// Whether its account is on this machine. The limits per webhook and account do not apply to it.
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
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

    const LIMITS: Limits = Limits {
        agent: 4,
        send: 16,
        per_webhook: 8,
        per_account: 8,
    };

    fn candidate(target: &str, webhook: &str) -> Candidate {
        Candidate {
            line: DeliveryLine {
                target: target.to_owned(),
                webhook_id: WebhookId::from_text(webhook),
                due: Timestamp::from_millis(0),
            },
            account: Some(Arc::from(target)).filter(|_| target.starts_with("http")),
            is_local: target == "inbox",
            room: usize::MAX,
        }
    }

    fn shares(takes: &[Take]) -> Vec<(&str, &str, usize)> {
        takes
            .iter()
            .map(|take| (take.target.as_str(), take.webhook_id.as_str(), take.limit))
            .collect()
    }

    #[test]
    fn one_line_gets_what_its_limits_allow() {
        let of = |candidate| plan(&[candidate], LIMITS, Load::default(), &Served::default());
        assert_eq!(shares(&of(candidate("", "a"))), [("", "a", 4)]);
        assert_eq!(shares(&of(candidate("http:x", "a"))), [("http:x", "a", 8)]);
        assert_eq!(shares(&of(candidate("inbox", "a"))), [("inbox", "a", 16)]);
        let probe = Candidate {
            room: 1,
            ..candidate("http:x", "a")
        };
        assert_eq!(shares(&of(probe)), [("http:x", "a", 1)]);
        let probes = ["a", "b"].map(|webhook| Candidate {
            room: 1,
            ..candidate("http:x", webhook)
        });
        let takes = plan(&probes, LIMITS, Load::default(), &Served::default());
        assert_eq!(
            shares(&takes),
            [("http:x", "a", 1)],
            "one probe for the account"
        );
    }

    #[test]
    fn neither_pool_takes_from_the_other_and_no_line_from_its_neighbours() {
        let lines = [
            candidate("", "a"),
            candidate("http:x", "a"),
            candidate("http:x", "b"),
            candidate("http:y", "c"),
        ];
        let takes = plan(&lines, LIMITS, Load::default(), &Served::default());
        let expected = [
            ("", "a", 4),
            ("http:x", "a", 4),
            ("http:x", "b", 4),
            ("http:y", "c", 8),
        ];
        assert_eq!(
            shares(&takes),
            expected,
            "the account x takes 8, the webhook a too"
        );
    }

    #[test]
    fn what_runs_counts() {
        let load = Load {
            agent: 4,
            send: 15,
            webhooks: HashMap::from([(WebhookId::from_text("b"), 8)]),
            accounts: HashMap::from([(Arc::from("http:x"), 8)]),
        };
        let lines = [
            candidate("", "a"),
            candidate("http:x", "a"),
            candidate("http:y", "b"),
            candidate("http:y", "c"),
            candidate("inbox", "d"),
        ];
        let takes = plan(&lines, LIMITS, load, &Served::default());
        assert_eq!(shares(&takes), [("http:y", "c", 1)]);
    }

    #[test]
    fn with_more_lines_than_slots_each_has_its_turn() {
        let names = ["a", "b", "c", "d", "e"];
        let lines = names.map(|name| candidate("", name));
        let limits = Limits { agent: 2, ..LIMITS };
        let (mut served, mut order) = (Served::default(), Vec::new());
        for _ in 0..5 {
            let takes = plan(&lines, limits, Load::default(), &served);
            order.extend(takes.iter().map(|take| take.webhook_id.as_str().to_owned()));
            let last = takes.last().unwrap();
            served.note(&last.target, &last.webhook_id);
            served.note("http:x", &WebhookId::from_text("z"));
        }
        assert_eq!(order, ["a", "b", "c", "d", "e", "a", "b", "c", "d", "e"]);
    }
}
