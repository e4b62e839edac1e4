use super::*;
use futures_util::stream;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

type Pieces = mpsc::Sender<Result<Bytes, VoiceError>>;

/// A vendor whose pieces the test sends.
#[derive(Default)]
struct Vendor {
    streams: SharedStreams,
    /// How many streams have begun.
    begun: Arc<AtomicUsize>,
    /// How many streams have been dropped.
    dropped: Arc<AtomicUsize>,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Vendor {
    fn listen(&self) -> (Listener, bool, Pieces) {
        let (pieces, mut arriving) = mpsc::channel(16);
        let count = Arc::clone(&self.begun);
        let dropped = Arc::clone(&self.dropped);
        let begin = async move {
            count.fetch_add(1, Ordering::SeqCst);
            let counted = Counted(dropped);
            let body = stream::poll_fn(move |context| {
                let _counted = &counted;
                arriving.poll_recv(context)
            });
            Ok((body.boxed(), false))
        };
        let name = Name::of(gatehouse_audio::Format::Mp3, &["a"]);
        let (listener, joined) = self.streams.join(name, begin);
        (listener, joined, pieces)
    }

    async fn body(&self) -> (Body, bool, Pieces) {
        let (listener, joined, pieces) = self.listen();
        (listener.begun().await.unwrap().0, joined, pieces)
    }

    fn counts(&self) -> (usize, usize) {
        let of = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (of(&self.begun), of(&self.dropped))
    }
}

fn piece(size: usize) -> Bytes {
    vec![7; size].into()
}

/// Returns the size of the data that the stream yields before its end, and its error.
async fn rest(mut body: Body) -> (usize, Option<VoiceError>) {
    let mut size = 0;
    while let Some(piece) = body.next().await {
        match piece {
            Ok(piece) => size += piece.len(),
            Err(error) => return (size, Some(error)),
        }
    }
    (size, None)
}

#[tokio::test]
async fn a_stream_is_open_up_to_its_limit_and_until_its_end() {
    for (size, is_open) in [(JOINABLE_BYTES, true), (JOINABLE_BYTES + 1, false)] {
        let vendor = Vendor::default();
        let (mut first, joined, pieces) = vendor.body().await;
        assert!(!joined);
        pieces.try_send(Ok(piece(size))).unwrap();
        assert_eq!(first.next().await.unwrap().unwrap().len(), size);
        let (second, joined, own) = vendor.body().await;
        assert_eq!(joined, is_open, "{size}");
        pieces.try_send(Ok(piece(1))).unwrap();
        own.try_send(Ok(piece(9))).ok();
        drop((pieces, own));
        let wanted = if is_open { size + 1 } else { 9 };
        assert_eq!(rest(second).await.0, wanted);
        assert_eq!(rest(first).await.0, 1);
        // Ended audio is synthesized again.
        let (_third, joined, _) = vendor.listen();
        assert!(!joined);
    }
}

#[tokio::test]
async fn a_listener_that_leaves_does_not_stop_the_other() {
    let vendor = Vendor::default();
    let (mut first, _, pieces) = vendor.body().await;
    let (second, joined, _) = vendor.body().await;
    assert!(joined);
    pieces.try_send(Ok(piece(10))).unwrap();
    // The first listener leaves while it waits for the vendor.
    first.next().await.unwrap().unwrap();
    assert!(first.next().now_or_never().is_none());
    drop(first);
    assert_eq!(vendor.counts(), (1, 0));
    pieces.try_send(Ok(piece(20))).unwrap();
    drop(pieces);
    assert_eq!(rest(second).await.0, 30);
    assert_eq!(vendor.counts(), (1, 1));
}

#[tokio::test]
async fn a_listener_that_does_not_read_does_not_stop_the_other() {
    let vendor = Vendor::default();
    let (mut first, _, pieces) = vendor.body().await;
    let (mut second, ..) = vendor.body().await;
    // Both listeners wait for the same piece, and only one of them reads from the vendor.
    assert!(first.next().now_or_never().is_none());
    assert!(second.next().now_or_never().is_none());
    for _ in 0..3 {
        pieces.try_send(Ok(piece(10))).unwrap();
        assert_eq!(second.next().await.unwrap().unwrap().len(), 10);
    }
    drop(pieces);
    assert!(second.next().await.is_none());
    assert_eq!(rest(first).await.0, 30);
}

#[tokio::test]
async fn the_last_listener_ends_the_work() {
    let vendor = Vendor::default();
    let (first, ..) = vendor.body().await;
    let (second, ..) = vendor.body().await;
    drop(first);
    assert_eq!(vendor.counts(), (1, 0));
    drop(second);
    assert_eq!(vendor.counts(), (1, 1));
    let (_third, joined, _) = vendor.listen();
    assert!(!joined);
}

#[tokio::test]
async fn a_failure_reaches_every_listener() {
    let vendor = Vendor::default();
    let (first, _, pieces) = vendor.body().await;
    let (second, ..) = vendor.body().await;
    pieces.try_send(Ok(piece(10))).unwrap();
    pieces.try_send(Err(VoiceError::Busy)).unwrap();
    for body in [first, second] {
        let (size, error) = rest(body).await;
        assert_eq!(size, 10);
        assert!(matches!(error, Some(VoiceError::Busy)), "{error:?}");
    }

    let fails = || async { Err(VoiceError::Busy) };
    let name = || Name::of(gatehouse_audio::Format::Mp3, &["b"]);
    let (first, _) = vendor.streams.join(name(), fails());
    let (second, joined) = vendor.streams.join(name(), fails());
    assert!(joined);
    let both = tokio::join!(first.begun(), second.begun());
    for failed in [both.0.err(), both.1.err()] {
        assert!(matches!(failed, Some(VoiceError::Busy)), "{failed:?}");
    }
}

#[tokio::test]
async fn the_only_listener_gets_the_original_error() {
    let vendor = Vendor::default();
    let (body, _, pieces) = vendor.body().await;
    let missing = || VoiceError::NotFound("voice");
    pieces.try_send(Err(missing())).unwrap();
    let (_, error) = rest(body).await;
    assert!(matches!(error, Some(VoiceError::NotFound(_))), "{error:?}");
    let name = Name::of(gatehouse_audio::Format::Mp3, &["b"]);
    let (listener, _) = vendor.streams.join(name, async move { Err(missing()) });
    let error = listener.begun().await.err();
    assert!(matches!(error, Some(VoiceError::NotFound(_))), "{error:?}");
}

#[tokio::test]
async fn a_listener_may_be_behind_up_to_the_limit() {
    for over in [0, 1] {
        let vendor = Vendor::default();
        let (first, _, pieces) = vendor.body().await;
        let (second, ..) = vendor.body().await;
        pieces.try_send(Ok(piece(JOINABLE_BYTES + 1))).unwrap();
        let large = BEHIND_BYTES - JOINABLE_BYTES - 1;
        pieces.try_send(Ok(piece(large + over))).unwrap();
        drop(pieces);
        assert_eq!(rest(first).await.0, BEHIND_BYTES + over);
        let (size, error) = rest(second).await;
        if over == 0 {
            assert!(error.is_none(), "{error:?}");
            assert_eq!(size, BEHIND_BYTES);
        } else {
            assert!(matches!(error, Some(VoiceError::TooSlow)), "{error:?}");
        }
    }
}
