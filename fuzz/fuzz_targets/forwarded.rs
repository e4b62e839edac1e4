//! Forwarding headers: an untrusted client cannot change its address, and no client becomes local by sending
//! one.
#![no_main]

use gatehouse_auth::client_address::{Client, ProxyTrust, client, request_is_https};
use gatehouse_auth::locality::{FORWARDING_HEADERS, LocalitySettings, locality};
use http::{HeaderName, Uri};
use libfuzzer_sys::fuzz_target;
use std::net::{IpAddr, Ipv4Addr};

const NAMES: [&str; 7] = [
    "x-forwarded-for",
    "forwarded",
    "x-real-ip",
    "cf-connecting-ip",
    "x-forwarded-proto",
    "host",
    "x-forwarded-for",
];

fuzz_target!(|bytes: &[u8]| {
    let (choice, rest) = gatehouse_fuzz::split(bytes);
    let headers = gatehouse_fuzz::headers(rest, &NAMES);
    let peer = IpAddr::V4(Ipv4Addr::new(
        if choice & 1 == 0 { 127 } else { 10 },
        0,
        0,
        1,
    ));
    let header = if choice & 2 == 0 {
        "x-forwarded-for"
    } else {
        "forwarded"
    };
    let trusted = if choice & 4 == 0 {
        vec![]
    } else {
        vec!["10.0.0.0/8", "2001:db8::/32"]
    };
    let trust = ProxyTrust {
        behind_proxy: choice & 8 != 0,
        trusted_cidrs: trusted
            .iter()
            .map(|cidr| cidr.parse().expect("a network"))
            .collect(),
        header: HeaderName::from_static(header),
    };
    let found = client(&trust, peer, &headers);
    let trusts = trust.trusted_cidrs.iter().any(|cidr| cidr.contains(peer));
    let believes = trusts || (trust.behind_proxy && trust.trusted_cidrs.is_empty());
    if !believes {
        assert_eq!(
            found,
            Client::at(peer),
            "an untrusted peer chose its address"
        );
        assert!(trust.behind_proxy || !request_is_https(false, &trust, peer, &headers));
    }
    assert!(found.limit_factor == 1 || found.limit_factor == Client::PEER_LIMIT_FACTOR);

    let settings = LocalitySettings {
        behind_proxy: trust.behind_proxy,
        trust_docker_loopback: choice & 16 != 0,
    };
    let is_local = locality(&settings, peer, &headers, &Uri::from_static("/")).is_local();
    let forwarded = FORWARDING_HEADERS
        .iter()
        .any(|name| headers.contains_key(*name));
    assert!(!(is_local && (forwarded || settings.behind_proxy)));
});
