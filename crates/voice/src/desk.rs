//! Where audio is decoded, measured and encoded: off the async threads, and not on all processors at once,
//! so that everything else goes on.

use crate::VoiceError;
use crate::handle::off_thread;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A few places to work at. A cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Desk(Arc<Semaphore>);

impl Desk {
    /// One processor stays free, where there is more than one.
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(
            processors.saturating_sub(1).max(1),
        )))
    }

    /// Works when there is a place. Who goes away while waiting gives the place up; work that has begun
    /// keeps it to its end.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, VoiceError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, VoiceError> + Send + 'static,
    {
        let place = Arc::clone(&self.0).acquire_owned().await;
        let place = place.map_err(|_| VoiceError::Internal("there is no place to work"))?;
        off_thread(move || {
            let _place = place;
            work()
        })
        .await
    }
}
