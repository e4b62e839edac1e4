//! Records which warnings about tools were logged.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The maximum number of warnings in memory. Callers can name any number of models.
const MAX_WARNINGS: usize = 1000;

/// Warnings about omitted tools. Each warning is logged once, not for every request.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(Mutex<HashSet<(String, String, usize)>>);

impl LeftOut {
    /// Returns whether this is the first time that this number of tools is omitted for this agent
    /// and model.
    pub(super) fn is_new(&self, agent: &str, model: &str, count: usize) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let warning = (agent.to_owned(), model.to_owned(), count);
        if known.len() >= MAX_WARNINGS && !known.contains(&warning) {
            known.clear();
        }
        known.insert(warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_are_left_out_are_reported_once_for_each_agent_model_and_count() {
        let left_out = LeftOut::default();
        assert!(left_out.is_new("a", "p/m", 1));
        assert!(!left_out.is_new("a", "p/m", 1));
        for (agent, model, count) in [("b", "p/m", 1), ("a", "p/n", 1), ("a", "p/m", 2)] {
            assert!(left_out.is_new(agent, model, count));
        }
    }

    #[test]
    fn a_thousand_warnings_are_remembered_and_no_more() {
        let left_out = LeftOut::default();
        for number in 0..MAX_WARNINGS {
            assert!(left_out.is_new("a", &number.to_string(), 1));
        }
        assert!((0..MAX_WARNINGS).all(|number| !left_out.is_new("a", &number.to_string(), 1)));
        assert!(left_out.is_new("a", &MAX_WARNINGS.to_string(), 1));
        assert!(left_out.is_new("a", "0", 1));
    }
}
