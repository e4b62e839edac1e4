//! Tests of the parent module.

use super::*;

#[tokio::test]
async fn a_client_that_does_not_read_or_takes_too_long_gets_no_more() {
    let long = Duration::from_hours(1);
    let run = |patience: Patience, pieces: usize| {
        let (made, from) = sync_channel(pieces);
        for _ in 0..pieces {
            made.send(Bytes::from_static(b"a")).unwrap();
        }
        drop(made);
        let (to, read) = mpsc::channel(1);
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let all = forward(&runtime, &from, &to, patience);
            (all, read.len())
        })
    };
    let patience = |piece, all| Patience { piece, all };
    assert_eq!(run(patience(long, long), 1).await.unwrap(), (true, 1));
    // The first piece is never read, so there is no space for the second.
    let stalled = patience(Duration::from_millis(1), long);
    assert_eq!(run(stalled, 2).await.unwrap(), (false, 1));
    let late = patience(long, Duration::from_millis(1));
    assert_eq!(run(late, 2).await.unwrap(), (false, 1));
    let over = patience(long, Duration::ZERO);
    assert_eq!(run(over, 1).await.unwrap(), (false, 0));
}

#[tokio::test]
async fn pieces_without_a_signal_are_incomplete() {
    for is_complete in [true, false] {
        let (sender, receiver) = mpsc::channel(1);
        let (completed, complete) = oneshot::channel();
        let read = until_complete(receiver, complete).collect::<Vec<_>>();
        let send = async {
            sender.send(Bytes::from_static(b"a")).await.unwrap();
            drop(sender);
            if is_complete {
                completed.send(()).unwrap();
            } else {
                drop(completed);
            }
        };
        let (read, ()) = tokio::join!(read, send);
        assert_eq!(read.first().unwrap().as_ref().unwrap(), "a");
        assert_eq!(read.len(), if is_complete { 1 } else { 2 });
        assert!(is_complete || read[1].is_err());
    }
}

#[test]
fn pieces_are_whole_and_the_last_one_is_flushed() {
    let (to, from) = sync_channel(8);
    let mut pieces = Pieces {
        to,
        piece: Vec::new(),
    };
    pieces.write_all(&vec![1; PIECE_BYTES - 1]).unwrap();
    assert!(from.try_recv().is_err());
    pieces.write_all(&[1, 1]).unwrap();
    assert_eq!(from.try_recv().unwrap().len(), PIECE_BYTES + 1);
    pieces.write_all(b"rest").unwrap();
    pieces.flush().unwrap();
    pieces.flush().unwrap();
    assert_eq!(from.try_recv().unwrap(), "rest");
    drop(from);
    pieces.write_all(b"more").unwrap();
    assert!(pieces.flush().is_err());
}
