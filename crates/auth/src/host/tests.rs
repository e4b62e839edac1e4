//! Parsing of hosts and authorities.

use super::*;
use http::{HeaderMap, HeaderValue, Uri, header};
use proptest::prelude::*;

fn parse(text: &str) -> Result<Authority<'_>, InvalidAuthority> {
    Authority::parse(text.as_bytes())
}

#[test]
fn loopback_is_decided_by_the_text() {
    for text in [
        "localhost",
        "LOCALHOST",
        "LocalHost.",
        "localhost:8420",
        "localhost.:8420",
        "localhost:1",
        "localhost:65535",
        "gate.localhost",
        "a.b.LOCALHOST.",
        "127.0.0.1",
        "127.0.0.1.",
        "127.0.0.1:8420",
        "127.255.255.254",
        "127.0.0.0",
        "[::1]",
        "[::1]:8420",
        "[0:0:0:0:0:0:0:1]",
        "::1",
        "[::ffff:127.0.0.1]",
        "[::FFFF:7f00:1]:80",
    ] {
        assert!(parse(text).is_ok_and(|a| a.host.is_loopback()), "{text}");
    }
}

#[test]
fn a_real_host_that_only_resembles_loopback_is_not() {
    for text in [
        "localhost.evil.com",
        "127.0.0.1.nip.io",
        "localhost-evil",
        "evillocalhost",
        "localhost.localdomain",
        "128.0.0.1",
        "126.255.255.255",
        "0.0.0.0",
        "192.168.0.1",
        "[::2]",
        "[::]",
        "[::ffff:10.0.0.1]",
        "[::127.0.0.1]",
        "[fe80::1]",
        "example.com",
        "ip6-localhost",
        "::1:8420",
    ] {
        assert!(parse(text).is_ok_and(|a| !a.host.is_loopback()), "{text}");
    }
}

#[test]
fn what_is_no_host_is_refused() {
    let long_label = format!("{}.com", "a".repeat(64));
    let long_name = format!("{}a.com", "aaaaaaaaa.".repeat(25));
    for text in [
        "",
        ".",
        "..",
        "localhost..",
        ".localhost",
        "a..localhost",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:99999",
        "localhost:80:80",
        "localhost:+80",
        "localhost:-1",
        "localhost: 80",
        "localhost:8x",
        "localhost@evil",
        "localhost@evil.com:80",
        "user:pass@localhost",
        "evil.com#localhost",
        "evil.com/localhost",
        "evil.com\\localhost",
        "localhost,evil.com",
        "localhost evil.com",
        " localhost",
        "localhost ",
        "local%68ost",
        "localhost%00",
        "localhost\0",
        "lоcalhost",
        "0x7f.1",
        "0x7f000001",
        "0X7F.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.01",
        "127.0.0.256",
        "1.2.3.4.5",
        "evil.1",
        "[::1",
        "::1]",
        "[::1]x",
        "[::1].",
        "[::1]:",
        "[::1%25lo]",
        "[::1%lo]",
        "[127.0.0.1]",
        "[localhost]",
        "[]",
        "*",
        &long_label,
        &long_name,
    ] {
        assert_eq!(parse(text), Err(InvalidAuthority), "{text}");
    }
}

#[test]
fn names_have_one_spelling_and_the_longest_allowed_fits() {
    assert_eq!(parse("Gate.Example.COM.:80"), parse("gate.example.com:80"));
    assert!(matches!(
        parse("gate.example").unwrap().host,
        Host::Name(Cow::Borrowed("gate.example"))
    ));
    let longest = format!("{}aaa", "aaaaaaaaa.".repeat(25));
    assert_eq!(longest.len(), MAX_NAME_BYTES);
    assert!(parse(&longest).is_ok());
    assert!(parse(&format!("{}.com", "a".repeat(63))).is_ok());
    assert_eq!(
        parse("[2001:DB8::1]:8443").unwrap().to_string(),
        "[2001:db8::1]:8443"
    );
}

fn find(target: &str, hosts: &[&str]) -> &'static str {
    let uri: Uri = target.parse().unwrap();
    let mut headers = HeaderMap::new();
    for host in hosts {
        headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
    }
    match request_authority(&headers, &uri) {
        HostFinding::Absent => "absent",
        HostFinding::Conflict => "conflict",
        HostFinding::Unparsable => "unparsable",
        HostFinding::Found(_) => "found",
    }
}

#[test]
fn host_and_authority_must_agree() {
    assert_eq!(find("/x", &[]), "absent");
    assert_eq!(find("/x", &["localhost"]), "found");
    assert_eq!(find("/x", &[""]), "unparsable");
    assert_eq!(find("/x", &["localhost", "localhost"]), "conflict");
    assert_eq!(find("http://localhost:8420/x", &[]), "found");
    assert_eq!(
        find("http://localhost:8420/x", &["LOCALHOST.:8420"]),
        "found"
    );
    assert_eq!(find("https://example.com/x", &["example.com:443"]), "found");
    assert_eq!(
        find("http://example.com/x", &["example.com:443"]),
        "conflict"
    );
    assert_eq!(find("http://localhost:8420/x", &["localhost"]), "conflict");
    assert_eq!(find("http://localhost/x", &["evil.com"]), "conflict");
    assert_eq!(find("http://localhost/x", &[""]), "conflict");
    assert_eq!(find("http://localhost@evil.com/x", &[]), "unparsable");
    assert_eq!(find("http://a@evil.com/x", &["A@evil.com"]), "unparsable");
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(authority) = Authority::parse(&bytes) {
            let text = authority.to_string();
            prop_assert_eq!(Authority::parse(text.as_bytes()), Ok(authority.clone().into_owned()));
        }
    }

    #[test]
    fn only_what_ends_in_localhost_is_a_loopback_name(text in "[a-zA-Z0-9.:@\\[\\]-]{0,20}") {
        if let Ok(Authority { host: Host::Name(name), .. }) = Authority::parse(text.as_bytes()) {
            let loopback = Host::Name(name.clone()).is_loopback();
            prop_assert_eq!(loopback, name.split('.').next_back() == Some("localhost"));
        }
    }
}
