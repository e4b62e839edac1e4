//! Requests of tasks that have a [`Fence`]. The fence is checked before the connection is made. It is checked again
//! when the request is written to the connection, because connecting can take long and the process can be suspended
//! in the meantime.

use crate::OutboundError;
use bytes::Bytes;
use gatehouse_domain::Fence;
use http_body::{Body, Frame, SizeHint};
use reqwest::Request;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The cause of the error for a request that was not written.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the lease of this work has expired")]
pub(crate) struct NotHeld;

/// Fails if the fence of the running task is closed. Otherwise returns the request with a body that checks the
/// fence again.
pub(crate) fn fenced(mut request: Request) -> Result<Request, OutboundError> {
    let fence = Fence::current();
    if !fence.is_set() {
        return Ok(request);
    }
    if !fence.holds() {
        return Err(OutboundError::LeaseExpired);
    }
    if let Some(body) = request.body_mut() {
        let inner = std::mem::take(body);
        *body = reqwest::Body::wrap(FencedBody { inner, fence });
    }
    Ok(request)
}

/// A body that sends nothing if the fence is closed.
struct FencedBody {
    inner: reqwest::Body,
    fence: Fence,
}

impl Body for FencedBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if !self.fence.holds() {
            return Poll::Ready(Some(Err(NotHeld.into())));
        }
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        frame.map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use crate::{AddressSource, Outbound, OutboundError, OutboundSettings};
    use gatehouse_domain::Fence;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Sends a request to a server that answers complete requests. Returns the result and the bytes that arrived.
    #[expect(clippy::disallowed_methods, reason = "the test awaits the task")]
    async fn send(fence: Fence) -> (Result<u16, OutboundError>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut arrived = Vec::new();
            let mut part = [0; 1024];
            while !arrived.ends_with(b"the body") {
                match stream.read(&mut part).await.unwrap_or(0) {
                    0 => break,
                    length => arrived.extend(&part[..length]),
                }
            }
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            drop(stream.write_all(answer).await);
            String::from_utf8(arrived).unwrap()
        });
        let outbound = Outbound::new(OutboundSettings::default()).unwrap();
        let client = outbound.client(AddressSource::Owner);
        let request = client.post(url).body("the body").build().unwrap();
        let answer = fence
            .over(outbound.send(AddressSource::Owner, request))
            .await;
        let answer = answer.map(|answer| answer.status().as_u16());
        if answer == Err(OutboundError::LeaseExpired) {
            // Without a connection, the server would wait forever.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            if !server.is_finished() {
                server.abort();
            }
        }
        (answer, server.await.unwrap_or_default())
    }

    #[tokio::test]
    async fn a_fence_that_holds_changes_nothing() {
        let (answer, arrived) = send(Fence::new(|| true)).await;
        assert_eq!(answer, Ok(204));
        assert!(arrived.contains("content-length: 8\r\n"), "{arrived}");
        assert!(arrived.ends_with("\r\n\r\nthe body"), "{arrived}");
    }

    #[tokio::test]
    async fn nothing_is_sent_through_a_closed_fence() {
        let (answer, arrived) = send(Fence::new(|| false)).await;
        assert_eq!(answer, Err(OutboundError::LeaseExpired));
        assert_eq!(arrived, "");
    }

    #[tokio::test]
    async fn a_fence_that_closes_during_the_connection_stops_the_request() {
        let checks = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&checks);
        let closes = Fence::new(move || count.fetch_add(1, Ordering::Relaxed) == 0);
        let (answer, arrived) = send(closes).await;
        assert_eq!(answer, Err(OutboundError::LeaseExpired));
        assert!(checks.load(Ordering::Relaxed) > 1);
        assert!(!arrived.contains("body"), "{arrived}");
    }
}
