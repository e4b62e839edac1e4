//! The response to a call whose caller asks for progress: a stream of events with notifications while the call runs,
//! and its response at the end.

use crate::while_live::Credential;
use axum::BoxError;
use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt as _, stream};
use gatehouse_domain::Problem;
use gatehouse_rpc::Reply;
use gatehouse_rpc::mcp_endpoint::Progress;
use gatehouse_rpc::method_entry::Boxed;
use std::time::Duration;
use tokio::time::Instant;

/// The wait between two notifications. Common clients wait 60 seconds for a response or a notification.
const EVERY: Duration = Duration::from_secs(10);
const ENDED: &str = "the credential has ended";

/// The body. It breaks off when the credential ends. If the client disconnects, the call continues.
pub(super) fn body(
    reply: Boxed<Option<Reply>>,
    progress: Progress,
    credential: &Credential,
) -> Body {
    let confirming = credential.clone();
    let confirm = async move { confirming.confirm().await };
    let events = events(reply, progress, confirm);
    Body::from_stream(credential.limit_work(events, || BoxError::from(ENDED)))
}

/// `confirm` completes before the response is sent, and decides whether it is.
fn events(
    reply: Boxed<Option<Reply>>,
    progress: Progress,
    confirm: impl Future<Output = Result<(), Problem>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static {
    let ticks = tokio::time::interval_at(Instant::now() + EVERY, EVERY);
    let state = Some((reply, ticks, 0, progress, confirm));
    let messages = stream::unfold(state, |state| async move {
        let (mut reply, mut ticks, seconds, progress, confirm) = state?;
        tokio::select! {
            biased;
            answered = &mut reply => {
                let message = match confirm.await {
                    Ok(()) => answered.map_or_else(Bytes::new, Bytes::from_owner),
                    Err(problem) => progress.refusal(&problem).into(),
                };
                Some((message, None))
            }
            _ = ticks.tick() => {
                let seconds: u64 = seconds + EVERY.as_secs();
                let message = progress.notification(seconds).into();
                Some((message, Some((reply, ticks, seconds, progress, confirm))))
            }
        }
    });
    messages.flat_map(|message: Bytes| {
        let event = [
            Bytes::from_static(b"event: message\ndata: "),
            message,
            Bytes::from_static(b"\n\n"),
        ];
        stream::iter(event.map(Ok))
    })
}
