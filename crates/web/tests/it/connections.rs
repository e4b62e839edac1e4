//! Connections reused after a refusal, many connections at once, and both HTTP versions.

use gatehouse_testkit::{Options, TestServer};
use gatehouse_web::ConnectionLimits;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Reads one response with a Content-Length and returns its status line.
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
async fn refused_connections_are_counted_from_zero() {
    let (_server, owner) = TestServer::with_owner().await;
    let text = owner.get("/metrics").await.text;
    assert!(text.contains("\nconnections_refused_total 0\n"), "{text}");
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

/// The start of an HTTP/2 connection (RFC 9113, section 3.4): the preface and empty settings.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

fn limits(total: usize, idle: Duration) -> Options {
    Options::default().connections(ConnectionLimits {
        total,
        per_client: total,
        idle,
    })
}

/// Returns a connection that stays silent after its first bytes.
async fn silent(server: &TestServer, first: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(first).await.unwrap();
    stream.read_u8().await.unwrap();
    stream
}

async fn ends(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    let reading = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest));
    reading.await.is_ok()
}

async fn is_served(server: &TestServer) {
    let local = server.local();
    let health = tokio::time::timeout(Duration::from_secs(5), local.get("/health"));
    health.await.expect("an answer in time").expect(200);
}

#[tokio::test]
async fn connections_without_a_request_end() {
    let server = TestServer::start(limits(100, Duration::from_millis(300))).await;
    let http1 = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for first in [HTTP2, http1] {
        let mut stream = silent(&server, first).await;
        assert!(ends(&mut stream).await);
    }
}

#[tokio::test]
async fn idle_http2_connections_of_a_stranger_keep_nobody_out() {
    let server = TestServer::start(limits(8, Duration::from_mins(1))).await;
    let mut strangers = Vec::new();
    for _ in 0..8 {
        strangers.push(silent(&server, HTTP2).await);
    }
    is_served(&server).await;
    assert!(ends(&mut strangers[0]).await, "the oldest made room");
}

#[tokio::test]
async fn who_is_let_in_keeps_the_connection_when_strangers_take_the_others() {
    let server = TestServer::start(limits(8, Duration::from_mins(1))).await;
    let owner = server.set_up().await;
    let cookie = &owner
        .headers()
        .iter()
        .find(|(name, _)| name == "cookie")
        .unwrap()
        .1;
    let request = format!("GET /api/gon HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\n\r\n");
    let mut kept = TcpStream::connect(server.address()).await.unwrap();
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let mut strangers = Vec::new();
    for _ in 0..3 {
        kept.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(answer(&mut kept).await, "http/1.1 200 ok");
        for _ in 0..8 {
            strangers.push(silent(&server, HTTP2).await);
        }
    }
    let status = socket.call("system.status", serde_json::json!({})).await;
    assert!(status.unwrap()["result"].is_object());
    is_served(&server).await;
}

#[tokio::test]
async fn sockets_that_do_not_say_who_they_are_make_room_for_those_that_do() {
    let server = TestServer::start(limits(4, Duration::from_mins(1))).await;
    let owner = server.set_up().await;
    let mut silent = server.socket(&server.remote(), "/ws").await;
    for _ in 0..6 {
        server.socket(&server.remote(), "/ws").await;
    }
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut socket = server.socket(&owner, "/ws/chat").await;
        let status = socket.call("system.status", serde_json::json!({})).await;
        assert!(status.unwrap()["result"].is_object());
        held.push(socket);
    }
    assert_eq!(
        silent.next().await.unwrap()["error"]["data"]["code"],
        "RATE_LIMITED"
    );
    assert_eq!(silent.closed().await, 4429);
}
