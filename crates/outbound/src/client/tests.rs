//! Tests of the parent module.

use super::*;

fn verdict(policy: Policy, text: &str) -> Result<(), OutboundError> {
    check_url(policy, &Url::parse(text).unwrap())
}

#[test]
fn a_url_is_http_has_no_user_and_no_refused_host() {
    for url in [
        "http://example.com/x?y",
        "https://8.8.8.8:8443/",
        "https://[2606:4700::1111]/",
    ] {
        assert_eq!(verdict(Policy::PublicOnly, url), Ok(()), "{url}");
    }
    for url in [
        "ftp://example.com/",
        "file:///etc/passwd",
        "data:text/plain,x",
        "unix:/x",
        "http://user@example.com/",
        "http://:secret@example.com/",
    ] {
        assert!(
            matches!(
                verdict(Policy::NoMetadata, url),
                Err(OutboundError::BadUrl(_))
            ),
            "{url}"
        );
    }
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]:8080/",
        "http://[::ffff:10.0.0.1]/",
    ] {
        assert_eq!(
            verdict(Policy::PublicOnly, url),
            Err(OutboundError::RefusedAddress),
            "{url}"
        );
        assert_eq!(verdict(Policy::NoMetadata, url), Ok(()), "{url}");
    }
    for url in [
        "http://169.254.169.254/latest",
        "http://metadata.google.internal./",
        "http://[fd00:ec2::254]/",
        "http://0xa9fea9fe/",
    ] {
        assert_eq!(
            verdict(Policy::NoMetadata, url),
            Err(OutboundError::RefusedAddress),
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_socket_is_refused_where_a_request_is() {
    let outbound = Outbound::new(OutboundSettings::default()).unwrap();
    let connect = async |url: &str| {
        let url = Url::parse(url).unwrap();
        outbound.connect_socket(&url, 1024).await.map(drop)
    };
    for url in [
        "ws://169.254.169.254/",
        "wss://metadata.google.internal/",
        "ws://[fd00:ec2::254]:80/",
    ] {
        assert_eq!(
            connect(url).await,
            Err(OutboundError::RefusedAddress),
            "{url}"
        );
    }
    for url in ["http://example.com/", "wss://user@example.com/"] {
        let refused = connect(url).await;
        assert!(matches!(refused, Err(OutboundError::BadUrl(_))), "{url}");
    }
    // The server that answers is not a WebSocket server.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        // A response before the request would cause a different error.
        let mut request = [0; 1024];
        tokio::io::AsyncReadExt::read(&mut stream, &mut request)
            .await
            .unwrap();
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, response)
            .await
            .unwrap();
        stream
    };
    let (refused, _stream) = tokio::join!(connect(&url), answer);
    assert_eq!(refused, Err(OutboundError::BadResponse));
}
