//! Tests of the parent module.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// A body that arrives in pieces behind a credential. The caller can end and confirm the
/// credential.
struct Limited {
    end: oneshot::Sender<()>,
    is_confirmed: Arc<AtomicBool>,
    pieces: BoxStream<'static, Result<u8, &'static str>>,
}

fn limited(is_confirmed: bool) -> Limited {
    let (end, ended) = oneshot::channel();
    let flag = Arc::new(AtomicBool::new(is_confirmed));
    let is_confirmed = Arc::clone(&flag);
    let pieces = limit(
        stream::iter([Ok(1), Ok(2)]),
        async { drop(ended.await) },
        move || flag.load(Ordering::SeqCst),
        || "ended",
    );
    Limited {
        end,
        is_confirmed,
        pieces,
    }
}

#[tokio::test]
async fn pieces_wait_until_the_credential_is_confirmed() {
    let mut held = limited(false);
    assert_eq!(held.pieces.next().now_or_never(), None);
    held.is_confirmed.store(true, Ordering::SeqCst);
    assert_eq!(held.pieces.next().await, Some(Ok(1)));
    held.is_confirmed.store(false, Ordering::SeqCst);
    assert_eq!(held.pieces.next().now_or_never(), None);
    held.is_confirmed.store(true, Ordering::SeqCst);
    assert_eq!(held.pieces.next().await, Some(Ok(2)));
    assert_eq!(held.pieces.next().await, None);
}

#[tokio::test]
async fn a_piece_that_waits_is_dropped_when_the_credential_ends() {
    for is_confirmed_at_once in [false, true] {
        let mut held = limited(false);
        assert_eq!(held.pieces.next().now_or_never(), None);
        held.end.send(()).unwrap();
        held.is_confirmed
            .store(is_confirmed_at_once, Ordering::SeqCst);
        assert_eq!(held.pieces.next().await, Some(Err("ended")));
        assert_eq!(held.pieces.next().await, None);
    }
}

#[tokio::test]
async fn an_error_does_not_wait_until_the_credential_is_confirmed() {
    let (end, ended) = oneshot::channel::<()>();
    let mut pieces = limit(
        stream::iter([Err::<u8, _>("the database is unreachable")]),
        async { drop(ended.await) },
        || false,
        || "ended",
    );
    let first = pieces.next().now_or_never();
    assert_eq!(first, Some(Some(Err("the database is unreachable"))));
    assert_eq!(pieces.next().await, None);
    drop(end);
}

#[test]
fn without_the_database_an_answer_does_not_state_that_nothing_was_changed() {
    let unavailable = Problem::new(ErrorCode::StorageUnavailable, "Nothing was changed.");
    let problem = after_the_work(unavailable);
    assert_eq!(problem.code, ErrorCode::StorageUnavailable);
    assert_eq!(problem.message, UNCONFIRMED);
    let internal = Problem::internal();
    assert_eq!(after_the_work(internal.clone()), internal);
}

#[tokio::test]
async fn a_confirmed_credential_passes_pieces_on_until_it_ends() {
    let mut open = limited(true);
    assert_eq!(open.pieces.next().await, Some(Ok(1)));
    open.end.send(()).unwrap();
    assert_eq!(open.pieces.next().await, Some(Err("ended")));
}
