//! Shares one read among concurrent callers. At most one read runs and one waits.

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Shares reads. Each caller gets a result that was read after its call.
#[derive(Debug, Default)]
pub(crate) struct SharedRead<T> {
    asked: AtomicU64,
    /// The latest result, and the number of calls before its read started.
    answered: Mutex<(u64, Option<T>)>,
}

impl<T: Copy> SharedRead<T> {
    /// Returns the result of a read that started after this call, by this or another caller. An
    /// error is returned only to the caller whose read failed.
    pub(crate) async fn share<E, F>(&self, read: impl FnOnce() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let turn = self.asked.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        let mut answered = self.answered.lock().await;
        if let (until, Some(answer)) = *answered
            && until >= turn
        {
            return Ok(answer);
        }
        let until = self.asked.load(Ordering::Acquire);
        let answer = read().await?;
        *answered = (until, Some(answer));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::convert::Infallible;

    #[tokio::test]
    async fn many_who_ask_at_once_cost_two_reads() {
        let (shared, reads) = (SharedRead::default(), AtomicU64::new(0));
        let asks = (0..100).map(|_| {
            shared.share(async || {
                tokio::task::yield_now().await;
                Ok::<_, Infallible>(reads.fetch_add(1, Ordering::Relaxed))
            })
        });
        join_all(asks).await;
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn who_asks_later_gets_a_later_answer() {
        let shared = SharedRead::default();
        for number in 0..3 {
            let answer = shared.share(async || Ok::<_, Infallible>(number)).await;
            assert_eq!(answer, Ok(number));
        }
    }
}
