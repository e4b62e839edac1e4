//! Ends a long or streamed response when the credential of its request ends. Sockets are then closed. While this node
//! cannot check which credentials other nodes have revoked, a stream sends nothing except an error, like a socket.

use crate::app::App;
use crate::arrival::Arrival;
use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt};
use gatehouse_auth::{AuthIdentity, Decision, RequestContext};
use gatehouse_domain::{ErrorCode, Problem};
use std::time::Duration;

/// How often the expiry of the credential is checked. A revocation is detected immediately.
const TICK: Duration = Duration::from_secs(1);
/// The interval for checking again whether the credential can be confirmed.
const CONFIRM_AGAIN: Duration = Duration::from_millis(100);
/// The minimum duration of a long call, in milliseconds. A shorter call that ends its own credential still gets its
/// response.
const LONG_MS: u64 = 1000;
const ENDED: &str = "the credential has ended";
const UNCONFIRMED: &str = "The database is currently unavailable, so it cannot be checked whether the credential is \
                           still valid. The call may have made its change: check before you repeat it.";

/// The credential of a request.
#[derive(Clone)]
pub(crate) struct Credential {
    app: App,
    identity: AuthIdentity,
}

impl Credential {
    /// Returns the credential of a request. Fails for a request without one, which must not reach a
    /// handler.
    pub(crate) fn of(app: &App, request: &Request) -> Result<Self, Problem> {
        let arrival: Option<&Arrival> = request.extensions().get();
        Self::of_context(app, &arrival.ok_or_else(Problem::internal)?.context)
    }

    /// Does the same as [`Self::of`], for the context of a request.
    pub(crate) fn of_context(app: &App, context: &RequestContext) -> Result<Self, Problem> {
        let Decision::Allowed(identity) = &context.decision else {
            return Err(Problem::internal());
        };
        Ok(Self {
            app: app.clone(),
            identity: identity.clone(),
        })
    }

    /// Fails if the credential has ended. Call this before sending a result whose work took long. Reads the database
    /// while this node cannot check which credentials other nodes have revoked.
    pub(crate) async fn confirm(&self) -> Result<(), Problem> {
        let live = self.app.auth().require_live(&self.identity).await;
        live.map_err(after_the_work)
    }

    /// Does the same as [`Self::confirm`], but does nothing if the work was quick. `began_ms` is the beginning of the
    /// work on the monotonic clock.
    pub(crate) async fn confirm_if_long(&self, began_ms: u64) -> Result<(), Problem> {
        let now_ms = self.app.services().clock.monotonic_ms();
        if now_ms.saturating_sub(began_ms) < LONG_MS {
            return Ok(());
        }
        self.confirm().await
    }

    /// Wraps the body of a response. If the credential ends, the body breaks off, and the client detects that it is
    /// incomplete.
    pub(crate) fn body<E>(
        self,
        pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> Body
    where
        E: Into<BoxError> + 'static,
    {
        let pieces = pieces.map_err(Into::<BoxError>::into);
        Body::from_stream(self.limit(pieces, || ENDED.into()))
    }

    /// Forwards a stream. When the credential ends, the stream is dropped, and `error` is the last item. While this
    /// node cannot check which credentials other nodes have revoked, only errors are forwarded.
    pub(crate) fn limit<T, E>(
        self,
        stream: impl Stream<Item = Result<T, E>> + Send + 'static,
        error: impl FnOnce() -> E + Send + 'static,
    ) -> BoxStream<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let auth = self.app.auth().clone();
        let is_confirmed = move || auth.memory_is_fresh();
        limit(
            stream,
            async move { self.ended().await },
            is_confirmed,
            error,
        )
    }

    /// Does the same as [`Self::limit`], for a result that is sent after the stream has ended. Items are
    /// forwarded immediately, so [`Self::confirm`] must succeed before the result is sent.
    pub(crate) fn limit_work<T, E>(
        &self,
        stream: impl Stream<Item = Result<T, E>> + Send + 'static,
        error: impl FnOnce() -> E + Send + 'static,
    ) -> BoxStream<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let credential = self.clone();
        let ended = async move { credential.ended().await };
        limit(stream, ended, || true, error)
    }

    async fn ended(&self) {
        let auth = self.app.auth();
        let mut changed = auth.changed();
        let mut tick = tokio::time::interval(TICK);
        while auth.is_live(&self.identity) {
            tokio::select! {
                _ = tick.tick() => {}
                changed = changed.changed() => if changed.is_err() {
                    return;
                },
            }
        }
    }
}

/// Corrects the text for an unavailable database, which says that nothing was changed. Here, the work is already done.
fn after_the_work(problem: Problem) -> Problem {
    if problem.code != ErrorCode::StorageUnavailable {
        return problem;
    }
    let message = UNCONFIRMED.to_owned();
    Problem { message, ..problem }
}

/// Forwards a stream until `ended` completes, and then yields `error`. While `is_confirmed` is false, only errors are
/// forwarded.
fn limit<T, E>(
    stream: impl Stream<Item = Result<T, E>> + Send + 'static,
    ended: impl Future<Output = ()> + Send + 'static,
    is_confirmed: impl Fn() -> bool + Send + 'static,
    error: impl FnOnce() -> E + Send + 'static,
) -> BoxStream<'static, Result<T, E>>
where
    T: Send + 'static,
    E: Send + 'static,
{
    let state = Some((Box::pin(stream), Box::pin(ended), is_confirmed, error));
    let limited = stream::unfold(state, |state| async move {
        let (mut stream, mut ended, is_confirmed, error) = state?;
        let item = tokio::select! {
            biased;
            () = &mut ended => return Some((Err(error()), None)),
            item = stream.next() => item?,
        };
        // An error contains no part of the result, and the caller must not wait for it.
        while item.is_ok() && !is_confirmed() {
            let waited = tokio::time::timeout(CONFIRM_AGAIN, &mut ended).await;
            if waited.is_ok() {
                return Some((Err(error()), None));
            }
        }
        // The check that confirms the credential may also have ended it.
        if ended.as_mut().now_or_never().is_some() {
            return Some((Err(error()), None));
        }
        Some((item, Some((stream, ended, is_confirmed, error))))
    });
    limited.boxed()
}

#[cfg(test)]
mod tests;
