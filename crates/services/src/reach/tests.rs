//! Tests of the parent module.

use super::*;

#[test]
fn a_host_is_private_if_none_of_its_addresses_is_public() {
    let of = |texts: &[&str]| {
        let addresses: Vec<IpAddr> = texts.iter().map(|text| text.parse().unwrap()).collect();
        is_only_private(&addresses)
    };
    assert!(of(&["127.0.0.1"]) && of(&["192.168.1.2", "fd00::1"]) && of(&["100.64.0.1"]));
    assert!(!of(&["8.8.8.8"]) && !of(&["10.0.0.1", "2606:4700::1111"]));
}
