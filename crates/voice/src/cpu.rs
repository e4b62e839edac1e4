//! Runs audio decoding, measuring and encoding off the async threads. Leaves one processor free for other work.

use crate::VoiceError;
use crate::off_thread::off_thread;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A semaphore for CPU-bound work. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct CpuPermits(Arc<Semaphore>);

impl CpuPermits {
    /// Creates a permit for each processor but one, and at least one permit.
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(
            processors.saturating_sub(1).max(1),
        )))
    }

    /// Runs `work` when a permit is free. A caller that drops the future while waiting leaves the queue. Work that has
    /// started keeps its permit until it ends.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, VoiceError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, VoiceError> + Send + 'static,
    {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let permit =
            permit.map_err(|_| VoiceError::Internal("the semaphore for audio work is closed"))?;
        off_thread(move || {
            let _permit = permit;
            work()
        })
        .await
    }
}
