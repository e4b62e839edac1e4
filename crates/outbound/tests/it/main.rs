//! Tests with real sockets: which servers are reachable, and how much of a response is read.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

mod answers;
mod reach;

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Starts a server on loopback that sends this response to every request.
async fn server(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio_util::task::TaskTracker::new().spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = socket.read_u8().await else {
                    break;
                };
                head.push(byte);
            }
            let _gone = socket.write_all(&answer).await;
            let _gone = socket.shutdown().await;
        }
    });
    address
}

/// Builds a response with these header lines and this body.
fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
