//! Serves requests with one kept process.

use super::{Outcome, Request};
use crate::programs::Process;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The time in which a request whose caller has left must end. After that, the process is ended.
pub(super) const SETTLE: Duration = Duration::from_millis(700);

pub(super) async fn answered<T>(
    process: &mut Process,
    work: impl for<'a> FnOnce(&'a mut Process) -> BoxFuture<'a, (Outcome, T)>,
    mut answer: oneshot::Sender<T>,
) -> Outcome {
    if answer.is_closed() {
        return Outcome::Keep;
    }
    let mut work = work(&mut *process);
    let done = tokio::select! {
        done = &mut work => Some(done),
        () = answer.closed() => tokio::time::timeout(SETTLE, &mut work).await.ok(),
    };
    drop(work);
    let Some((outcome, value)) = done else {
        return Outcome::End;
    };
    // The caller may have left.
    let _ = answer.send(value);
    outcome
}

/// Owns a process until it ends.
pub(super) async fn serve(
    mut process: Process,
    mut requests: mpsc::Receiver<Request>,
    keep: Duration,
    stop: CancellationToken,
) {
    let mut idle_until = Instant::now() + keep;
    let mut is_open = true;
    loop {
        let request = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            request = requests.recv() => request,
            () = tokio::time::sleep_until(idle_until), if is_open => {
                // Requests that are already in the queue are still served.
                requests.close();
                is_open = false;
                continue;
            }
            line = process.line() => match line {
                Some(_) => continue,
                None => break,
            },
        };
        let Some(request) = request else { break };
        let outcome = tokio::select! {
            biased;
            () = stop.cancelled() => Outcome::End,
            outcome = request(&mut process) => outcome,
        };
        if outcome == Outcome::End {
            break;
        }
        idle_until = Instant::now() + keep;
    }
    // Later requests go to another process.
    drop(requests);
    process.end().await;
}
