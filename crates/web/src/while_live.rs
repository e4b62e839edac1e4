//! Ends a response that is sent piece by piece when the credential of its request ends. Sockets are then closed.

use crate::app::App;
use crate::arrival::Arrival;
use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt, TryStreamExt};
use gatehouse_auth::{AuthIdentity, Decision, RequestContext};
use gatehouse_domain::Problem;
use std::time::Duration;

/// How often the expiry of the credential is checked. Its revocation is noticed at once.
const TICK: Duration = Duration::from_secs(1);
const ENDED: &str = "the credential has ended";

/// The credential of a request.
#[derive(Clone)]
pub(crate) struct Credential {
    app: App,
    identity: AuthIdentity,
}

impl Credential {
    /// Fails for a request without a credential, which must not reach a handler.
    pub(crate) fn of(app: &App, request: &Request) -> Result<Self, Problem> {
        let arrival: Option<&Arrival> = request.extensions().get();
        Self::of_context(app, &arrival.ok_or_else(Problem::internal)?.context)
    }

    /// Like [`Self::of`].
    pub(crate) fn of_context(app: &App, context: &RequestContext) -> Result<Self, Problem> {
        let Decision::Allowed(identity) = &context.decision else {
            return Err(Problem::internal());
        };
        Ok(Self {
            app: app.clone(),
            identity: identity.clone(),
        })
    }

    /// The body of a response that breaks off when the credential ends. The client detects that it is incomplete.
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

    /// Passes a stream on. When the credential ends, the stream is dropped, and `error` is the last item.
    pub(crate) fn limit<T, E>(
        self,
        stream: impl Stream<Item = Result<T, E>> + Send + 'static,
        error: impl FnOnce() -> E + Send + 'static,
    ) -> BoxStream<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let ended = Box::pin(async move { self.ended().await });
        let state = Some((Box::pin(stream), ended, error));
        let limited = stream::unfold(state, |state| async move {
            let (mut stream, mut ended, error) = state?;
            tokio::select! {
                biased;
                () = &mut ended => Some((Err(error()), None)),
                item = stream.next() => Some((item?, Some((stream, ended, error)))),
            }
        });
        limited.boxed()
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
