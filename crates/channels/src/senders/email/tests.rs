//! Tests of the parent module.

use super::*;
use lettre::transport::smtp::authentication::Credentials;

fn relay(port: u16, credentials: bool) -> Relay {
    Relay {
        own_host: None,
        host: "mail.example.com".to_owned(),
        port,
        credentials: credentials.then(|| Credentials::new("u".to_owned(), "p".to_owned())),
    }
}

#[test]
fn plain_is_only_for_this_machine_and_for_private_relays_without_a_password() {
    let plain = |port, credentials, address: &str| {
        relay(port, credentials).may_be_plain(address.parse().unwrap())
    };
    assert!(
        plain(25, false, "127.0.0.1") && plain(25, true, "127.0.0.1") && plain(587, true, "::1")
    );
    assert!(plain(25, false, "10.0.0.5"));
    assert!(!plain(25, true, "10.0.0.5"));
    assert!(!plain(25, false, "8.8.8.8") && !plain(587, true, "8.8.8.8"));
    assert!(!plain(465, false, "127.0.0.1"));
}
