use super::*;
use url::{Host, Url};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

/// The first and last address of each non-public range. `PUBLIC` contains their public neighbors.
const NOT_PUBLIC: &[&str] = &[
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.0",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.255",
    "192.0.2.0",
    "192.0.2.255",
    "192.88.99.0",
    "192.88.99.255",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",
    "168.63.129.16",
    "100.100.100.200",
    // IPv6 addresses that contain no IPv4 address.
    "::",
    "::1",
    "::2",
    "100::1",
    "100:0:0:1::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff00::1",
    "ff02::1",
    "ffff::1",
    "2001:db8::1",
    "2001:db8:ffff::1",
    "3fff::1",
    "3fff:fff::1",
    "5f00::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1ff::1",
    "64:ff9b:1::1",
    "64:ff9b:2::1",
    "1fff::1",
    "4000::1",
    "fd00:ec2::254",
    // IPv4 inside IPv6
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:0:0:0:1:808:808",
    "2002:808:808::1",
    "2002:7f00:1::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
];

const PUBLIC: &[&str] = &[
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "8.8.8.8",
    "168.63.129.15",
    "2001:200::1",
    "2001:db7::1",
    "2001:db9::1",
    "2003::1",
    "2606:4700::1111",
    "3ffe::1",
    "3fff:1000::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
];

#[test]
fn only_the_public_internet_is_public() {
    for text in NOT_PUBLIC {
        assert!(!Policy::PublicOnly.allows(ip(text)), "{text}");
    }
    for text in PUBLIC {
        assert!(Policy::PublicOnly.allows(ip(text)), "{text}");
    }
}

#[test]
fn metadata_is_refused_by_every_policy_in_every_form() {
    for text in [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.0.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fe80::a9fe:a9fe",
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "2001:0:1:1:1:1:5601:5601",
        "2001:db8::5efe:169.254.169.254",
        "::ffff:100.100.100.200",
    ] {
        assert!(!Policy::NoMetadata.allows(ip(text)), "{text}");
        assert!(!Policy::PublicOnly.allows(ip(text)), "{text}");
    }
}

#[test]
fn the_owners_private_addresses_are_fine() {
    for text in [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "100.100.100.199",
        "::1",
        "fd00::1",
        "fd00:ec2::253",
        "fd00:ec2:1::254",
        "fd20:ce::253",
        "8.8.8.8",
        "2606:4700::1111",
        "::ffff:127.0.0.1",
    ] {
        assert!(Policy::NoMetadata.allows(ip(text)), "{text}");
    }
}

#[test]
fn metadata_names_are_refused_however_they_are_spelled() {
    for name in [
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata",
        "metadata.goog",
    ] {
        assert!(!Policy::NoMetadata.allows_name(name), "{name}");
        assert!(!Policy::PublicOnly.allows_name(name), "{name}");
    }
    for name in [
        "example.com",
        "metadata.example.com",
        "google.internal",
        "xmetadata.goog",
    ] {
        assert!(Policy::PublicOnly.allows_name(name), "{name}");
    }
}

/// The URL crate normalizes every spelling that a C resolver would accept as an address. The check for hosts that
/// are IP addresses therefore covers all of them.
#[test]
fn odd_spellings_of_an_address_become_that_address() {
    for (spelled, address) in [
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f000001/", "127.0.0.1"),
        ("http://0X7F.0.0.1/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://017700000001/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://127.0.1/", "127.0.0.1"),
        ("http://0/", "0.0.0.0"),
        ("http://127.0.0.1./", "127.0.0.1"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1"),
        ("http://１２７.0.0.1/", "127.0.0.1"),
        ("http://127。0。0。1/", "127.0.0.1"),
        ("http://2852039166/", "169.254.169.254"),
        ("http://0xa9fea9fe/", "169.254.169.254"),
        ("http://[::ffff:7f00:1]/", "::ffff:127.0.0.1"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1"),
    ] {
        let url = Url::parse(spelled).unwrap();
        let host = match url.host() {
            Some(Host::Ipv4(v4)) => IpAddr::V4(v4),
            Some(Host::Ipv6(v6)) => IpAddr::V6(v6),
            other => panic!("{spelled}: {other:?}"),
        };
        assert_eq!(host, ip(address), "{spelled}");
        assert!(!Policy::PublicOnly.allows(host), "{spelled}");
    }
    for no_url in [
        "http://256.0.0.1/",
        "http://1.2.3.4.5/",
        "http://0x100000000/",
        "http://[fe80::1%25eth0]/",
    ] {
        assert!(Url::parse(no_url).is_err(), "{no_url}");
    }
}
