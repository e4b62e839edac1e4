//! A request body that can be read to its end only while the sender's credential is valid. A body may take minutes to
//! arrive, and the request must not take effect after the credential is revoked.

use crate::app::App;
use axum::body::{Body, Bytes, HttpBody};
use gatehouse_auth::AuthIdentity;
use hyper::body::{Frame, SizeHint};
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The error of a body whose credential ended first.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the credential has ended")]
struct Ended;

/// Returns whether a body could not be read because its sender's credential ended.
pub(crate) fn has_ended(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<Ended>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Wraps the body of a request by this identity.
pub(crate) fn watch(app: &App, identity: &AuthIdentity, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    Body::new(Alive {
        body,
        app: app.clone(),
        identity: identity.clone(),
    })
}

struct Alive {
    body: Body,
    app: App,
    identity: AuthIdentity,
}

impl HttpBody for Alive {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_ready() && !self.app.auth().is_live(&self.identity) {
            return Poll::Ready(Some(Err(axum::Error::new(Ended))));
        }
        polled
    }

    /// Returns false, because the credential is checked only when the body is polled to its end.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
