//! The WebSocket of a receiver to its vendor.

use super::Source;
use crate::error::Failure;
use crate::receive::ReceiveError;
use crate::vendor::of_outbound;
use gatehouse_outbound::{OutboundError, Socket, SocketEvent};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// The longest message that is read, in bytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;
const OPENING: Duration = Duration::from_secs(10);
/// The time that the vendor has to end a closed connection.
const CLOSING: Duration = Duration::from_secs(2);
/// The minimum lifetime of a connection, in milliseconds. A connection that ends earlier is not
/// replaced immediately.
const SHORT_MS: u64 = 60_000;

#[derive(Debug)]
pub(super) struct Link {
    socket: Socket,
    noun: &'static str,
    opened_at: u64,
}

impl Link {
    /// Connects to a URL that the vendor returned. The connection must be encrypted, unless the vendor's own address is
    /// not.
    pub(super) async fn open(
        source: Source<'_>,
        noun: &'static str,
        base: &str,
        url: &str,
    ) -> Result<Self, Failure> {
        let odd = || {
            Failure::later(format!(
                "{noun} named an address that is not a WebSocket URL."
            ))
        };
        let url = Url::parse(url).map_err(|_| odd())?;
        let is_plain = Url::parse(base).is_ok_and(|base| base.scheme() == "http");
        if url.scheme() != "wss" && !(is_plain && url.scheme() == "ws") {
            return Err(odd());
        }
        let outbound = &source.inner.outbound;
        let opening = outbound.connect_socket(&url, MAX_BYTES);
        let opened = tokio::time::timeout(OPENING, opening).await;
        let opened = opened.unwrap_or(Err(OutboundError::Timeout));
        Ok(Self {
            socket: opened.map_err(|error| of_outbound(noun, error))?,
            noun,
            opened_at: source.inner.clock.monotonic_ms(),
        })
    }

    /// Waits for the vendor's next message. Dropping the future loses no data.
    pub(super) async fn read(&mut self) -> Result<SocketEvent, Failure> {
        let read = self.socket.read().await;
        read.map_err(|error| of_outbound(self.noun, error))
    }

    /// Waits for the first text.
    pub(super) async fn read_first(&mut self) -> Result<String, Failure> {
        let first = async {
            loop {
                match self.socket.read().await? {
                    SocketEvent::Text(text) => return Ok(text),
                    SocketEvent::Alive => {}
                    SocketEvent::Closed(_) => return Err(OutboundError::Interrupted),
                }
            }
        };
        let first = tokio::time::timeout(OPENING, first).await;
        let first = first.unwrap_or(Err(OutboundError::Timeout));
        first.map_err(|error| of_outbound(self.noun, error))
    }

    pub(super) async fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let sent = self.socket.send(message.to_string()).await;
        sent.map_err(|error| of_outbound(self.noun, error))
    }

    pub(super) async fn ping(&mut self) -> Result<(), Failure> {
        let sent = self.socket.ping().await;
        sent.map_err(|error| of_outbound(self.noun, error))
    }

    /// Sends a close frame and waits up to [`CLOSING`] until the vendor closes the connection. Messages that arrive
    /// before that are discarded.
    pub(super) async fn close(mut self) {
        let closing = async {
            self.socket.close().await?;
            while !matches!(self.socket.read().await?, SocketEvent::Closed(_)) {}
            Ok::<(), OutboundError>(())
        };
        // A connection that fails has ended as well.
        drop(tokio::time::timeout(CLOSING, closing).await);
    }

    /// Returns the age of the connection in milliseconds.
    pub(super) fn age_ms(&self, source: Source<'_>) -> u64 {
        let now = source.inner.clock.monotonic_ms();
        now.saturating_sub(self.opened_at)
    }

    /// Returns whether another connection may be opened immediately. If not, the error contains the
    /// wait.
    pub(super) fn may_reopen(&self, source: Source<'_>) -> Result<(), ReceiveError> {
        if self.age_ms(source) >= SHORT_MS {
            return Ok(());
        }
        let why = format!("{} ended the connection soon after it began.", self.noun);
        Err(ReceiveError::Later { after: None, why })
    }
}
