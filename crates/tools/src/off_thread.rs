//! Runs a function of unknown duration on its own thread. The stack is large, so deeply nested input does not overflow
//! it. The caller has a timeout. Work that exceeds the timeout keeps its slot until it ends. The number of slots is
//! small, so hostile input can occupy only a few cores.

use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overrun {
    /// The work, or the wait for a slot, took too long.
    TooLong,
    /// The work panicked, or no thread could be started.
    Broken,
}

/// The slots for work of one kind.
#[derive(Debug)]
pub(crate) struct Slots {
    name: &'static str,
    free: Arc<Semaphore>,
    stack_bytes: usize,
}

impl Slots {
    pub(crate) fn new(name: &'static str, count: usize, stack_bytes: usize) -> Self {
        Self {
            name,
            free: Arc::new(Semaphore::new(count)),
            stack_bytes,
        }
    }

    /// Runs `job`, waiting at most `limit` for a slot and the result.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overrun> {
        timeout(limit, self.start(job))
            .await
            .unwrap_or(Err(Overrun::TooLong))
    }

    async fn start<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overrun> {
        let place = Arc::clone(&self.free).acquire_owned().await;
        let place = place.map_err(|_| Overrun::Broken)?;
        let (send, receive) = oneshot::channel();
        let work = move || {
            // The slot is released even after a panic, which also drops `send`.
            let _place = place;
            drop(send.send(job()));
        };
        thread::Builder::new()
            .name(self.name.to_owned())
            .stack_size(self.stack_bytes)
            .spawn(work)
            .map_err(|_| Overrun::Broken)?;
        receive.await.map_err(|_| Overrun::Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn an_overrun_keeps_its_place_until_it_ends_and_a_panic_gives_it_back() {
        let places = Slots::new("test", 1, 1 << 20);
        let long = Duration::from_mins(1);
        assert_eq!(places.run(long, || 1 + 1).await, Ok(2));
        assert_eq!(
            places.run::<()>(long, || panic!("expected")).await,
            Err(Overrun::Broken)
        );
        let (release, wait) = mpsc::sync_channel::<()>(1);
        let short = Duration::from_millis(1);
        let overrun = places.run(short, move || wait.recv().is_ok()).await;
        assert_eq!(overrun, Err(Overrun::TooLong));
        assert_eq!(places.run(short, || 1).await, Err(Overrun::TooLong));
        release.send(()).unwrap();
        assert_eq!(places.run(long, || 1).await, Ok(1));
    }
}
