//! Tests of the parent module.

use super::*;
use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn answer_of(stream: &mut TcpStream) -> String {
    let request = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    // The server may have closed the connection already.
    drop(stream.write_all(request).await);
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_client_has_a_share_of_the_connections_before_the_start() {
    for (shared, is_limited) in [(SharedPeers::none(), true), (SharedPeers::all(), false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let started = CancellationToken::new();
        let options = EarlyOptions {
            listener,
            tls: None,
            shared,
            started: started.clone(),
        };
        let clients = async {
            let mut streams = Vec::new();
            for _ in 0..=PER_CLIENT {
                streams.push(TcpStream::connect(address).await.unwrap());
            }
            let mut last = streams.pop().unwrap();
            let answer = answer_of(&mut last).await;
            assert_eq!(answer.is_empty(), is_limited, "{answer}");
            // At the limit.
            let mut last = streams.pop().unwrap();
            let answer = answer_of(&mut last).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            // The last connection has ended, so a new one is accepted.
            let mut next = TcpStream::connect(address).await.unwrap();
            let answer = answer_of(&mut next).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            started.cancel();
            streams
        };
        let (listening, idle) = tokio::join!(answer_early(options), clients);
        assert_eq!(listening.waiting.len(), idle.len());
    }
}

#[tokio::test]
async fn a_refusal_before_the_start_names_its_request() {
    for path in ["/", "/health", "/api/gon"] {
        let refused = answer(&Method::GET, path);
        let id = refused.headers()[REQUEST_ID].to_str().unwrap().to_owned();
        assert!(id.starts_with("req_"), "{id}");
        let bytes = refused.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(body["request_id"], id, "{path}");
    }
    let probe = answer(&Method::GET, "/livez");
    assert!(probe.headers().contains_key(REQUEST_ID));
}
