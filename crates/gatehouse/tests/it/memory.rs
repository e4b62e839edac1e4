//! Resident memory of the real server under attack. All attacks use loopback; each source address counts as a
//! separate client.

use crate::process::{Installation, Server};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const MIB: usize = 1024 * 1024;
/// The documented limit for all data sent and received, plus an allowance for the allocator, stacks,
/// connections and results that are not serialized yet.
const PROMISED_KIB: usize = (256 + 192) * 1024;
/// The bytes per attacker; 20 attackers send 600 MiB.
const EACH: usize = 30 * MIB;
const ATTACKERS: u8 = 20;

/// Returns a field of `/proc/<pid>/status`, in KiB.
async fn status(server: &Server, field: &str) -> usize {
    let path = format!("/proc/{}/status", server.child.id());
    let text = tokio::fs::read_to_string(path).await.unwrap();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

/// Returns the memory peak since the server's start, after the server has read all data.
async fn settled_peak(server: &Server) -> usize {
    let mut last = (0, Instant::now());
    loop {
        let now = status(server, "VmHWM").await + status(server, "VmRSS").await;
        if now != last.0 {
            last = (now, Instant::now());
        }
        if last.1.elapsed() > Duration::from_millis(700) {
            return status(server, "VmHWM").await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

struct Attack {
    server: Server,
    before: usize,
}

impl Attack {
    /// Returns a server that has answered once. Before setup, local callers have full access.
    async fn prepare(installation: &Installation) -> Self {
        let server = installation.start();
        server.rpc("", "system.status", json!({})).await;
        let before = status(&server, "VmHWM").await;
        Self { server, before }
    }

    async fn connect(&self, from: u8) -> TcpStream {
        let address: SocketAddr = self.server.url.rsplit('/').next().unwrap().parse().unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        let source = Ipv4Addr::new(127, 0, 0, from);
        socket.bind((source, 0).into()).unwrap();
        socket.connect(address).await.unwrap()
    }

    /// Sends the head of a call and this part of its body.
    async fn post(&self, from: u8, length: usize, body: &[u8]) -> TcpStream {
        let mut stream = self.connect(from).await;
        let head = format!(
            "POST /api/rpc HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server does not read the whole body of a refused request.
        drop(stream.write_all(body).await);
        stream
    }

    async fn socket(&self, from: u8) -> TcpStream {
        let mut stream = self.connect(from).await;
        let head = "GET /ws/chat HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\n\
                    upgrade: websocket\r\nsec-websocket-version: 13\r\n\
                    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 101"));
        stream
    }

    /// Asserts that another client's small call is answered.
    async fn others_are_served(&self, from: u8) {
        let body = br#"{"id":1,"method":"system.status"}"#;
        let mut stream = self.post(from, body.len(), body).await;
        let mut answer = vec![0; 4096];
        let count = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("\"result\""),
            "{answer}"
        );
    }

    /// Asserts that the memory is free again, because a large call is answered.
    async fn room_comes_back(&self) {
        let call = json!({ "id": 1, "method": "system.status", "pad": "x".repeat(EACH) });
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let body = call.to_string();
            let mut stream = self.post(1, body.len(), body.as_bytes()).await;
            let mut answer = vec![0; 4096];
            let count = stream.read(&mut answer).await.unwrap_or(0);
            if answer[..count].starts_with(b"HTTP/1.1 200") {
                return;
            }
            assert!(Instant::now() < deadline, "there is still no room");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn is_bounded(&self, what: &str) {
        let peak = settled_peak(&self.server).await;
        eprintln!(
            "{what}: peak {} MiB, before it {} MiB",
            peak / 1024,
            self.before / 1024
        );
        assert!(peak < self.before + PROMISED_KIB, "{what}: {peak} KiB");
    }
}

/// Distributes the attackers over four addresses.
const fn address_of(attacker: u8) -> u8 {
    1 + attacker % 4
}

#[tokio::test]
async fn bodies_that_never_end_take_no_more_memory_than_is_promised() {
    let installation = Installation::new();
    let attack = Attack::prepare(&installation).await;
    let part = vec![b'x'; EACH];
    let mut held = Vec::new();
    for attacker in 0..ATTACKERS {
        held.push(attack.post(address_of(attacker), EACH + MIB, &part).await);
    }
    attack.is_bounded("half-sent bodies").await;
    attack.others_are_served(9).await;
    drop(held);
    attack.room_comes_back().await;
}

/// Returns the header of a client frame with a zero mask.
fn frame(first: u8, length: usize) -> Vec<u8> {
    let mut header = vec![first, 0xff];
    header.extend(u64::try_from(length).unwrap().to_be_bytes());
    header.extend([0; 4]);
    header
}

#[tokio::test]
async fn messages_that_never_end_take_no_more_memory_than_is_promised() {
    let installation = Installation::new();
    let attack = Attack::prepare(&installation).await;
    let part = vec![b'x'; MIB];
    let mut held = Vec::new();
    for attacker in 0..ATTACKERS {
        let mut socket = attack.socket(address_of(attacker)).await;
        // Half of the attackers send one frame, and the others send a message in many frames.
        let whole = attacker % 8 < 4;
        if whole {
            drop(socket.write_all(&frame(0x81, EACH + MIB)).await);
        }
        for number in 0..EACH / MIB {
            if !whole {
                let first = u8::from(number == 0);
                drop(socket.write_all(&frame(first, MIB)).await);
            }
            if socket.write_all(&part).await.is_err() {
                break;
            }
        }
        held.push(socket);
    }
    attack.is_bounded("unfinished messages").await;
    attack.others_are_served(9).await;
    drop(held);
    attack.room_comes_back().await;
}

#[tokio::test]
async fn sockets_keep_nothing_of_messages_that_were_answered() {
    let installation = Installation::new();
    let attack = Attack::prepare(&installation).await;
    let call = json!({ "id": 1, "method": "system.status", "pad": "x".repeat(EACH) }).to_string();
    let mut held = Vec::new();
    for attacker in 0..ATTACKERS {
        let mut socket = attack.socket(address_of(attacker)).await;
        socket.write_all(&frame(0x81, call.len())).await.unwrap();
        socket.write_all(call.as_bytes()).await.unwrap();
        let mut answer = [0; 16];
        socket.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[0], 0x81);
        held.push(socket);
    }
    attack.is_bounded("answered messages").await;
}

/// Returns a batch whose answer would be 64 times 6.5 MiB.
async fn long_batch(attack: &Attack) -> String {
    let prompt = "\u{1f600}".repeat(65_536);
    for number in 0..25 {
        let agent = json!({ "name": format!("agent {number}"), "system_prompt": prompt });
        let made = attack.server.rpc("", "agents.create", agent).await;
        assert!(made["result"].is_object(), "{made}");
    }
    let calls: Vec<Value> = (0..64)
        .map(|id| json!({ "id": id, "method": "agents.list" }))
        .collect();
    let batch = Value::from(calls).to_string();
    assert!(batch.len() < 3600);
    batch
}

#[tokio::test]
async fn a_batch_is_answered_with_no_more_than_a_message_may_hold() {
    let installation = Installation::new();
    let attack = Attack::prepare(&installation).await;
    let batch = long_batch(&attack).await;
    let mut stream = attack.post(1, batch.len(), batch.as_bytes()).await;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    attack.is_bounded("one batch").await;
    assert!(answer.len() < 37 * MIB, "{} bytes", answer.len());
    let start = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let answers: Vec<Value> = serde_json::from_slice(&answer[start.unwrap() + 4..]).unwrap();
    assert_eq!(answers.len(), 64, "each call is answered");
    let done = answers.iter().filter(|one| one["result"].is_object());
    assert!((1..=5).contains(&done.count()));
    let last = &answers[63]["error"]["data"];
    assert_eq!(last["code"], "PAYLOAD_TOO_LARGE", "{last}");
}

#[tokio::test]
async fn answers_that_nobody_reads_take_no_more_memory_than_is_promised() {
    let installation = Installation::new();
    let attack = Attack::prepare(&installation).await;
    let batch = long_batch(&attack).await;
    let mut held = Vec::new();
    for attacker in 0..ATTACKERS {
        let from = address_of(attacker);
        held.push(attack.post(from, batch.len(), batch.as_bytes()).await);
    }
    attack.is_bounded("unread answers").await;
    attack.others_are_served(9).await;
}
