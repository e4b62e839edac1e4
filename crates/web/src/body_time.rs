//! The time limits of a request body.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

/// The time in which a body must arrive.
#[derive(Debug)]
pub(crate) struct BodyTime {
    /// The maximum pause between two parts.
    still: Duration,
    end: Instant,
}

impl BodyTime {
    /// Starts the time limits of a body. The whole body may take `in_all`, and the wait for each part `still`.
    pub(crate) fn start(still: Duration, in_all: Duration) -> Self {
        Self {
            still,
            end: Instant::now() + in_all,
        }
    }

    /// Waits for the next part. Registers a timer only if the part has not arrived, because all threads share the
    /// runtime's timers.
    pub(crate) async fn wait<F: Future>(&self, part: F) -> Result<F::Output, Elapsed> {
        let mut part = pin!(part);
        let first = std::future::poll_fn(|context| Poll::Ready(part.as_mut().poll(context))).await;
        if let Poll::Ready(output) = first {
            return Ok(output);
        }
        timeout_at(self.end.min(Instant::now() + self.still), part).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    const LONG: Duration = Duration::from_hours(1);
    const SHORT: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn a_part_that_does_not_arrive_ends_the_wait_by_either_limit() {
        for (still, in_all) in [(SHORT, LONG), (LONG, SHORT)] {
            let time = BodyTime::start(still, in_all);
            assert!(time.wait(pending::<()>()).await.is_err());
        }
    }

    #[tokio::test]
    async fn a_part_in_time_is_returned() {
        let time = BodyTime::start(LONG, LONG);
        assert_eq!(time.wait(ready(1)).await.ok(), Some(1));
        let mut polls = 0;
        let later = std::future::poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls < 3 {
                Poll::Pending
            } else {
                Poll::Ready(2)
            }
        });
        assert_eq!(time.wait(later).await.ok(), Some(2));
    }
}
