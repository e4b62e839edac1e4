//! Handles the part of a request body that no handler read. Over HTTP/1, the connection ends without notice if a part
//! of the body is unread. A client that is still sending then gets a connection error, immediately or at its next
//! request. The gate therefore discards the rest if it arrives soon.

use axum::body::{Body, Bytes, HttpBody};
use http::Version;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

/// The wait for the rest of a body. It is long enough for data that was sent right after the head.
const SOON: Duration = Duration::from_millis(500);

/// Receives a body whose reader has dropped it.
type Slot = Arc<Mutex<Option<Body>>>;

fn lock(slot: &Slot) -> MutexGuard<'_, Option<Body>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The unread part of one request's body.
pub(super) struct Rest(Option<Slot>);

impl Rest {
    /// Wraps a body before it is passed to its reader.
    pub(super) fn watch(request: &Parts, body: Body) -> (Body, Self) {
        // A client that waits for `100 Continue` has not sent anything yet.
        let nothing_comes = body.is_end_stream() || request.headers.contains_key(EXPECT);
        if nothing_comes || request.version > Version::HTTP_11 {
            return (body, Self(None));
        }
        let slot = Slot::default();
        let watched = Watched {
            body: Some(body),
            slot: Arc::clone(&slot),
        };
        (Body::new(watched), Self(Some(slot)))
    }

    /// Discards the unread part after the reader dropped the body. Returns `false` if it did not arrive
    /// completely.
    pub(super) async fn drain(self) -> bool {
        let Some(slot) = self.0 else {
            return true;
        };
        let left = lock(&slot).take();
        let Some(mut body) = left else {
            return true;
        };
        let reading = async { while let Some(Ok(_)) = body.frame().await {} };
        tokio::time::timeout(SOON, reading).await.is_ok()
    }
}

/// A body that is returned to the slot when its reader drops it before its end.
struct Watched {
    body: Option<Body>,
    slot: Slot,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            *lock(&self.slot) = Some(body);
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = self.body.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::new, HttpBody::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        http::Request::new(()).into_parts().0
    }

    #[tokio::test]
    async fn what_was_not_read_is_thrown_away() {
        let (body, rest) = Rest::watch(&parts(), Body::from("unread"));
        drop(body);
        assert!(rest.drain().await);
    }

    #[tokio::test]
    async fn a_body_that_was_read_leaves_nothing() {
        let (body, rest) = Rest::watch(&parts(), Body::from("read"));
        let read = body.collect().await.unwrap().to_bytes();
        assert_eq!(read, "read");
        assert!(lock(rest.0.as_ref().unwrap()).is_none());
        assert!(rest.drain().await);
    }

    #[test]
    fn where_nothing_comes_nothing_is_watched() {
        assert!(Rest::watch(&parts(), Body::empty()).1.0.is_none());
        let mut waits = parts();
        let expect = http::HeaderValue::from_static("100-continue");
        waits.headers.insert(EXPECT, expect);
        assert!(Rest::watch(&waits, Body::from("x")).1.0.is_none());
        let mut http2 = parts();
        http2.version = Version::HTTP_2;
        assert!(Rest::watch(&http2, Body::from("x")).1.0.is_none());
    }
}
