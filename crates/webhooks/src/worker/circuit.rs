//! Circuit breakers of channel accounts. After [`THRESHOLD`] consecutive sends without a response, the circuit of
//! an account opens. Its deliveries then wait, and single probes are sent. A circuit closes with any response, and
//! when the account is changed, disabled or deleted. Pure; each node has its own circuits.

use super::slots::Attempt;
use gatehouse_channels::AccountMark;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of consecutive sends without a response that opens a circuit.
pub(crate) const THRESHOLD: u32 = 3;
/// Delay before the first probe.
const FIRST_WAIT_MS: u64 = 5_000;
/// Maximum delay before a probe. The delay doubles with each failed probe.
const LONGEST_WAIT_MS: u64 = 300_000;

#[derive(Debug)]
struct Opened {
    /// The earliest time of the next probe, by the monotonic clock.
    probe_at_ms: u64,
    wait_ms: u64,
    probe: Option<Attempt>,
}

#[derive(Debug, Default)]
struct Circuit {
    failures: u32,
    opened: Option<Opened>,
}

/// The sends that an account currently permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// No restriction.
    Closed,
    /// One delivery, as a probe.
    Probe,
    /// Nothing before this time, in milliseconds of the monotonic clock; `None` while a probe is in progress.
    Open(Option<u64>),
}

/// The circuits of the accounts whose last send got no response.
#[derive(Debug, Default)]
pub(crate) struct Circuits {
    circuits: HashMap<Arc<str>, Circuit>,
    /// The enabled accounts at the last [`Circuits::follow`].
    accounts: HashMap<String, AccountMark>,
}

impl Circuits {
    /// Returns what may be sent with an account.
    pub(crate) fn gate(&self, account: &str, now_ms: u64) -> Gate {
        let opened = self
            .circuits
            .get(account)
            .and_then(|circuit| circuit.opened.as_ref());
        match opened {
            None => Gate::Closed,
            Some(opened) if opened.probe.is_some() => Gate::Open(None),
            Some(opened) if now_ms >= opened.probe_at_ms => Gate::Probe,
            Some(opened) => Gate::Open(Some(opened.probe_at_ms)),
        }
    }

    /// Records that a send started. If the circuit is open, the send is the probe.
    pub(crate) fn started(&mut self, account: &str, attempt: &Attempt) {
        if let Some(opened) = self.opened(account) {
            opened.probe = Some(attempt.clone());
        }
    }

    /// Records a response of any kind. Returns whether the circuit was open.
    pub(crate) fn answered(&mut self, account: &str) -> bool {
        let circuit = self.circuits.remove(account);
        circuit.is_some_and(|circuit| circuit.opened.is_some())
    }

    /// Records a send without a response. Returns whether this opened the circuit.
    pub(crate) fn unanswered(
        &mut self,
        account: &Arc<str>,
        attempt: &Attempt,
        now_ms: u64,
    ) -> bool {
        let circuit = self.circuits.entry(Arc::clone(account)).or_default();
        if let Some(opened) = &mut circuit.opened {
            // Sends that started before the circuit opened do not affect the next probe.
            if opened.probe.as_ref() == Some(attempt) {
                opened.wait_ms = opened.wait_ms.saturating_mul(2).min(LONGEST_WAIT_MS);
                opened.probe_at_ms = now_ms.saturating_add(opened.wait_ms);
                opened.probe = None;
            }
            return false;
        }
        circuit.failures = circuit.failures.saturating_add(1);
        if circuit.failures < THRESHOLD {
            return false;
        }
        circuit.opened = Some(Opened {
            probe_at_ms: now_ms.saturating_add(FIRST_WAIT_MS),
            wait_ms: FIRST_WAIT_MS,
            probe: None,
        });
        true
    }

    /// Records that a run ended without calling the account. If it was the probe, another probe may start.
    pub(crate) fn unused(&mut self, account: &str, attempt: &Attempt) {
        if let Some(opened) = self.opened(account)
            && opened.probe.as_ref() == Some(attempt)
        {
            opened.probe = None;
        }
    }

    /// Allows the next probe now.
    pub(crate) fn probe_now(&mut self, account: &str) {
        if let Some(opened) = self.opened(account) {
            opened.probe_at_ms = 0;
        }
    }

    /// Closes the circuits of accounts that are gone or disabled, or that changed since the last call.
    pub(crate) fn follow(&mut self, accounts: HashMap<String, AccountMark>) {
        let known = std::mem::replace(&mut self.accounts, accounts);
        let accounts = &self.accounts;
        self.circuits.retain(|id, _| {
            let (before, now) = (known.get(&**id), accounts.get(&**id));
            now.is_some() && (before.is_none() || before == now)
        });
    }

    /// Returns the accounts whose circuit is open.
    pub(crate) fn opened_accounts(&self) -> Vec<String> {
        let opened = self.circuits.iter().filter(|(_, it)| it.opened.is_some());
        let mut accounts: Vec<_> = opened.map(|(account, _)| account.to_string()).collect();
        accounts.sort();
        accounts
    }

    fn opened(&mut self, account: &str) -> Option<&mut Opened> {
        self.circuits.get_mut(account)?.opened.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::DeliveryId;

    fn attempt(n: i64) -> Attempt {
        (DeliveryId::from_text("a"), n)
    }

    #[test]
    fn it_opens_at_the_threshold_and_any_answer_closes_it() {
        let (mut circuits, account) = (Circuits::default(), Arc::from("x"));
        for n in 1..i64::from(THRESHOLD) {
            assert!(!circuits.unanswered(&account, &attempt(n), 0));
        }
        assert!(!circuits.answered("x"));
        for n in 1..i64::from(THRESHOLD) {
            assert!(!circuits.unanswered(&account, &attempt(n), 0), "in a row");
        }
        assert_eq!(circuits.gate("x", 0), Gate::Closed);
        assert!(circuits.unanswered(&account, &attempt(9), 1000));
        assert_eq!(circuits.gate("x", 1000), Gate::Open(Some(6000)));
        assert_eq!(circuits.gate("y", 1000), Gate::Closed);
        assert!(circuits.answered("x"));
        assert_eq!(circuits.gate("x", 1000), Gate::Closed);
    }

    #[test]
    fn it_closes_with_its_account_and_stays_open_with_others() {
        let accounts = |ids: &[&str]| {
            let marks = ids
                .iter()
                .map(|id| ((*id).to_owned(), AccountMark::default()));
            marks.collect()
        };
        let (mut circuits, account) = (Circuits::default(), Arc::from("x"));
        for n in 0..i64::from(THRESHOLD) {
            circuits.unanswered(&account, &attempt(n), 0);
        }
        circuits.follow(accounts(&["x", "y"]));
        circuits.follow(accounts(&["x"]));
        assert_eq!(circuits.opened_accounts(), ["x"]);
        circuits.follow(accounts(&["y"]));
        assert!(circuits.opened_accounts().is_empty());
    }

    #[test]
    fn one_probe_goes_at_a_time_and_later_and_later() {
        let (mut circuits, account) = (Circuits::default(), Arc::from("x"));
        for n in 0..i64::from(THRESHOLD) {
            circuits.unanswered(&account, &attempt(n), 0);
        }
        let mut now = 0;
        for wait in [5, 10, 20, 40, 80, 160, 300, 300].map(|seconds| seconds * 1000) {
            assert_eq!(
                circuits.gate("x", now + wait - 1),
                Gate::Open(Some(now + wait))
            );
            now += wait;
            assert_eq!(circuits.gate("x", now), Gate::Probe);
            circuits.started("x", &attempt(50));
            assert_eq!(circuits.gate("x", now), Gate::Open(None));
            circuits.unanswered(&account, &attempt(1), now);
            assert_eq!(circuits.gate("x", now), Gate::Open(None), "not the probe");
            circuits.unanswered(&account, &attempt(50), now);
        }
        circuits.probe_now("x");
        assert_eq!(circuits.gate("x", now), Gate::Probe);
        circuits.started("x", &attempt(51));
        circuits.unused("x", &attempt(50));
        assert_eq!(circuits.gate("x", now), Gate::Open(None));
        circuits.unused("x", &attempt(51));
        assert_eq!(circuits.gate("x", now), Gate::Probe);
    }
}
