//! Answers that are being spoken. Speech can outlast its turn, so it is stopped here.

use gatehouse_domain::id::SessionId;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The sessions whose speech may still run, with tokens to stop it. The token of ended speech is
/// canceled.
#[derive(Debug, Default)]
pub(crate) struct Speeches(Mutex<Vec<(SessionId, CancellationToken)>>);

impl Speeches {
    fn lock(&self) -> MutexGuard<'_, Vec<(SessionId, CancellationToken)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, session: SessionId, cancel: CancellationToken) {
        let mut all = self.lock();
        all.retain(|(_, cancel)| !cancel.is_cancelled());
        all.push((session, cancel));
    }

    /// Stops the speech of a session.
    pub(crate) fn cancel_session(&self, session: &SessionId) {
        for (_, cancel) in self.lock().iter().filter(|(id, _)| id == session) {
            cancel.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        for (_, cancel) in self.lock().iter() {
            cancel.cancel();
        }
    }
}
