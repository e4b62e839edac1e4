//! A stream that reads no more than it may. The WebSocket library fixes its message limit when the
//! socket opens; before authentication a client may send far less, so the bytes themselves are counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How many bytes may still be read; shared with whoever lifts the limit.
#[derive(Clone, Debug)]
pub(super) struct Budget(Arc<AtomicU64>);

impl Budget {
    pub(super) fn of(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// No limit from now on.
    pub(super) fn lift(&self) {
        self.0.store(u64::MAX, Ordering::Release);
    }

    /// Takes what was read; `false` when that is more than was left.
    fn take(&self, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let taken = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| {
                if left == u64::MAX {
                    Some(left)
                } else {
                    left.checked_sub(bytes)
                }
            });
        taken.is_ok()
    }
}

/// A stream under a budget.
#[derive(Debug)]
pub(super) struct Budgeted<S> {
    inner: S,
    budget: Budget,
}

impl<S> Budgeted<S> {
    pub(super) const fn new(inner: S, budget: Budget) -> Self {
        Self { inner, budget }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Budgeted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        let read = buf.filled().len().saturating_sub(before);
        if matches!(polled, Poll::Ready(Ok(()))) && !self.budget.take(read) {
            // A read that fails has read nothing.
            buf.set_filled(before);
            let message = "more than may be sent before authentication";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Budgeted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_budget_holds_to_the_byte_until_it_is_lifted() {
        let read = async |bytes: usize, budget: Budget| {
            let source = vec![7_u8; bytes];
            let mut stream = Budgeted::new(source.as_slice(), budget);
            stream
                .read_to_end(&mut Vec::new())
                .await
                .map_err(|error| error.kind())
        };
        assert_eq!(read(100, Budget::of(100)).await, Ok(100));
        assert_eq!(
            read(101, Budget::of(100)).await,
            Err(io::ErrorKind::InvalidData)
        );
        let lifted = Budget::of(1);
        lifted.lift();
        assert_eq!(read(5000, lifted).await, Ok(5000));
    }
}
