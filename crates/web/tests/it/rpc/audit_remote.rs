//! `audit.syslog` with a server on the network.

use crate::steps::{doctor_check, stopped_clock};
use gatehouse_auth::audit::verify;
use gatehouse_testkit::{Options, TestServer};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpSocket, UdpSocket};
use tokio_rustls::TlsAcceptor;

/// Longer than the wait after a failure.
const LONG: Duration = Duration::from_secs(61);

async fn export(server: &TestServer) {
    server.app().services().export_audit_rows().await;
}

async fn rows(server: &TestServer) -> i64 {
    let verified = verify(&server.app().services().store).await.unwrap();
    i64::try_from(verified.rows).unwrap()
}

/// Parses a message of RFC 5424, and returns the number of its record.
fn seq(message: &[u8]) -> i64 {
    let text = std::str::from_utf8(message).unwrap();
    let fields: Vec<&str> = text.splitn(8, ' ').collect();
    let [head, time, host, app, process, kind, structured, record] = fields[..] else {
        panic!("{text}");
    };
    assert_eq!((head, app, kind), ("<85>1", "gatehouse-audit", "audit"));
    assert_eq!(structured, "-");
    assert_eq!(process, std::process::id().to_string());
    assert!(!host.is_empty() && time.ends_with('Z'), "{text}");
    let record: Value = serde_json::from_str(record).unwrap();
    assert_eq!(record["at"], time);
    record["seq"].as_i64().unwrap()
}

/// Reads frames with octet counting (RFC 6587, section 3.4.1) until the client ends the connection.
async fn read_frames(mut stream: impl AsyncRead + Unpin) -> Vec<i64> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let (mut rest, mut seqs) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ').unwrap();
        let length = std::str::from_utf8(&rest[..space]).unwrap();
        let end = space + 1 + length.parse::<usize>().unwrap();
        seqs.push(seq(&rest[space + 1..end]));
        rest = &rest[end..];
    }
    seqs
}

#[tokio::test]
async fn a_syslog_server_gets_each_record_over_udp() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("udp://{}", socket.local_addr().unwrap());
    let server = TestServer::start(Options::default().env("SERVICE_AUDIT__SYSLOG", &url)).await;
    server.set_up().await;
    export(&server).await;
    let mut bytes = vec![0; 64 * 1024];
    for expected in 1..=rows(&server).await {
        let length = socket.recv(&mut bytes).await.unwrap();
        assert_eq!(seq(&bytes[..length]), expected);
    }
}

#[tokio::test]
async fn a_syslog_server_gets_each_record_over_tcp_also_after_it_was_away() {
    let clock = stopped_clock();
    // Refuses connections until it listens, and keeps others from taking the port.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    let options = Options::default()
        .env("SERVICE_AUDIT__SYSLOG", &format!("tcp://{address}"))
        .clock(Arc::clone(&clock));
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    export(&server).await;
    let check = doctor_check(&owner, "audit_export").await;
    assert_eq!(check["ok"], false, "{check}");

    let listener = socket.listen(8).unwrap();
    clock.advance(LONG);
    let receive = async {
        let (stream, _) = listener.accept().await.unwrap();
        read_frames(stream).await
    };
    let ((), seqs) = tokio::join!(export(&server), receive);
    let count = rows(&server).await;
    assert_eq!(seqs, (1..=count).collect::<Vec<_>>());
    // A connection that breaks loses nothing.
    server.api_key(&owner, &["operator.read"]).await;
    let reset = async {
        let (stream, _) = listener.accept().await.unwrap();
        // Unread bytes make the system answer with a reset.
        stream.peek(&mut [0]).await.unwrap();
    };
    tokio::join!(export(&server), reset);
    clock.advance(LONG);
    // A connection that is closed before the rows arrive loses nothing either.
    let close = async {
        drop(listener.accept().await.unwrap());
    };
    tokio::join!(export(&server), close);
    clock.advance(LONG);
    let receive = async {
        let (stream, _) = listener.accept().await.unwrap();
        read_frames(stream).await
    };
    let ((), seqs) = tokio::join!(export(&server), receive);
    assert_eq!(seqs.first(), Some(&(count + 1)));
    assert_eq!(seqs.last(), Some(&rows(&server).await));
}

/// Accepts TLS as `localhost`. Returns the certificate too.
fn acceptor() -> (TlsAcceptor, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let certificate = made.cert.der().to_vec();
    (TlsAcceptor::from(Arc::new(config)), certificate)
}

#[tokio::test]
async fn a_syslog_server_gets_each_record_over_tls_if_its_certificate_is_trusted() {
    let clock = stopped_clock();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let options = Options::default()
        .env("SERVICE_AUDIT__SYSLOG", &format!("tls://localhost:{port}"))
        .clock(Arc::clone(&clock));
    let server = TestServer::start(options).await;
    server.set_up().await;
    let (trusted, certificate) = acceptor();
    let (unknown, _) = acceptor();
    let outbound = &server.app().services().outbound;
    outbound.trust_only(&certificate).unwrap();
    let refused = async {
        let (stream, _) = listener.accept().await.unwrap();
        assert!(unknown.accept(stream).await.is_err());
    };
    tokio::join!(export(&server), refused);
    clock.advance(LONG);
    let receive = async {
        let (stream, _) = listener.accept().await.unwrap();
        read_frames(trusted.accept(stream).await.unwrap()).await
    };
    let ((), seqs) = tokio::join!(export(&server), receive);
    assert_eq!(seqs, (1..=rows(&server).await).collect::<Vec<_>>());
}
