//! The response to a call whose caller requests progress: a stream of notifications while the call runs, with its
//! response at the end.

use crate::while_live::Credential;
use axum::BoxError;
use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt as _, stream};
use gatehouse_domain::Problem;
use gatehouse_rpc::Reply;
use gatehouse_rpc::mcp_endpoint::Progress;
use gatehouse_rpc::method_entry::Boxed;
use std::time::Duration;
use tokio::time::{Instant, Interval, interval_at};

/// The time between two notifications. Common clients wait 60 seconds for a response or a notification.
const EVERY: Duration = Duration::from_secs(10);
const ENDED: &str = "the credential has ended";

/// Returns the body. It breaks off when the credential ends. The call continues then, and also if the client
/// disconnects, unless its method ends with its caller.
pub(super) fn body(
    reply: Boxed<Option<Reply>>,
    progress: Progress,
    credential: &Credential,
) -> Body {
    let confirming = credential.clone();
    let confirm = async move { confirming.confirm().await };
    let ticks = interval_at(Instant::now() + EVERY, EVERY);
    let events = events(reply, progress, ticks, confirm);
    Body::from_stream(credential.limit_work(events, || BoxError::from(ENDED)))
}

/// Sends a notification at each tick, which represents [`EVERY`]. `confirm` completes before the response is sent, and
/// decides whether to send it.
fn events(
    reply: Boxed<Option<Reply>>,
    progress: Progress,
    ticks: Interval,
    confirm: impl Future<Output = Result<(), Problem>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static {
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream::BoxStream;
    use gatehouse_rpc::envelope::Id;
    use serde_json::{Value, json};
    use tokio::sync::oneshot;

    type Events = BoxStream<'static, Result<Bytes, BoxError>>;

    /// Returns a call that runs until its response is sent.
    fn running(confirmed: Result<(), Problem>) -> (oneshot::Sender<String>, Events) {
        let (answer, answered) = oneshot::channel::<String>();
        let reply: Boxed<Option<Reply>> =
            Box::pin(async move { answered.await.ok().map(Reply::from) });
        let progress = Progress::new(Id::null(), json!("t"));
        let ticks = tokio::time::interval(Duration::from_millis(1));
        let events = events(reply, progress, ticks, async move { confirmed });
        (answer, events.boxed())
    }

    /// Returns the message of the next event.
    async fn next(events: &mut Events) -> Value {
        let mut event = String::new();
        while !event.ends_with("\n\n") {
            let piece = events.next().await.unwrap().unwrap();
            event.push_str(std::str::from_utf8(&piece).unwrap());
        }
        let data = event.strip_prefix("event: message\ndata: ").unwrap();
        serde_json::from_str(data.trim_end()).unwrap()
    }

    #[tokio::test]
    async fn a_call_that_takes_long_reports_its_progress() {
        let (answer, mut events) = running(Ok(()));
        for seconds in [10, 20] {
            let progress = next(&mut events).await;
            assert_eq!(progress["method"], "notifications/progress");
            assert_eq!(progress["params"]["progress"], seconds);
        }
        let response = r#"{"result":1}"#;
        answer.send(response.to_owned()).unwrap();
        assert_eq!(next(&mut events).await, json!({ "result": 1 }));
        assert!(events.next().await.is_none());
    }

    #[tokio::test]
    async fn a_credential_that_is_not_confirmed_gets_an_error_in_place_of_the_response() {
        let (answer, mut events) = running(Err(Problem::internal()));
        let response = r#"{"result":1}"#;
        answer.send(response.to_owned()).unwrap();
        let refused = next(&mut events).await;
        assert!(refused["error"].is_object(), "{refused}");
        assert!(refused.get("result").is_none(), "{refused}");
        assert!(events.next().await.is_none());
    }
}
