//! Slow clients. The timeouts are real, so the tests wait for all of them concurrently.

use gatehouse_testkit::{TestServer, raw};
use std::time::{Duration, Instant};

struct Outcome {
    answer: String,
    took: Duration,
}

async fn timed(server: &TestServer, bytes: &[u8]) -> Outcome {
    let begun = Instant::now();
    let answer = raw(server.address(), bytes).await;
    Outcome {
        answer: String::from_utf8_lossy(&answer).into_owned(),
        took: begun.elapsed(),
    }
}

#[tokio::test]
async fn slow_clients_are_cut_and_others_do_not_wait() {
    let server = TestServer::fresh().await;
    let body = b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"passw";
    let chunked = b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n{\"pas\r\n";
    let (silent, begun, head, idle, half_body, half_chunk, others) = tokio::join!(
        timed(&server, b""),
        timed(&server, b"PRI * HT"),
        timed(
            &server,
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
        ),
        timed(&server, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        timed(&server, body),
        timed(&server, chunked),
        async {
            for _ in 0..20 {
                server.local().get("/health").await.expect(200);
            }
        }
    );
    let () = others;
    for (outcome, what) in [
        (&silent, "silent"),
        (&begun, "a begun preface"),
        (&head, "a slow head"),
    ] {
        assert!(
            outcome.answer.is_empty() || outcome.answer.starts_with("HTTP/1.1 408"),
            "{what}: {}",
            outcome.answer
        );
        assert!(
            outcome.took < Duration::from_secs(20),
            "{what}: {:?}",
            outcome.took
        );
        assert!(
            outcome.took > Duration::from_secs(10),
            "{what}: {:?}",
            outcome.took
        );
    }
    // The connection is kept alive briefly after a response and then closed too.
    assert!(idle.answer.starts_with("HTTP/1.1 200"), "{}", idle.answer);
    assert!(idle.took < Duration::from_secs(20), "{:?}", idle.took);
    for (outcome, what) in [
        (&half_body, "half a body"),
        (&half_chunk, "half a chunked body"),
    ] {
        assert!(
            outcome.answer.starts_with("HTTP/1.1 408"),
            "{what}: {}",
            outcome.answer
        );
        assert!(
            outcome.answer.contains("\"code\":\"TIMEOUT\""),
            "{what}: {}",
            outcome.answer
        );
        assert!(
            outcome.took < Duration::from_secs(40),
            "{what}: {:?}",
            outcome.took
        );
    }
    server.local().get("/health").await.expect(200);
}

#[tokio::test]
async fn what_is_no_http_is_ended() {
    let server = TestServer::fresh().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /health HTTP/9.9\r\n\r\n",
        b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    ] {
        let outcome = timed(&server, bytes).await;
        assert!(outcome.answer.is_empty() || outcome.answer.starts_with("HTTP/1.1 400") || outcome.answer.starts_with("HTTP/1.0 400"), "{bytes:?}: {}", outcome.answer);
        assert!(outcome.took < Duration::from_secs(5), "{bytes:?}: {:?}", outcome.took);
    }
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "x".repeat(200_000)
    );
    let outcome = timed(&server, long.as_bytes()).await;
    assert!(!outcome.answer.contains(" 200 "), "{}", outcome.answer);
    let many = "X-Filler: y\r\n".repeat(5_000);
    let outcome = timed(
        &server,
        format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes(),
    )
    .await;
    assert!(!outcome.answer.contains(" 200 "), "{}", outcome.answer);
    server.local().get("/health").await.expect(200);
}
