//! The lines of the queue that the worker currently cannot serve. A new delivery in such a line does not wake the
//! worker.

use super::fair::LineKey;
use gatehouse_domain::WebhookId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Lines with deliveries that wait for a slot, for an account that does not respond, or until their webhook is
/// enabled or resumed. The worker wakes up for them when a run ends, when a timer fires, or when a setting or
/// webhook changes.
#[derive(Debug, Default)]
pub(crate) struct BlockedLines(Mutex<HashMap<WebhookId, Vec<String>>>);

impl BlockedLines {
    fn lock(&self) -> MutexGuard<'_, HashMap<WebhookId, Vec<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all lines. Call it before reading the lines, because the read may miss a delivery that is stored at
    /// the same time.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    pub(super) fn replace(&self, lines: impl Iterator<Item = LineKey>) {
        let mut blocked = self.lock();
        blocked.clear();
        for (target, webhook) in lines {
            blocked.entry(webhook).or_default().push(target);
        }
    }

    fn contains<'a>(&self, lines: impl IntoIterator<Item = (&'a WebhookId, &'a str)>) -> bool {
        let blocked = self.lock();
        lines.into_iter().all(|(webhook, target)| {
            let targets = blocked.get(webhook);
            targets.is_some_and(|targets| targets.iter().any(|blocked| blocked == target))
        })
    }
}

/// Wakes the worker for new deliveries.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerSignal {
    pub(crate) wake: Arc<Notify>,
    pub(crate) blocked: Arc<BlockedLines>,
}

impl WorkerSignal {
    /// Wakes the worker after deliveries were committed, unless it can serve none of their lines. A line is a
    /// webhook and a target.
    pub(crate) fn stored<'a>(&self, lines: impl IntoIterator<Item = (&'a WebhookId, &'a str)>) {
        if !self.blocked.contains(lines) {
            self.wake.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
