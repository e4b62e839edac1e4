//! Blocking work outside the asynchronous threads.

use crate::VoiceError;

/// Runs blocking work on the blocking thread pool.
pub(crate) async fn off_thread<T, F>(work: F) -> Result<T, VoiceError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, VoiceError> + Send + 'static,
{
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| VoiceError::Internal("audio work panicked or was canceled"))?
}
