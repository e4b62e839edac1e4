//! Which warnings about tools were logged.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Warnings about omitted tools. Each is logged once, not for every request.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(Mutex<HashSet<(String, String, usize)>>);

impl LeftOut {
    /// Whether this is the first time that so many tools of this agent are left out for this model.
    pub(super) fn is_new(&self, agent: &str, model: &str, count: usize) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((agent.to_owned(), model.to_owned(), count))
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
}
