//! Repeats calls of hosted providers under the same rules as requests to language models: the provider is busy or fails
//! temporarily, and its answer has not begun. Fallbacks are tried after the last retry.

use crate::VoiceError;
use crate::provider::About;
use crate::resources::Resources;
use gatehouse_domain::backoff;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Retries after the first attempt.
const RETRIES: u32 = 3;

/// Calls a provider until it answers, with at most [`RETRIES`] retries. Local programs and servers, and providers under
/// test, are called once. No attempt starts later than `retries_total` after the first.
pub(crate) async fn repeated<T, F>(
    resources: &Resources,
    provider: &'static About,
    mut attempt: impl FnMut() -> F,
) -> Result<T, VoiceError>
where
    F: Future<Output = Result<T, VoiceError>>,
{
    let began = Instant::now();
    let retries = if resources.is_test { 0 } else { RETRIES };
    let mut retry = 0;
    loop {
        let error = match attempt().await {
            Err(error) if retry < retries && provider.is_hosted() => error,
            ended => return ended,
        };
        let Some(wait) = wait(resources, &error, retry) else {
            return Err(error);
        };
        if began.elapsed().saturating_add(wait) > resources.timeouts.retries_total {
            return Err(error);
        }
        tracing::debug!(provider = provider.id, %error, "retrying");
        retry += 1;
        sleep(wait).await;
    }
}

/// Returns the wait before the next attempt: the provider's value, or our own. Returns `None` if the same call would
/// fail again.
fn wait(resources: &Resources, error: &VoiceError, retry: u32) -> Option<Duration> {
    match error {
        VoiceError::Provider {
            retryable: true,
            retry_after_seconds,
            ..
        } => Some(match retry_after_seconds {
            Some(seconds) => Duration::from_secs(*seconds),
            None => backoff(resources.timeouts.retry_base, retry, &*resources.random),
        }),
        _ => None,
    }
}
