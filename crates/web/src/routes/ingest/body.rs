//! Reads the body of somebody nobody knows yet: never more than the webhook takes, never for long, and
//! never so many at once that they fill the memory.

use crate::respond::request_timeout;
use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use gatehouse_domain::{ErrorCode, Problem};
use http_body_util::BodyExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a body may stand still on its way.
const STILL: Duration = Duration::from_secs(15);
/// How long it may take in all. Senders of webhooks are servers: they do not dawdle.
const IN_ALL: Duration = Duration::from_mins(1);
/// What the bodies of all requests together may hold, in bytes: 256 MiB.
const TOGETHER: usize = 256 * 1024 * 1024;

/// What they hold now, in this process.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A body that was read, and its share of what all may hold.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) bytes: Bytes,
    _share: Share,
}

/// A body that was not.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is over the limit: this much was announced or came, and this much was kept.
    TooLarge { size: u64, kept: Bytes },
    /// It did not come whole, or not in time, or there is no room for it now.
    Refused(Problem),
}

/// What one body holds; given back when it is dropped.
#[derive(Debug, Default)]
struct Share(usize);

impl Share {
    /// Takes more; `false` when there is no room.
    fn grow(&mut self, bytes: usize) -> bool {
        let held = HELD.fetch_add(bytes, Ordering::AcqRel);
        self.0 = self.0.saturating_add(bytes);
        held.saturating_add(bytes) <= TOGETHER
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0, Ordering::AcqRel);
    }
}

/// Reads a whole body of at most `max_bytes`. What is announced as longer is refused before it comes.
pub(super) async fn read(body: Body, max_bytes: usize) -> Result<Read, Unread> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > max_bytes) {
        return Err(Unread::TooLarge {
            size: announced,
            kept: Bytes::new(),
        });
    }
    match tokio::time::timeout(IN_ALL, frames(body, max_bytes)).await {
        Ok(read) => read,
        Err(_elapsed) => Err(Unread::Refused(request_timeout())),
    }
}

async fn frames(mut body: Body, max_bytes: usize) -> Result<Read, Unread> {
    let (mut whole, mut share) = (BytesMut::new(), Share::default());
    loop {
        let Ok(frame) = tokio::time::timeout(STILL, body.frame()).await else {
            return Err(Unread::Refused(request_timeout()));
        };
        let data = match frame {
            None => {
                return Ok(Read {
                    bytes: whole.freeze(),
                    _share: share,
                });
            }
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => {
                let message = "The body did not arrive whole.";
                let problem = Problem::new(ErrorCode::InvalidRequest, message);
                return Err(Unread::Refused(problem));
            }
        };
        let room = max_bytes.saturating_sub(whole.len());
        if data.len() > room {
            let size = whole.len().saturating_add(data.len());
            whole.extend_from_slice(data.get(..room).unwrap_or_default());
            return Err(Unread::TooLarge {
                size: u64::try_from(size).unwrap_or(u64::MAX),
                kept: whole.freeze(),
            });
        }
        if !share.grow(data.len()) {
            return Err(Unread::Refused(Problem::rate_limited(1000)));
        }
        whole.extend_from_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    fn chunks(sizes: &[usize]) -> Body {
        let chunks: Vec<Result<Vec<u8>, std::io::Error>> =
            sizes.iter().map(|size| Ok(vec![b'x'; *size])).collect();
        Body::from_stream(stream::iter(chunks))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit_and_no_further() {
        assert_eq!(read(chunks(&[6, 4]), 10).await.unwrap().bytes.len(), 10);
        assert_eq!(read(Body::from("x".repeat(10)), 10).await.unwrap().bytes.len(), 10);
        match read(chunks(&[6, 5]), 10).await {
            Err(Unread::TooLarge { size, kept }) => assert_eq!((size, kept.len()), (11, 10)),
            other => panic!("{other:?}"),
        }
        match read(Body::from("x".repeat(11)), 10).await {
            Err(Unread::TooLarge { size, kept }) => assert_eq!((size, kept.len()), (11, 0)),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_without_end_is_not_waited_for() {
        let endless = Body::from_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
        match read(endless, 10).await {
            Err(Unread::Refused(problem)) => assert_eq!(problem.code, ErrorCode::Timeout),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_share_is_given_back() {
        let mut share = Share::default();
        assert!(share.grow(5));
        let mut large = Share::default();
        assert!(!large.grow(TOGETHER), "all but five bytes");
        drop(large);
        drop(share);
        let mut whole = Share::default();
        // Bodies of other tests may hold a few bytes at this moment.
        assert!(whole.grow(TOGETHER - 1024 * 1024));
    }
}
