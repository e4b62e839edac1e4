//! Reads the body of somebody nobody knows yet: never more than the webhook takes, never for long, and
//! never so many at once that they fill the memory.

use crate::respond::request_timeout;
use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use gatehouse_domain::{ClientKey, ErrorCode, Problem};
use http_body_util::BodyExt;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a body may stand still on its way.
const STILL: Duration = Duration::from_secs(15);
/// How long it may take in all. Senders of webhooks are servers: they do not dawdle.
const IN_ALL: Duration = Duration::from_mins(1);
/// What the bodies of all requests together may hold, in bytes: 256 MiB.
const TOGETHER: usize = 256 * 1024 * 1024;
/// What those of one client may, so that one alone does not keep the others out: 64 MiB.
const EACH: usize = 64 * 1024 * 1024;

/// What is held now.
#[derive(Debug, Default)]
struct Held {
    together: usize,
    each: HashMap<ClientKey, usize>,
}

/// Of this process: its memory is what is shared out.
static HELD: LazyLock<Mutex<Held>> = LazyLock::new(Mutex::default);

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

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
    /// It did not come whole, or not in time.
    Refused(Problem),
    /// There is no room for it now.
    NoRoom,
}

/// What one body holds; given back when it is dropped.
#[derive(Debug)]
struct Share {
    client: ClientKey,
    bytes: usize,
}

impl Share {
    const fn of(client: ClientKey) -> Self {
        Self { client, bytes: 0 }
    }

    /// Takes more; `false`, and nothing is taken, when there is no room.
    fn grow(&mut self, bytes: usize) -> bool {
        let mut held = held();
        let its = held.each.get(&self.client).copied().unwrap_or(0);
        let (its, together) = (
            its.saturating_add(bytes),
            held.together.saturating_add(bytes),
        );
        if its > EACH || together > TOGETHER {
            return false;
        }
        held.each.insert(self.client, its);
        held.together = together;
        self.bytes = self.bytes.saturating_add(bytes);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = held();
        held.together = held.together.saturating_sub(self.bytes);
        let its = held.each.get(&self.client).copied().unwrap_or(0);
        match its.saturating_sub(self.bytes) {
            0 => drop(held.each.remove(&self.client)),
            left => drop(held.each.insert(self.client, left)),
        }
    }
}

/// Reads a whole body of at most `max_bytes`. What is announced as longer is refused before it comes.
pub(super) async fn read(body: Body, max_bytes: usize, client: ClientKey) -> Result<Read, Unread> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > max_bytes) {
        return Err(Unread::TooLarge {
            size: announced,
            kept: Bytes::new(),
        });
    }
    match tokio::time::timeout(IN_ALL, frames(body, max_bytes, client)).await {
        Ok(read) => read,
        Err(_elapsed) => Err(Unread::Refused(request_timeout())),
    }
}

async fn frames(mut body: Body, max_bytes: usize, client: ClientKey) -> Result<Read, Unread> {
    let (mut whole, mut share) = (BytesMut::new(), Share::of(client));
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
            return Err(Unread::NoRoom);
        }
        whole.extend_from_slice(&data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    fn client(last: u8) -> ClientKey {
        ClientKey::of(std::net::Ipv4Addr::new(192, 0, 2, last).into())
    }

    fn chunks(sizes: &[usize]) -> Body {
        let chunks: Vec<Result<Vec<u8>, std::io::Error>> =
            sizes.iter().map(|size| Ok(vec![b'x'; *size])).collect();
        Body::from_stream(stream::iter(chunks))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit_and_no_further() {
        assert_eq!(
            read(chunks(&[6, 4]), 10, client(1))
                .await
                .unwrap()
                .bytes
                .len(),
            10
        );
        assert_eq!(
            read(Body::from("x".repeat(10)), 10, client(1))
                .await
                .unwrap()
                .bytes
                .len(),
            10
        );
        match read(chunks(&[6, 5]), 10, client(1)).await {
            Err(Unread::TooLarge { size, kept }) => assert_eq!((size, kept.len()), (11, 10)),
            other => panic!("{other:?}"),
        }
        match read(Body::from("x".repeat(11)), 10, client(1)).await {
            Err(Unread::TooLarge { size, kept }) => assert_eq!((size, kept.len()), (11, 0)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_client_has_its_part_and_gives_it_back() {
        let (one, two) = (client(10), client(11));
        let mut share = Share::of(one);
        assert!(share.grow(EACH - 5));
        let mut more = Share::of(one);
        assert!(!more.grow(6));
        assert!(more.grow(5));
        assert!(Share::of(two).grow(5));
        drop((share, more));
        assert!(Share::of(one).grow(EACH));
        assert!(!held().each.contains_key(&one));
    }

    #[tokio::test]
    async fn a_body_without_room_is_told_from_one_that_did_not_come() {
        let mut full = Share::of(client(12));
        assert!(full.grow(EACH - 5));
        let outcome = read(chunks(&[6]), 10, client(12)).await;
        assert!(matches!(outcome, Err(Unread::NoRoom)), "{outcome:?}");
        let broken: Result<Vec<u8>, _> = Err(std::io::Error::other("gone"));
        let outcome = read(Body::from_stream(stream::iter([broken])), 10, client(12)).await;
        assert!(matches!(outcome, Err(Unread::Refused(_))), "{outcome:?}");
    }

    #[test]
    fn all_together_have_theirs() {
        let mut shares: Vec<_> = (20..24).map(|last| Share::of(client(last))).collect();
        // Bodies of other tests may hold a little at this moment.
        let (last, others) = shares.split_last_mut().unwrap();
        assert!(others.iter_mut().all(|share| share.grow(EACH)));
        assert!(last.grow(EACH / 2));
        assert!(!Share::of(client(24)).grow(EACH / 2 + 1));
    }
}
