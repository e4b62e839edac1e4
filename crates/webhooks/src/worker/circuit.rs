//! Accounts that do not answer. After [`THRESHOLD`] sends in a row without an answer an account's circuit opens:
//! its deliveries wait, and one is sent now and then as a probe. Any answer closes it. Pure; each node has its own.

use super::slots::Attempt;
use std::collections::HashMap;
use std::sync::Arc;

/// How many sends in a row get no answer before the circuit opens.
pub(crate) const THRESHOLD: u32 = 3;
/// How long the first probe waits.
const FIRST_WAIT_MS: u64 = 5_000;
/// How long a probe waits at most; each waits twice as long as the one before.
const LONGEST_WAIT_MS: u64 = 300_000;

#[derive(Debug)]
struct Opened {
    /// When a probe may go, by the monotonic clock.
    probe_at_ms: u64,
    wait_ms: u64,
    probe: Option<Attempt>,
}

#[derive(Debug, Default)]
struct Circuit {
    failures: u32,
    opened: Option<Opened>,
}

/// What may be sent with an account now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Anything.
    Closed,
    /// One delivery.
    Probe,
    /// Nothing before this moment of the monotonic clock; `None` while a probe is on its way.
    Open(Option<u64>),
}

/// The circuits of all accounts that did not answer lately.
#[derive(Debug, Default)]
pub(crate) struct Circuits(HashMap<Arc<str>, Circuit>);

impl Circuits {
    /// What may be sent with an account.
    pub(crate) fn gate(&self, account: &str, now_ms: u64) -> Gate {
        let opened = self
            .0
            .get(account)
            .and_then(|circuit| circuit.opened.as_ref());
        match opened {
            None => Gate::Closed,
            Some(opened) if opened.probe.is_some() => Gate::Open(None),
            Some(opened) if now_ms >= opened.probe_at_ms => Gate::Probe,
            Some(opened) => Gate::Open(Some(opened.probe_at_ms)),
        }
    }

    /// A delivery goes out. With an open circuit it is the probe.
    pub(crate) fn started(&mut self, account: &str, attempt: &Attempt) {
        if let Some(opened) = self.opened(account) {
            opened.probe = Some(attempt.clone());
        }
    }

    /// The account answered, whatever it said. Whether its circuit was open.
    pub(crate) fn answered(&mut self, account: &str) -> bool {
        let circuit = self.0.remove(account);
        circuit.is_some_and(|circuit| circuit.opened.is_some())
    }

    /// The account did not answer. Whether its circuit opens by that.
    pub(crate) fn unanswered(
        &mut self,
        account: &Arc<str>,
        attempt: &Attempt,
        now_ms: u64,
    ) -> bool {
        let circuit = self.0.entry(Arc::clone(account)).or_default();
        if let Some(opened) = &mut circuit.opened {
            // Others that were on their way when it opened say nothing new.
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

    /// A run ended without calling the account. If it was the probe, another one may go.
    pub(crate) fn unused(&mut self, account: &str, attempt: &Attempt) {
        if let Some(opened) = self.opened(account)
            && opened.probe.as_ref() == Some(attempt)
        {
            opened.probe = None;
        }
    }

    /// The next probe may go now.
    pub(crate) fn probe_now(&mut self, account: &str) {
        if let Some(opened) = self.opened(account) {
            opened.probe_at_ms = 0;
        }
    }

    fn opened(&mut self, account: &str) -> Option<&mut Opened> {
        self.0.get_mut(account)?.opened.as_mut()
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
