//! Requests that name two servers.

use gatehouse_testkit::{TestServer, raw, raw_request};

/// `nginx/nginx#803`: `:authority` and Host named different servers, and parts of nginx used different ones.
#[tokio::test]
async fn nginx_803_two_names_for_the_server_are_refused() {
    let server = TestServer::fresh().await;
    let (status, answer) = raw_request(
        server.address(),
        "GET http://localhost/api/gon",
        &["Host: gate.example"],
    )
    .await;
    assert_eq!(status, 400, "{answer}");
    let (status, answer) = raw_request(
        server.address(),
        "GET /api/gon",
        &["Host: localhost", "Host: gate.example"],
    )
    .await;
    assert!(matches!(status, 400 | 401), "{answer}");
    assert_eq!(
        http2_status(&server, "localhost", Some("gate.example")).await,
        400
    );
    assert_eq!(
        http2_status(&server, "gate.example", Some("localhost")).await,
        400
    );
    assert_eq!(http2_status(&server, "gate.example", None).await, 401);
    assert_eq!(
        http2_status(&server, "localhost", Some("localhost")).await,
        200
    );
}

/// GET /api/gon over cleartext HTTP/2 with hand-written frames, because client libraries correct such
/// requests.
async fn http2_status(server: &TestServer, authority: &str, host: Option<&str>) -> u16 {
    let literal = |name: &str, value: &str| {
        let length = |text: &str| u8::try_from(text.len()).unwrap();
        let mut field = vec![0, length(name)];
        field.extend(name.bytes());
        field.push(length(value));
        field.extend(value.bytes());
        field
    };
    let mut block = vec![0x82, 0x86];
    block.extend(literal(":path", "/api/gon"));
    block.extend(literal(":authority", authority));
    block.extend(host.map(|host| literal("host", host)).unwrap_or_default());
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, u8::try_from(block.len()).unwrap(), 1, 5, 0, 0, 0, 1]);
    bytes.extend(block);
    // GOAWAY makes the server close the connection after its response.
    bytes.extend([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let answer = raw(server.address(), &bytes).await;
    first_status(&answer)
}

/// Returns the status in the first HEADERS frame.
fn first_status(mut frames: &[u8]) -> u16 {
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = frames {
        let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        if *kind == 1 {
            return match rest {
                [0x88, ..] => 200,
                [0x8c, ..] => 400,
                [0x8d, ..] => 404,
                // `:status` by its index. The value is three digits or their Huffman code.
                [0x08 | 0x48, 3, digits @ ..] => {
                    std::str::from_utf8(&digits[..3]).unwrap().parse().unwrap()
                }
                // 401 in Huffman code: 011010 00000 00001.
                [0x08 | 0x48, 0x82, 0x68, 0x01, ..] => 401,
                other => panic!(
                    "an answer this test cannot read: {:x?}",
                    &other[..8.min(other.len())]
                ),
            };
        }
        frames = &rest[length..];
    }
    panic!("no answer")
}
