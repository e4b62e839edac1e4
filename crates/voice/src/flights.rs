//! Speech in progress: identical requests wait for the first one, so the provider is paid once.

use crate::VoiceError;
use crate::cache::Name;
use crate::speech::CompleteSpeech;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The result that all waiters receive.
type Outcome = Result<CompleteSpeech, Arc<VoiceError>>;
type Work = BoxFuture<'static, Outcome>;

/// The speech that is being synthesized, by the name of its cache entry. Work is dropped when no caller waits for it
/// any more.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<Name, WeakShared<Work>>>);

impl Flights {
    /// Runs `work`, or waits if identical work is running. Also returns whether identical work was running.
    pub(crate) async fn join<F>(
        &self,
        name: Name,
        work: F,
    ) -> (Result<CompleteSpeech, VoiceError>, bool)
    where
        F: Future<Output = Result<CompleteSpeech, VoiceError>> + Send + 'static,
    {
        let (running, joined) = self.enter(name, work);
        let outcome = running.await;
        let outcome = outcome.map_err(|error| {
            // The last waiter gets the original error, the others get copies.
            Arc::try_unwrap(error).unwrap_or_else(|error| error.copied())
        });
        (outcome, joined)
    }

    fn enter<F>(&self, name: Name, work: F) -> (Shared<Work>, bool)
    where
        F: Future<Output = Result<CompleteSpeech, VoiceError>> + Send + 'static,
    {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The result of ended work is dropped when every waiter has it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::watch;

    fn name(text: &str) -> Name {
        Name::of(gatehouse_audio::Format::Mp3, &[text])
    }

    /// Work that counts its starts and ends, and waits until the gate is open.
    struct Gated {
        open: watch::Sender<bool>,
        begun: Arc<AtomicUsize>,
        dropped: Arc<AtomicUsize>,
    }

    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Gated {
        fn new() -> Self {
            Self {
                open: watch::Sender::new(false),
                begun: Arc::default(),
                dropped: Arc::default(),
            }
        }

        fn work(
            &self,
            fails: bool,
        ) -> impl Future<Output = Result<CompleteSpeech, VoiceError>> + Send + 'static {
            let (mut open, begun) = (self.open.subscribe(), Arc::clone(&self.begun));
            let counted = Counted(Arc::clone(&self.dropped));
            async move {
                let _counted = counted;
                begun.fetch_add(1, Ordering::SeqCst);
                open.wait_for(|open| *open).await.unwrap();
                if fails {
                    return Err(VoiceError::Busy);
                }
                Ok(CompleteSpeech::of(Bytes::from_static(b"sound")))
            }
        }

        fn counts(&self) -> (usize, usize) {
            let of = |count: &AtomicUsize| count.load(Ordering::SeqCst);
            (of(&self.begun), of(&self.dropped))
        }
    }

    #[tokio::test]
    async fn the_same_work_runs_once_at_a_time() {
        for fails in [false, true] {
            let (flights, gated) = (Flights::default(), Gated::new());
            let same = || flights.join(name("a"), gated.work(fails));
            let other = flights.join(name("b"), gated.work(fails));
            let opens = async { gated.open.send_replace(true) };
            let (first, second, other, _) = tokio::join!(same(), same(), other, opens);
            assert_eq!((first.1, second.1, other.1), (false, true, false));
            for (outcome, _) in [first, second, other] {
                assert_eq!(matches!(outcome, Err(VoiceError::Busy)), fails);
                assert_eq!(outcome.is_ok(), !fails);
            }
            assert_eq!(gated.counts().0, 2);
            // The work has ended, so the next caller starts it again.
            assert!(!same().await.1);
            assert_eq!(gated.counts().0, 3);
        }
    }

    #[tokio::test]
    async fn work_continues_until_no_caller_waits() {
        let (flights, gated) = (Flights::default(), Gated::new());
        let mut first = Box::pin(flights.join(name("a"), gated.work(false)));
        let mut second = Box::pin(flights.join(name("a"), gated.work(false)));
        assert!((&mut first).now_or_never().is_none());
        assert!((&mut second).now_or_never().is_none());
        // The work of the second caller does not run.
        assert_eq!(gated.counts(), (1, 1));
        drop(first);
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(gated.counts(), (1, 1));
        drop(second);
        assert_eq!(gated.counts(), (1, 2), "the running work has ended");
        gated.open.send_replace(true);
        assert!(!flights.join(name("a"), gated.work(false)).await.1);
    }
}
