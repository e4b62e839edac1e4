//! A small HTTP/1.1 client on one persistent connection. The load generator must cost less than the measured
//! server, so the client supports only the format that our servers use: a content length and no chunks.

use anyhow::{Context, Result, bail, ensure};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Timeout for a response.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serializes a request.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    if let Some(body) = body {
        let length = body.len().to_string();
        text.extend([
            "content-type: application/json\r\ncontent-length: ",
            &length,
            "\r\n",
        ]);
    }
    text.push_str("\r\n");
    text.push_str(body.unwrap_or_default());
    text.into_bytes()
}

/// A persistent connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    answer: Vec<u8>,
}

/// A complete response.
#[derive(Debug)]
pub struct Answer<'a> {
    pub status: u16,
    /// The response before its body.
    pub head: &'a str,
    pub body: &'a [u8],
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            answer: Vec::with_capacity(4096),
        })
    }

    /// Sends without waiting for the response.
    pub async fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    /// Reads one response.
    pub async fn receive(&mut self) -> Result<Answer<'_>> {
        self.answer.clear();
        let head = loop {
            if let Some(at) = self.answer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.read_more().await?;
        };
        let whole = head + content_length(self.answer.get(..head).unwrap_or_default())?;
        while self.answer.len() < whole {
            self.read_more().await?;
        }
        ensure!(self.answer.len() == whole, "more than one answer came");
        let (head, body) = self.answer.split_at_checked(head).context("no head")?;
        let head = std::str::from_utf8(head)?;
        Ok(Answer {
            status: status(head)?,
            head,
            body,
        })
    }

    /// Sends a request and reads its response.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.send(request).await?;
        self.receive().await
    }

    /// Like [`Client::exchange`], but expects a 200 with the length of the previous response and does not
    /// parse it.
    pub async fn repeat(&mut self, request: &[u8], length: usize) -> Result<()> {
        self.stream.write_all(request).await?;
        self.answer.clear();
        while self.answer.len() < length {
            ensure!(
                self.stream.read_buf(&mut self.answer).await? > 0,
                "the server hung up"
            );
        }
        ensure!(
            self.answer.len() == length && self.answer.starts_with(b"HTTP/1.1 200 "),
            "a response of another kind was received"
        );
        Ok(())
    }

    /// Returns the length of the last response in bytes.
    pub fn last_length(&self) -> usize {
        self.answer.len()
    }

    async fn read_more(&mut self) -> Result<()> {
        let count = timeout(PATIENCE, self.stream.read_buf(&mut self.answer)).await??;
        ensure!(count > 0, "the server hung up");
        Ok(())
    }
}

impl Answer<'_> {
    /// Returns an error unless the status is 200.
    pub fn expect_ok(&self) -> Result<()> {
        if self.status != 200 {
            bail!("{}: {}", self.status, String::from_utf8_lossy(self.body));
        }
        Ok(())
    }

    /// Returns the value of the session cookie that the response sets.
    pub fn session_cookie(&self) -> Option<&str> {
        let (_, rest) = self.head.split_once("service_session=")?;
        rest.split(';').next()
    }
}

fn status(head: &str) -> Result<u16> {
    Ok(head.get(9..12).context("no status")?.parse()?)
}

fn content_length(head: &[u8]) -> Result<usize> {
    for line in head.split(|byte| *byte == b'\n') {
        if let Some((name, value)) = line.split_at_checked(b"content-length:".len())
            && name.eq_ignore_ascii_case(b"content-length:")
        {
            return Ok(std::str::from_utf8(value)?.trim().parse()?);
        }
    }
    bail!(
        "an answer without a content length: {}",
        String::from_utf8_lossy(head)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_read_in_any_case() {
        assert_eq!(
            content_length(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n").unwrap(),
            12
        );
        assert!(content_length(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert_eq!(status("HTTP/1.1 401 Unauthorized").unwrap(), 401);
    }
}
