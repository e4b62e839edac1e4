//! The client address and the TLS check, by headers and proxy configuration.

use super::*;
use proptest::prelude::*;

const PROXY: &str = "10.0.0.1";

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn headers(name: &str, lines: &[&str]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for line in lines {
        let name: HeaderName = name.parse().unwrap();
        map.append(name, HeaderValue::from_bytes(line.as_bytes()).unwrap());
    }
    map
}

fn trusting(header: &str) -> ProxyTrust {
    ProxyTrust {
        behind_proxy: false,
        trusted_cidrs: vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()],
        header: header.parse().unwrap(),
    }
}

fn client_ip(header: &str, lines: &[&str]) -> IpAddr {
    client(&trusting(header), ip(PROXY), &headers(header, lines)).ip
}

#[test]
fn without_trust_only_the_peer_counts() {
    let map = headers("x-forwarded-for", &["192.0.2.9"]);
    let direct = client(&ProxyTrust::default(), ip("::ffff:198.51.100.1"), &map);
    assert_eq!(direct, Client::at(ip("198.51.100.1")));
    assert_eq!((direct.limit_factor, direct.peer_bucket), (1, None));
    let stranger = client(&trusting("x-forwarded-for"), ip("198.51.100.1"), &map);
    assert_eq!(stranger, Client::at(ip("198.51.100.1")));
    let behind = ProxyTrust {
        behind_proxy: true,
        ..trusting("x-forwarded-for")
    };
    assert_eq!(
        client(&behind, ip("198.51.100.1"), &map),
        Client::at(ip("198.51.100.1"))
    );
}

#[test]
fn the_right_most_address_outside_the_list_counts() {
    let cases: &[(&[&str], &str)] = &[
        (&["192.0.2.1"], "192.0.2.1"),
        (&["1.1.1.1, 192.0.2.1"], "192.0.2.1"),
        (&["1.1.1.1,192.0.2.1 , 10.9.9.9"], "192.0.2.1"),
        (&["1.1.1.1", "192.0.2.1", "10.9.9.9"], "192.0.2.1"),
        (&["1.1.1.1, 10.1.1.1, fd00::1"], "1.1.1.1"),
        (&["192.0.2.1:4711"], "192.0.2.1"),
        (&["2001:db8::1"], "2001:db8::1"),
        (&["[2001:db8::1]:443"], "2001:db8::1"),
        (&["[2001:db8::1]"], "2001:db8::1"),
        (&["::ffff:192.0.2.1"], "192.0.2.1"),
        (&["garbage, 192.0.2.1"], "192.0.2.1"),
        (&["\u{e9}, 192.0.2.1"], "192.0.2.1"),
        (&["\", 192.0.2.1"], "192.0.2.1"),
    ];
    for (lines, expected) in cases {
        assert_eq!(
            client_ip("x-forwarded-for", lines),
            ip(expected),
            "{lines:?}"
        );
    }
}

#[test]
fn garbage_at_the_right_end_leaves_the_peer() {
    let cases: &[&[&str]] = &[
        &[],
        &[""],
        &["192.0.2.1,"],
        &["192.0.2.1", ""],
        &["192.0.2.1, unknown"],
        &["192.0.2.1, unix:"],
        &["192.0.2.1, 1.2.3"],
        &["192.0.2.1, 1.2.3.4:x"],
        &["192.0.2.1, 1.2.3.4:"],
        &["192.0.2.1, 1.2.3.4:123456"],
        &["192.0.2.1, [::1"],
        &["192.0.2.1, [::1]x"],
        &["192.0.2.1, fe80::1%eth0"],
        &["192.0.2.1, 0x7f.1"],
        &["192.0.2.1, garbage, 10.2.2.2"],
        &["10.1.1.1, 10.2.2.2"],
    ];
    for lines in cases {
        assert_eq!(client_ip("x-forwarded-for", lines), ip(PROXY), "{lines:?}");
    }
}

#[test]
fn only_the_named_header_is_read() {
    let mut map = headers("x-forwarded-for", &["192.0.2.1"]);
    map.insert("x-real-ip", HeaderValue::from_static("192.0.2.2"));
    map.insert("cf-connecting-ip", HeaderValue::from_static("2001:db8::3"));
    for (header, expected) in [
        ("x-forwarded-for", "192.0.2.1"),
        ("x-real-ip", "192.0.2.2"),
        ("cf-connecting-ip", "2001:db8::3"),
        ("true-client-ip", PROXY),
        ("forwarded", PROXY),
    ] {
        assert_eq!(
            client(&trusting(header), ip(PROXY), &map).ip,
            ip(expected),
            "{header}"
        );
    }
}

#[test]
fn forwarded_is_read_as_rfc_7239_writes_it() {
    let cases: &[(&[&str], &str)] = &[
        (&["for=192.0.2.43"], "192.0.2.43"),
        (&["For=192.0.2.43;proto=http;by=203.0.113.43"], "192.0.2.43"),
        (&["proto=http; FOR=\"192.0.2.43:47011\" ;"], "192.0.2.43"),
        (&["for=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17"),
        (&["for=\"[2001:db8:cafe::17]:_port\""], "2001:db8:cafe::17"),
        (&["for=1.1.1.1, for=192.0.2.1, for=10.3.3.3"], "192.0.2.1"),
        (&["for=192.0.2.1;by=\"_a,b;c\", for=10.3.3.3"], "192.0.2.1"),
        (&["for=\"1.1.1.1, for=192.0.2.1"], "192.0.2.1"),
        (&["for=\"x, for=\"[2001:db8::1]\""], "2001:db8::1"),
        (&["for=1.1.1.1\\\", for=192.0.2.1"], "192.0.2.1"),
        (&["for=1.1.1.1", "for=192.0.2.1"], "192.0.2.1"),
        (&["for=1.1.1.1, for=unknown"], PROXY),
        (&["for=1.1.1.1, for=_hidden"], PROXY),
        (&["for=1.1.1.1, for=\"_SEVKISEK\""], PROXY),
        (&["for=1.1.1.1, proto=https"], PROXY),
        (&["for=1.1.1.1, for=1.1.1.2;for=192.0.2.1"], PROXY),
        (&["for=1.1.1.1, for=\"192.0.2.1"], PROXY),
        (&["for=1.1.1.1, for=\"192.0.2\\.1\""], PROXY),
        (&["1.1.1.1"], PROXY),
        (&["for"], PROXY),
        (&[""], PROXY),
    ];
    for (lines, expected) in cases {
        assert_eq!(client_ip("forwarded", lines), ip(expected), "{lines:?}");
    }
}

#[test]
fn behind_a_proxy_without_a_list_both_client_and_proxy_count() {
    let trust = ProxyTrust {
        behind_proxy: true,
        ..ProxyTrust::default()
    };
    let peer = ip("172.17.0.1");
    let seen = client(
        &trust,
        peer,
        &headers("x-forwarded-for", &["1.1.1.1, 192.0.2.1"]),
    );
    assert_eq!((seen.ip, seen.limit_factor), (ip("192.0.2.1"), 1));
    assert_eq!(
        seen.vouched_ip, peer,
        "nobody vouches for what the client may have written"
    );
    assert_eq!(seen.peer_bucket, Some(ClientKey::of(peer)));
    for lines in [&[][..], &[""], &["192.0.2.1, nonsense"], &["192.0.2.1", ""]] {
        let bare = client(&trust, peer, &headers("x-forwarded-for", lines));
        assert_eq!(
            (bare.ip, bare.limit_factor, bare.peer_bucket),
            (peer, 10, None),
            "{lines:?}"
        );
    }
    let other = ProxyTrust {
        header: "x-real-ip".parse().unwrap(),
        ..trust
    };
    assert_eq!(
        client(&other, peer, &headers("x-real-ip", &["192.0.2.1"])).ip,
        peer
    );
}

#[test]
fn https_is_ours_or_a_believed_proxys() {
    let map = |value: &str| headers("x-forwarded-proto", &[value]);
    let trust = trusting("x-forwarded-for");
    let behind = ProxyTrust {
        behind_proxy: true,
        ..ProxyTrust::default()
    };
    let stranger = ip("198.51.100.1");
    assert!(request_is_https(
        true,
        &ProxyTrust::default(),
        stranger,
        &HeaderMap::new()
    ));
    assert!(request_is_https(false, &trust, ip(PROXY), &map("https")));
    assert!(request_is_https(false, &behind, stranger, &map("HTTPS")));
    assert!(request_is_https(
        false,
        &behind,
        stranger,
        &map("https, http")
    ));
    assert!(!request_is_https(false, &trust, stranger, &map("https")));
    assert!(!request_is_https(
        false,
        &ProxyTrust::default(),
        ip("127.0.0.1"),
        &map("https")
    ));
    assert!(!request_is_https(false, &behind, stranger, &map("http")));
    assert!(!request_is_https(false, &behind, stranger, &map("httpsx")));
    assert!(!request_is_https(
        false,
        &behind,
        stranger,
        &HeaderMap::new()
    ));
}

proptest! {
    #[test]
    fn any_bytes_name_a_client(
        lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..4),
        forwarded in any::<bool>(),
    ) {
        let name = if forwarded { "forwarded" } else { "x-forwarded-for" };
        let mut map = HeaderMap::new();
        for line in &lines {
            if let Ok(value) = HeaderValue::from_bytes(line) {
                map.append(name, value);
            }
        }
        client(&trusting(name), ip(PROXY), &map);
    }

    #[test]
    fn nothing_on_the_left_changes_what_the_proxy_appended(left in "[ -~]{0,40}") {
        let plain = format!("{left}, 192.0.2.1");
        prop_assert_eq!(client_ip("x-forwarded-for", &[&plain]), ip("192.0.2.1"));
        let element = format!("{left}, for=\"192.0.2.1:80\";proto=https");
        prop_assert_eq!(client_ip("forwarded", &[&element]), ip("192.0.2.1"));
    }
}
