//! The last notification of each topic that waits.

use crate::push::notice::Notice;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The newest notice of each topic that is being sent.
#[derive(Debug, Default)]
pub(in super::super) struct Topics(Mutex<HashMap<String, watch::Sender<Arc<Notice>>>>);

impl Topics {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Arc<Notice>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a notice as the newest of its topic. If the topic has no task yet, returns the receiver for a new
    /// task.
    pub(super) fn offer(&self, notice: Notice) -> Option<watch::Receiver<Arc<Notice>>> {
        let (topic, notice) = (notice.topic.clone(), Arc::new(notice));
        let mut topics = self.lock();
        if let Some(sender) = topics.get(&topic) {
            sender.send_replace(notice);
            return None;
        }
        let (sender, newest) = watch::channel(notice);
        topics.insert(topic, sender);
        Some(newest)
    }

    /// Ends a topic, unless it has a newer notice. Returns whether it ended.
    pub(super) fn end(&self, topic: &str, newest: &watch::Receiver<Arc<Notice>>) -> bool {
        let mut topics = self.lock();
        let is_over = !newest.has_changed().unwrap_or(false);
        if is_over {
            topics.remove(topic);
        }
        is_over
    }
}
