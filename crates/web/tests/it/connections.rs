//! Connections that are used again after a refusal, many at once, and both versions of HTTP.

use gatehouse_testkit::TestServer;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Reads one answer with a Content-Length; its status line.
async fn answer(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap();
    let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
    stream.read_exact(&mut vec![0; length]).await.unwrap();
    head.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn a_refused_request_leaves_its_connection_usable_though_its_body_comes_later() {
    let server = TestServer::fresh().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let head = "POST /api/rpc HTTP/1.1\r\nhost: gate.example\r\ncontent-type: application/json\r\n\
                content-length: 2\r\n\r\n";
    for _ in 0..100 {
        stream.write_all(head.as_bytes()).await.unwrap();
        tokio::task::yield_now().await;
        stream.write_all(b"{}").await.unwrap();
        assert_eq!(answer(&mut stream).await, "http/1.1 401 unauthorized");
    }
}

#[tokio::test]
async fn a_connection_that_says_nothing_keeps_nobody_else_out() {
    let server = TestServer::fresh().await;
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(TcpStream::connect(server.address()).await.unwrap());
    }
    let local = server.local();
    let health = tokio::time::timeout(Duration::from_secs(5), local.get("/health"));
    health.await.unwrap().expect(200);
    drop(idle);
}
