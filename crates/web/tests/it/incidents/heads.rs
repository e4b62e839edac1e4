//! Request heads: the limit is 64 KiB for all protocols.

use gatehouse_testkit::{TestServer, raw};
use reqwest::Client;

const LIMIT: usize = 64 * 1024;

/// Returns the status, or 0 when the connection ended without a response.
async fn http1(server: &TestServer, size: usize) -> u16 {
    let start = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-pad: ";
    let pad = "a".repeat(size - start.len() - 4);
    let answer = raw(server.address(), format!("{start}{pad}\r\n\r\n").as_bytes()).await;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).unwrap_or("0");
    status.parse().unwrap()
}

/// Returns the status, or 0 when the connection ended without a response. The size is measured in HTTP/1
/// form.
async fn http2(server: &TestServer, size: usize) -> u16 {
    let client = Client::builder()
        .http2_prior_knowledge()
        .no_proxy()
        // Decompression would add an `Accept-Encoding` field.
        .gzip(false)
        .brotli(false)
        .build()
        .unwrap();
    let url = format!("http://{}/health", server.address());
    let authority = server.address().to_string();
    let line = "GET /health HTTP/1.1\r\n".len() + "host: \r\n".len() + authority.len() + 2;
    let others = "accept: */*\r\n".len();
    let pad = "a".repeat(size - line - others - "x-pad: \r\n".len());
    let sent = client.get(url).header("x-pad", pad).send().await;
    sent.map_or(0, |answer| answer.status().as_u16())
}

/// CWE-770: the limit of the read buffer determined when reading stopped, but larger heads were
/// accepted.
#[tokio::test]
async fn cwe_770_a_head_of_http_1_is_taken_up_to_its_limit_and_no_further() {
    let server = TestServer::fresh().await;
    assert_eq!(http1(&server, LIMIT).await, 200);
    for over in [1, 2, 1000] {
        assert_eq!(http1(&server, LIMIT + over).await, 431, "{over} more");
    }
    for over in [LIMIT / 2, LIMIT - 100, 4 * LIMIT] {
        // The server may close the connection before the request is fully written. The response is then
        // lost.
        let status = http1(&server, LIMIT + over).await;
        assert!([431, 0].contains(&status), "{over} more: {status}");
    }
}

/// CWE-770: the same attack over HTTP/2.
#[tokio::test]
async fn cwe_770_a_head_of_http_2_is_taken_up_to_its_limit_and_no_further() {
    let server = TestServer::fresh().await;
    assert_eq!(http2(&server, LIMIT).await, 200);
    for over in [1, 2, 1000, LIMIT / 2, LIMIT - 100] {
        let status = http2(&server, LIMIT + over).await;
        assert!([431, 0].contains(&status), "{over} more: {status}");
    }
}
