//! Which warnings about tools were logged.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The warnings about tools that are left out: each is logged once, not with every request.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(Mutex<HashSet<(String, String, usize)>>);

impl LeftOut {
    /// Whether so many tools of this agent are left out for this model for the first time.
    pub(super) fn is_new(&self, agent: &str, model: &str, count: usize) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((agent.to_owned(), model.to_owned(), count))
    }
}
