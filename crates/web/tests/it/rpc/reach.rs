//! `system.reach`: whether the server is reached at its public URL.

use crate::steps::light_owner;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, TestServer};
use rcgen::generate_simple_self_signed;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What a server at the public URL does with the first request.
enum Other {
    /// Sends these bytes and closes the connection.
    Sends(String),
    /// Sends the question back as the answer.
    Echoes,
    /// Keeps the connection open and sends nothing.
    Waits,
    /// Offers a certificate that nobody trusts.
    SelfSigned,
    /// Answers the TLS handshake in plain text.
    Plain,
}

fn response(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

/// Waits until the client closes the connection.
async fn until_closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest).await);
}

impl Other {
    /// Starts the server.
    async fn start(self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "the task ends with the runtime of the test"
        )]
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            self.serve(stream).await;
        });
        address
    }

    async fn serve(self, mut stream: TcpStream) {
        match self {
            // The client ends the handshake.
            Self::SelfSigned => assert!(self_signed().accept(stream).await.is_err()),
            Self::Plain => {
                let bytes = response("400 Bad Request", "");
                stream.write_all(bytes.as_bytes()).await.unwrap();
                until_closed(&mut stream).await;
            }
            Self::Sends(bytes) => {
                question_of(&mut stream).await;
                stream.write_all(bytes.as_bytes()).await.unwrap();
            }
            Self::Echoes => {
                let question = question_of(&mut stream).await;
                let body = json!({ "status": "ok", "answer": question }).to_string();
                let bytes = response("200 OK", &body);
                stream.write_all(bytes.as_bytes()).await.unwrap();
            }
            Self::Waits => until_closed(&mut stream).await,
        }
    }
}

fn self_signed() -> TlsAcceptor {
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Reads a request and returns the question in its URL.
async fn question_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let question = path.strip_prefix("/health?question=").unwrap();
    assert_eq!(question.len(), 32, "{path}");
    question.to_owned()
}

async fn set_url(owner: &Actor, url: &str) {
    let setting = json!({ "key": "server.external_url", "value": url });
    owner.rpc("config.set", setting).await.unwrap();
}

/// Returns the result of a test of this URL.
async fn test(owner: &Actor, url: &str) -> Value {
    set_url(owner, url).await;
    let reached = owner.rpc("system.reach", json!({})).await.unwrap();
    assert_eq!(reached["url"], url);
    reached
}

async fn server() -> (TestServer, Actor) {
    light_owner(Options::default()).await
}

#[tokio::test]
async fn the_server_recognizes_its_own_answer() {
    let (server, owner) = server().await;
    let address = server.address();
    for url in [
        format!("http://{address}"),
        format!("http://localhost:{}", address.port()),
    ] {
        let reached = test(&owner, &url).await;
        let expected = json!({ "url": url, "ok": true, "private": true });
        assert_eq!(reached, expected);
    }
}

#[tokio::test]
async fn each_failure_has_its_name() {
    let (_server, owner) = server().await;
    let sends = |head: &str, body: &str| Other::Sends(response(head, body));
    let cut = |rest: &str| Other::Sends(format!("HTTP/1.1 200 OK\r\n{rest}"));
    let ok = r#"{"status":"ok"}"#;
    let moved = "301 Moved\r\nlocation: https://gate.example/health";
    for (other, scheme, problem, detail) in [
        (sends("200 OK", ok), "http", "other_server", None),
        (sends("200 OK", "<html>"), "http", "other_server", None),
        (Other::Echoes, "http", "other_server", None),
        (Other::SelfSigned, "https", "tls", None),
        (Other::Plain, "https", "tls", None),
        (Other::Sends(String::new()), "http", "interrupted", None),
        (
            cut("content-length: 100\r\n\r\n{\"status\":"),
            "http",
            "interrupted",
            None,
        ),
        (
            cut("transfer-encoding: chunked\r\n\r\n20\r\n{\"status\":"),
            "http",
            "interrupted",
            None,
        ),
        (
            sends("404 Not Found", ok),
            "http",
            "status",
            Some("HTTP 404"),
        ),
        (
            sends(moved, ""),
            "http",
            "status",
            Some("HTTP 301 to https://gate.example/health"),
        ),
    ] {
        let port = other.start().await.port();
        let url = format!("{scheme}://localhost:{port}");
        let reached = test(&owner, &url).await;
        let mut expected = json!({ "url": url, "ok": false, "problem": problem, "private": true });
        if let Some(detail) = detail {
            expected["detail"] = json!(detail);
        }
        assert_eq!(reached, expected);
    }
}

#[tokio::test]
async fn the_reasons_why_an_address_fails_are_distinguished() {
    let (_server, owner) = server().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let refused = test(&owner, &format!("http://{address}")).await;
    assert_eq!(refused["problem"], "refused");
    assert_eq!(refused["private"], true);
    // RFC 6761: names under "invalid" never resolve.
    let unknown = test(&owner, "https://gate.invalid").await;
    assert_eq!(unknown["problem"], "dns");
    assert_eq!(unknown["private"], false);
    let metadata = test(&owner, "http://169.254.169.254").await;
    assert_eq!(metadata["problem"], "other");
    assert_eq!(metadata["detail"], "this address must not be called");
}

#[tokio::test]
async fn a_server_that_never_answers_ends_the_test_after_its_time() {
    let (_server, owner) = server().await;
    let address = Other::Waits.start().await;
    let reached = test(&owner, &format!("http://{address}")).await;
    assert_eq!(reached["problem"], "timeout");
}

#[tokio::test]
async fn one_test_runs_at_a_time_and_only_its_question_is_answered() {
    let (server, owner) = server().await;
    let stranger = server.remote();
    let answer = async |question: &str| {
        let path = format!("/health?question={question}");
        stranger.get(&path).await.expect(200)["answer"].clone()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    set_url(
        &owner,
        &format!("http://{}", listener.local_addr().unwrap()),
    )
    .await;
    let tested = async { owner.rpc("system.reach", json!({})).await.unwrap() };
    let asked = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let question = question_of(&mut stream).await;
        let second = owner.rpc("system.reach", json!({})).await;
        assert_eq!(second, Err("CONFLICT".to_owned()));
        assert_eq!(answer("0").await, Value::Null);
        assert_eq!(answer(&question[1..]).await, Value::Null);
        // A proxy passes the question on, and the answer back.
        let body = json!({ "answer": answer(&question).await }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        question
    };
    let (reached, question) = tokio::join!(tested, asked);
    assert_eq!(reached["ok"], true, "{reached}");
    // The question is forgotten.
    assert_eq!(answer(&question).await, Value::Null);
    drop(listener);
    let again = owner.rpc("system.reach", json!({})).await.unwrap();
    assert_eq!(again["problem"], "refused");
}

#[tokio::test]
async fn another_node_of_the_database_may_answer_and_a_node_of_another_may_not() {
    let (Some(database), Some(other)) = (postgres().await, postgres().await) else {
        return;
    };
    let there = database.for_another_node();
    let (_one, owner) = light_owner(Options::default().database(database)).await;
    let two = TestServer::start(Options::default().database(there)).await;
    let url = format!("http://{}", two.address());
    let reached = test(&owner, &url).await;
    let expected = json!({ "url": url, "ok": true, "private": true });
    assert_eq!(reached, expected);

    let foreign = TestServer::start(Options::default().database(other)).await;
    let reached = test(&owner, &format!("http://{}", foreign.address())).await;
    assert_eq!(reached["problem"], "other_server", "{reached}");
}

#[tokio::test]
async fn questions_of_strangers_are_limited_and_the_probe_is_not() {
    let (server, _owner) = server().await;
    let stranger = server.remote();
    for _ in 0..120 {
        stranger.get("/health?question=x").await.expect(200);
    }
    let refused = stranger.get("/health?question=x").await;
    refused.refused(429, "RATE_LIMITED");
    assert_eq!(
        stranger.get("/health").await.expect(200),
        json!({ "status": "ok" })
    );
}
