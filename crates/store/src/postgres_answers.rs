//! The responses of PostgreSQL to statements. Statements are sent in order; their responses are awaited later.

use crate::StoreError;
use futures_util::future::{BoxFuture, Either, Ready, poll_immediate, ready};

/// The server's response to a statement. The future is boxed, so that the futures of callers stay small.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// The response to a statement that was sent.
pub(crate) type Sent<'a, T> = Either<Answer<'a, T>, Ready<Result<T, StoreError>>>;

/// Sends a prepared statement without awaiting its response. The second value is whether the statement failed
/// immediately: it could not be sent, or the server has already refused it. No later statement may then be sent,
/// because the server might run it as if this statement had succeeded.
pub(crate) async fn send<T>(mut answer: Answer<'_, T>) -> (Sent<'_, T>, bool) {
    match poll_immediate(&mut answer).await {
        Some(result) => {
            let has_failed = result.is_err();
            (Either::Right(ready(result)), has_failed)
        }
        None => (Either::Left(answer), false),
    }
}

/// Sends statements in order until one fails immediately. The second value is whether one failed.
pub(crate) async fn send_each<'a, T>(
    statements: impl Iterator<Item = Answer<'a, T>>,
) -> (Vec<Sent<'a, T>>, bool) {
    let mut all = Vec::with_capacity(statements.size_hint().0);
    for statement in statements {
        let (sent, has_failed) = send(statement).await;
        all.push(sent);
        if has_failed {
            return (all, true);
        }
    }
    (all, false)
}

/// Awaits responses in the order of their statements. The first error is the cause, because the server refuses all
/// statements after it.
pub(crate) async fn answers<T>(sent: Vec<Sent<'_, T>>) -> Result<Vec<T>, StoreError> {
    let mut results = Vec::with_capacity(sent.len());
    for answer in sent {
        results.push(answer.await?);
    }
    Ok(results)
}
