//! Raw bytes on a connection, for requests that a correct client would never send.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a response may take.
const TIMEOUT: Duration = Duration::from_secs(45);

/// Writes these bytes and reads until the server closes the connection.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close before it has read everything.
    drop(stream.write_all(bytes).await);
    let mut answer = Vec::new();
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut answer)).await;
    drop(read.expect("the server ends the connection in time"));
    answer
}

/// Sends an HTTP/1.1 request without a body, like [`raw`]. Returns the status and the whole
/// response.
pub async fn raw_request(address: SocketAddr, line: &str, headers: &[&str]) -> (u16, String) {
    let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
    let request = format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    let answer = raw(address, request.as_bytes()).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or_default();
    (status, answer)
}
