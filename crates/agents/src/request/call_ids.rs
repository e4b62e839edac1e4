//! Converts IDs of tool calls to a form that a provider accepts.

use gatehouse_store::ChatMessageRow;
use std::collections::HashSet;

/// The IDs of calls in the form that the model accepts.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    pub(super) model: &'a str,
    pub(super) taken: HashSet<String>,
}

impl CallIds<'_> {
    /// Returns the ID to send. A model gets its own IDs unchanged, because some models keep state in them. An ID of
    /// another model, or a duplicate of an earlier ID, becomes nine letters and digits. Every provider accepts this
    /// form, and Mistral accepts no other.
    pub(super) fn sent(&mut self, row: &ChatMessageRow, id: &str) -> String {
        let is_own = row.model.as_deref() == Some(self.model);
        if is_own && self.taken.insert(id.to_owned()) {
            return id.to_owned();
        }
        let mut number = self.taken.len();
        loop {
            let made = format!("call{number:05}");
            if self.taken.insert(made.clone()) {
                return made;
            }
            number += 1;
        }
    }
}
