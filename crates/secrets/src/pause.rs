//! A point at which a test can pause a transition. At this point, the transition has read the vault's state and
//! derived its keys, but has not taken effect. Does nothing without the feature `testing`.

#[cfg(feature = "testing")]
mod armed {
    use std::sync::{Mutex, PoisonError};
    use tokio::sync::oneshot;

    /// Pauses the next transition, if armed.
    #[derive(Debug, Default)]
    pub struct Pauses(Mutex<Option<(oneshot::Sender<()>, oneshot::Receiver<()>)>>);

    /// An armed pause. Dropping it resumes the transition.
    #[derive(Debug)]
    pub struct Pause {
        reached: oneshot::Receiver<()>,
        _go: oneshot::Sender<()>,
    }

    impl Pauses {
        /// Pauses the next transition until the returned value is dropped.
        pub(crate) fn arm(&self) -> Pause {
            let (arrive, reached) = oneshot::channel();
            let (go, wait) = oneshot::channel();
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((arrive, wait));
            Pause { reached, _go: go }
        }

        pub(crate) async fn point(&self) {
            let armed = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some((arrive, wait)) = armed {
                // Having no waiter is not an error.
                let _ = arrive.send(());
                drop(wait.await);
            }
        }
    }

    impl Pause {
        /// Waits until a transition is paused.
        pub async fn reached(&mut self) {
            if (&mut self.reached).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    impl crate::Secrets {
        /// Pauses the next transition before it takes effect, until the returned value is dropped.
        pub fn pause_next_transition(&self) -> Pause {
            self.0.pauses.arm()
        }
    }
}

#[cfg(feature = "testing")]
pub use armed::{Pause, Pauses};

/// A no-op without the feature `testing`.
#[cfg(not(feature = "testing"))]
#[derive(Debug, Default)]
pub(crate) struct Pauses {}

#[cfg(not(feature = "testing"))]
impl Pauses {
    #[expect(clippy::unused_async, reason = "the same shape as with the feature")]
    pub(crate) async fn point(&self) {}
}
