//! Speech that is being made: identical requests wait for the first one instead of paying again.

use crate::VoiceError;
use crate::cache::Name;
use crate::speech::Made;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What all who wait receive.
type Outcome = Result<Made, Arc<VoiceError>>;
type Work = BoxFuture<'static, Outcome>;

/// The speech in the making, by the name of its cache entry. Work that nobody waits for any more is dropped.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<Name, WeakShared<Work>>>);

impl Flights {
    /// Runs `work`, or waits for the same work that is running. Also returns whether it was running.
    pub(crate) async fn join<F>(&self, name: Name, work: F) -> (Result<Made, VoiceError>, bool)
    where
        F: Future<Output = Result<Made, VoiceError>> + Send + 'static,
    {
        let (running, joined) = self.enter(name, work);
        let outcome = running.await;
        let outcome = outcome.map_err(|error| {
            // Only the last who waits gets the original.
            Arc::try_unwrap(error).unwrap_or_else(|error| error.copied())
        });
        (outcome, joined)
    }

    fn enter<F>(&self, name: Name, work: F) -> (Shared<Work>, bool)
    where
        F: Future<Output = Result<Made, VoiceError>> + Send + 'static,
    {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Work that has ended has no result any more once everybody has it.
        running.retain(|_, work| work.upgrade().is_some());
        if let Some(work) = running.get(&name).and_then(WeakShared::upgrade) {
            return (work, true);
        }
        let work = work.map(|made| made.map_err(Arc::new)).boxed().shared();
        if let Some(weak) = work.downgrade() {
            running.insert(name, weak);
        }
        (work, false)
    }
}
