//! Reads the body of an unauthenticated sender, limited by the webhook's size limit, by time, and by the
//! memory budget.

use crate::body::{Charged, most};
use crate::body_time::BodyTime;
use crate::respond::{incomplete_body, request_timeout};
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use gatehouse_domain::Problem;
use gatehouse_rpc::memory_budget::Share;
use http_body_util::BodyExt;
use std::time::Duration;

/// The maximum pause between two parts of a body.
const STILL: Duration = Duration::from_secs(15);
/// The maximum total time. Webhook senders are servers, which send quickly.
const IN_ALL: Duration = Duration::from_mins(1);
/// Why a body was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The body exceeds the limit. Contains the announced or received size, and the part that was kept.
    TooLarge { size: u64, kept: Bytes },
    /// The body was incomplete or too slow.
    Refused(Problem),
    /// There is currently no memory for the body.
    NoRoom,
}

/// Reads a whole body of at most `max_bytes`. If the announced size is larger, refuses the body
/// before it arrives. The share is charged while the body arrives and until the returned bytes are
/// dropped.
pub(super) async fn read(body: Body, max_bytes: usize, share: Share) -> Result<Bytes, Unread> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > max_bytes) {
        return Err(Unread::TooLarge {
            size: announced,
            kept: Bytes::new(),
        });
    }
    frames(body, max_bytes, share).await
}

async fn frames(mut body: Body, max_bytes: usize, mut share: Share) -> Result<Bytes, Unread> {
    let time = BodyTime::start(STILL, IN_ALL);
    let (mut whole, most) = (Vec::new(), most(&body, max_bytes));
    loop {
        let Ok(frame) = time.wait(body.frame()).await else {
            return Err(Unread::Refused(request_timeout()));
        };
        let data = match frame {
            None => return Ok(Charged::bytes(whole, share)),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => return Err(Unread::Refused(incomplete_body())),
        };
        let room = max_bytes.saturating_sub(whole.len());
        if data.len() > room {
            let size = whole.len().saturating_add(data.len());
            if !share.reserve(&mut whole, room, max_bytes) {
                return Err(Unread::NoRoom);
            }
            whole.extend_from_slice(data.get(..room).unwrap_or_default());
            return Err(Unread::TooLarge {
                size: u64::try_from(size).unwrap_or(u64::MAX),
                kept: Charged::bytes(whole, share),
            });
        }
        if !share.reserve(&mut whole, data.len(), most) {
            return Err(Unread::NoRoom);
        }
        whole.extend_from_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use gatehouse_domain::ClientKey;
    use gatehouse_rpc::memory_budget::{ByteBudget, Holder, Limits};

    fn budget(bytes: usize) -> ByteBudget {
        ByteBudget::new(Limits::flat(bytes))
    }

    fn share(budget: &ByteBudget) -> Share {
        let client = ClientKey::of(std::net::Ipv4Addr::new(192, 0, 2, 1).into());
        budget.share(Holder::Stranger(client))
    }

    fn chunks(sizes: &[usize]) -> Body {
        let chunks: Vec<Result<Vec<u8>, std::io::Error>> =
            sizes.iter().map(|size| Ok(vec![b'x'; *size])).collect();
        Body::from_stream(stream::iter(chunks))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit_and_no_further() {
        let budget = budget(1000);
        let read = async |body| read(body, 10, share(&budget)).await;
        assert_eq!(read(chunks(&[6, 4])).await.unwrap().len(), 10);
        assert_eq!(read(Body::from("x".repeat(10))).await.unwrap().len(), 10);
        match read(chunks(&[6, 5])).await {
            Err(Unread::TooLarge { size, kept }) => assert_eq!((size, kept.len()), (11, 10)),
            other => panic!("{other:?}"),
        }
        match read(Body::from("x".repeat(11))).await {
            Err(Unread::TooLarge { size, kept }) => assert_eq!((size, kept.len()), (11, 0)),
            other => panic!("{other:?}"),
        }
        assert_eq!(budget.held_bytes(), 0);
    }

    #[tokio::test]
    async fn a_body_is_charged_until_it_is_dropped() {
        let budget = budget(10);
        let held = read(chunks(&[6]), 6, share(&budget)).await.unwrap();
        assert_eq!(budget.held_bytes(), 6);
        let outcome = read(chunks(&[5]), 5, share(&budget)).await;
        assert!(matches!(outcome, Err(Unread::NoRoom)), "{outcome:?}");
        drop(held);
        assert!(read(chunks(&[10]), 10, share(&budget)).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_without_memory_differs_from_one_that_did_not_arrive() {
        let budget = budget(5);
        let outcome = read(chunks(&[6]), 10, share(&budget)).await;
        assert!(matches!(outcome, Err(Unread::NoRoom)), "{outcome:?}");
        let broken: Result<Vec<u8>, _> = Err(std::io::Error::other("gone"));
        let broken = Body::from_stream(stream::iter([broken]));
        let outcome = read(broken, 10, share(&budget)).await;
        assert!(matches!(outcome, Err(Unread::Refused(_))), "{outcome:?}");
    }
}
