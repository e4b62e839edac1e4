//! Tests of the parent module.

use super::*;
use http::HeaderValue;
use proptest::prelude::*;

const PLAIN: LocalitySettings = LocalitySettings {
    behind_proxy: false,
    trust_docker_loopback: false,
};
const DOCKER: LocalitySettings = LocalitySettings {
    behind_proxy: false,
    trust_docker_loopback: true,
};

fn decide(settings: LocalitySettings, peer: &str, headers: &[(&str, &str)]) -> Locality {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    locality(
        &settings,
        peer.parse().unwrap(),
        &map,
        &Uri::from_static("/"),
    )
}

fn failed(locality: Locality) -> u8 {
    LocalityReport::from(locality)
        .failed_check
        .map_or(0, FailedCheck::number)
}

#[test]
fn local_needs_all_four_checks() {
    let host = [("host", "localhost:8420")];
    for peer in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(decide(PLAIN, peer, &host), Locality::Local, "{peer}");
    }
    assert_eq!(decide(PLAIN, "127.0.0.1", &[]), Locality::Local);
    for peer in ["172.17.0.1", "::2", "::ffff:172.17.0.1", "0.0.0.0"] {
        assert_eq!(failed(decide(PLAIN, peer, &host)), 4, "{peer}");
    }
    let proxied = LocalitySettings {
        behind_proxy: true,
        trust_docker_loopback: true,
    };
    assert_eq!(failed(decide(proxied, "127.0.0.1", &host)), 1);
}

#[test]
fn a_forwarding_header_makes_it_remote_whatever_it_says() {
    for name in [
        "X-Forwarded-For",
        "X-Real-IP",
        "CF-Connecting-IP",
        "Forwarded",
    ] {
        for value in ["", "127.0.0.1", "for=127.0.0.1", "\u{ff}"] {
            for settings in [PLAIN, DOCKER] {
                let headers = [("host", "localhost"), (name, value)];
                assert_eq!(failed(decide(settings, "127.0.0.1", &headers)), 2, "{name}");
            }
        }
    }
    let headers = [("host", "localhost"), ("x-forwarded-proto", "https")];
    assert_eq!(decide(PLAIN, "127.0.0.1", &headers), Locality::Local);
}

#[test]
fn a_host_that_is_not_loopback_is_remote() {
    for host in [
        "example.com",
        "localhost.evil.com",
        "0x7f.1",
        "localhost:99999",
        "",
        "a@b",
    ] {
        assert_eq!(
            failed(decide(PLAIN, "127.0.0.1", &[("host", host)])),
            3,
            "{host}"
        );
    }
    let two = [("host", "localhost"), ("host", "localhost")];
    assert_eq!(failed(decide(PLAIN, "127.0.0.1", &two)), 3);
}

#[test]
fn trusting_docker_relaxes_check_4_alone() {
    assert_eq!(
        decide(DOCKER, "172.17.0.1", &[("host", "localhost")]),
        Locality::Local
    );
    assert_eq!(
        failed(decide(DOCKER, "172.17.0.1", &[("host", "gate.lan")])),
        3
    );
}

#[test]
fn the_report_names_the_check() {
    let json = |locality: Locality| serde_json::to_value(LocalityReport::from(locality)).unwrap();
    assert_eq!(json(Locality::Local), serde_json::json!({ "local": true }));
    for (failed_check, name) in [
        (FailedCheck::BehindProxy, "behind_proxy"),
        (FailedCheck::ForwardingHeader, "forwarding_header"),
        (FailedCheck::Host, "host"),
        (FailedCheck::PeerAddress, "peer_address"),
    ] {
        let expected = serde_json::json!({ "local": false, "failed_check": name });
        assert_eq!(json(Locality::Remote { failed_check }), expected);
    }
}

proptest! {
    #[test]
    fn any_host_bytes_are_decided(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            let mut headers = HeaderMap::new();
            headers.insert("host", value);
            let peer = "127.0.0.1".parse().unwrap();
            let found = locality(&PLAIN, peer, &headers, &Uri::from_static("/"));
            prop_assert!(matches!(failed(found), 0 | 3));
        }
    }
}
