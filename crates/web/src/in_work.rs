//! Keeps a request counted as active until its response is sent.

use crate::connection_slots::InWork;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Responses up to this size, in bytes, count as sent as soon as they are built.
const SMALL_BYTES: u64 = 64 * 1024;

/// Holds the guard until the response body has been sent or dropped.
pub(crate) fn until_sent(answer: Response, in_work: InWork) -> Response {
    let size = answer.body().size_hint();
    if size.upper().is_some_and(|size| size <= SMALL_BYTES) {
        return answer;
    }
    answer.map(|body| {
        Body::new(Sending {
            body,
            _in_work: in_work,
        })
    })
}

struct Sending {
    body: Body,
    _in_work: InWork,
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
