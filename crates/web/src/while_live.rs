//! Ends a response that is sent while it is made when the credential of its request ends. Sockets are then closed.

use crate::app::App;
use crate::arrival::Arrival;
use axum::extract::Request;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use gatehouse_auth::{AuthIdentity, Decision};
use gatehouse_domain::Problem;
use std::time::Duration;

/// How often the expiry of the credential is checked. Its revocation is noticed at once.
const TICK: Duration = Duration::from_secs(1);

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
        let decision = arrival.map(|arrival| &arrival.context.decision);
        let Some(Decision::Allowed(identity)) = decision else {
            return Err(Problem::internal());
        };
        Ok(Self {
            app: app.clone(),
            identity: identity.clone(),
        })
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
