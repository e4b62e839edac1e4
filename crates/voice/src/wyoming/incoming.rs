//! The input from a client: events, and bytes that arrive while an event is answered.

use super::event::{Event, Limits};
use bytes::{Buf, BufMut, BytesMut};
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt, ReadBuf};
use tokio::time::timeout;
use tokio_util::io::poll_read_buf;

/// How many bytes are read at a time.
const BUFFER: usize = 8 << 10;
/// The maximum number of bytes that are read ahead. If a client sends more while an event is answered, the end of its
/// connection is detected after the answer.
const AHEAD: usize = 1 << 20;

/// Time limits for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// The time from the connection to the end of the first event. Clients connect to make a call, so their first event
    /// follows immediately.
    first: Duration,
    /// The time from an answer to the end of the next event.
    next: Duration,
}

impl Patience {
    pub(super) const CLIENT: Self = Self {
        first: Duration::from_secs(10),
        next: Duration::from_mins(5),
    };
}

/// The receiving side of a connection.
pub(super) struct Incoming<R> {
    stream: R,
    unread: BytesMut,
    patience: Patience,
    has_begun: bool,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    pub(super) fn new(stream: R, patience: Patience) -> Self {
        Self {
            stream,
            unread: BytesMut::new(),
            patience,
            has_begun: false,
        }
    }

    /// Reads the next event. `None` if the client left, took too long or sent something malformed.
    pub(super) async fn next(&mut self) -> Option<Event> {
        let limit = if self.has_begun {
            self.patience.next
        } else {
            self.patience.first
        };
        let read = timeout(limit, Event::read(self, Limits::CLIENT)).await;
        self.has_begun = true;
        read.ok()?.ok()?
    }

    pub(super) const fn stream(&self) -> &R {
        &self.stream
    }

    /// Waits until the client has closed its sending side. Keeps the bytes that arrive before that. The future can be
    /// dropped at any time.
    ///
    /// # Errors
    /// Fails if the connection is broken.
    pub(super) async fn end(&mut self) -> io::Result<()> {
        loop {
            let room = AHEAD.saturating_sub(self.unread.len());
            if room == 0 {
                return pending().await;
            }
            self.unread.reserve(BUFFER.min(room));
            let mut unread = (&mut self.unread).limit(room);
            if self.stream.read_buf(&mut unread).await? == 0 {
                return Ok(());
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for Incoming<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        if this.unread.is_empty() {
            this.unread.reserve(BUFFER);
            let stream = Pin::new(&mut this.stream);
            ready!(poll_read_buf(stream, cx, &mut this.unread))?;
        }
        Poll::Ready(Ok(&this.unread))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let unread = &mut self.get_mut().unread;
        unread.advance(amount.min(unread.len()));
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Incoming<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let unread = ready!(self.as_mut().poll_fill_buf(cx))?;
        let amount = unread.len().min(buffer.remaining());
        buffer.put_slice(unread.get(..amount).unwrap_or_default());
        self.consume(amount);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::poll_immediate;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::Instant;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_mins(1);
    const PING: &[u8] = b"{\"type\":\"ping\"}\n";

    fn incoming(first: Duration, next: Duration) -> (DuplexStream, Incoming<DuplexStream>) {
        let (client, server) = duplex(4 * AHEAD);
        (client, Incoming::new(server, Patience { first, next }))
    }

    #[test]
    fn the_first_event_has_ten_seconds_and_the_next_five_minutes() {
        let Patience { first, next } = Patience::CLIENT;
        assert_eq!((first.as_secs(), next.as_secs()), (10, 300));
    }

    #[tokio::test]
    async fn a_client_that_sends_nothing_is_left_after_the_time_for_the_first_event() {
        let (_client, mut incoming) = incoming(SHORT, LONG);
        let begun = Instant::now();
        assert!(incoming.next().await.is_none());
        assert!(begun.elapsed() >= SHORT && begun.elapsed() < LONG);
    }

    #[tokio::test]
    async fn parts_of_an_event_do_not_extend_its_time() {
        let (mut client, mut incoming) = incoming(SHORT, LONG);
        let dripping = async {
            loop {
                client.write_all(b" ").await.unwrap();
                tokio::time::sleep(SHORT / 10).await;
            }
        };
        tokio::select! {
            read = incoming.next() => assert!(read.is_none()),
            () = dripping => {}
        }
    }

    #[tokio::test]
    async fn the_next_event_has_its_own_time() {
        let (mut client, mut slow) = incoming(SHORT, LONG);
        client.write_all(PING).await.unwrap();
        assert!(slow.next().await.is_some());
        let late = async {
            tokio::time::sleep(2 * SHORT).await;
            client.write_all(PING).await.unwrap();
        };
        assert!(tokio::join!(slow.next(), late).0.is_some());
        let (mut client, mut idle) = incoming(LONG, SHORT);
        client.write_all(PING).await.unwrap();
        assert!(idle.next().await.is_some());
        assert!(idle.next().await.is_none());
    }

    #[tokio::test]
    async fn the_end_is_noticed_behind_what_was_sent_and_that_is_read_later() {
        // Lengths up to the limit of bytes that are read ahead.
        for length in [0, 1, AHEAD - 1] {
            let (mut client, mut incoming) = incoming(LONG, LONG);
            client.write_all(&vec![b' '; length]).await.unwrap();
            assert!(poll_immediate(incoming.end()).await.is_none(), "{length}");
            drop(client);
            incoming.end().await.unwrap();
            let mut read = Vec::new();
            incoming.read_to_end(&mut read).await.unwrap();
            assert_eq!(read.len(), length);
        }
        let (mut client, mut incoming) = incoming(LONG, LONG);
        client.write_all(&vec![b' '; AHEAD]).await.unwrap();
        drop(client);
        assert!(poll_immediate(incoming.end()).await.is_none());
        assert_eq!(incoming.unread.len(), AHEAD);
    }

    #[tokio::test]
    async fn events_are_whole_wherever_they_were_read() {
        let (mut client, mut incoming) = incoming(LONG, LONG);
        let chunk = b"{\"type\":\"audio-chunk\",\"payload_length\":20000}\n";
        let all = [&chunk[..], &vec![7; 20_000], PING].concat();
        for (place, part) in all.chunks(7_000).enumerate() {
            client.write_all(part).await.unwrap();
            if place % 2 == 0 {
                assert!(poll_immediate(incoming.end()).await.is_none());
            }
        }
        assert_eq!(incoming.next().await.unwrap().payload, vec![7; 20_000]);
        assert_eq!(incoming.next().await.unwrap().kind, "ping");
        drop(client);
        assert!(incoming.next().await.is_none());
    }
}
