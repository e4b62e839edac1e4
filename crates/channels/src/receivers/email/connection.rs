//! The bytes of an IMAP connection (RFC 9051, section 2.2): writes commands and reads complete
//! responses.

use super::error::ImapError;
use super::frame::{Framed, Scan};
use bytes::BytesMut;
use gatehouse_outbound::{Outbound, Stream};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The time limit for each part of an answer.
const TIMEOUT: Duration = Duration::from_secs(20);
const READ: usize = 16 * 1024;

pub(super) struct Connection {
    stream: Stream,
    /// Bytes that were read but not processed.
    buffer: BytesMut,
    scan: Scan,
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            scan: Scan::default(),
        }
    }

    /// Returns whether the server is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.stream.address.to_canonical().is_loopback()
    }

    /// Begins TLS. Fails if bytes arrived before TLS, because an attacker could have sent them.
    pub(super) async fn secure(self, outbound: &Outbound, host: &str) -> Result<Self, ImapError> {
        if !self.buffer.is_empty() {
            return Err(ImapError::later(
                "The mail server sent data before TLS began.",
            ));
        }
        let stream = outbound.secure(self.stream, host).await;
        Ok(Self::new(stream.map_err(ImapError::of_outbound)?))
    }

    pub(super) async fn write(&mut self, line: &str) -> Result<(), ImapError> {
        let bytes = format!("{line}\r\n");
        let io = &mut self.stream.io;
        let sent = async {
            io.write_all(bytes.as_bytes()).await?;
            io.flush().await
        };
        match tokio::time::timeout(TIMEOUT, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ImapError::Ended),
            Err(_) => Err(ImapError::silent()),
        }
    }

    /// Reads one response. The total size of its literals is limited to `max` bytes. Dropping the future loses no data.
    pub(super) async fn read(&mut self, max: usize) -> Result<BytesMut, ImapError> {
        loop {
            match self.scan.frame(&self.buffer, max) {
                Framed::Complete(end) => return Ok(self.buffer.split_to(end)),
                Framed::TooLong => {
                    let why = "The mail server sent more data than requested.";
                    return Err(ImapError::later(why));
                }
                Framed::Partial => {}
            }
            if !self.wait(TIMEOUT).await? {
                return Err(ImapError::silent());
            }
        }
    }

    /// Waits until the server sends more. Returns `false` after the timeout.
    pub(super) async fn wait(&mut self, time: Duration) -> Result<bool, ImapError> {
        self.buffer.reserve(READ);
        let more = self.stream.io.read_buf(&mut self.buffer);
        match tokio::time::timeout(time, more).await {
            Ok(Ok(1..)) => Ok(true),
            Ok(_) => Err(ImapError::Ended),
            Err(_) => Ok(false),
        }
    }

    /// Returns whether bytes were read but not processed.
    pub(super) fn has_more(&self) -> bool {
        !self.buffer.is_empty()
    }
}
