//! IDs of tool calls, as a provider accepts them.

use gatehouse_store::ChatMessageRow;
use std::collections::HashSet;

/// The IDs of calls as the asked model accepts them.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    pub(super) model: &'a str,
    pub(super) taken: HashSet<String>,
}

impl CallIds<'_> {
    /// Returns the ID to send. A model gets its own IDs back, because some keep state in them. An ID of another
    /// model, or one that an earlier call has, becomes nine letters and digits: every provider accepts that,
    /// and Mistral nothing else.
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
