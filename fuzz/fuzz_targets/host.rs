//! Host headers: a parsed host is formatted as the same host, and a loopback name is never one that a browser
//! would resolve to another address.
#![no_main]

use gatehouse_auth::host::{Authority, Host};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(authority) = Authority::parse(bytes) else {
        return;
    };
    let written = authority.to_string();
    let again = Authority::parse(written.as_bytes()).expect("what we write we read");
    assert_eq!(again, authority, "{written}");
    assert_ne!(authority.port, Some(0));
    if let Host::Name(name) = &authority.host {
        assert!(!name.bytes().any(|byte| byte.is_ascii_uppercase()));
        assert!(!name.ends_with('.') && name.len() <= 253);
        let loopback = name == "localhost" || name.ends_with(".localhost");
        assert_eq!(authority.host.is_loopback(), loopback);
        assert!(
            name.parse::<std::net::IpAddr>().is_err(),
            "an address passes for a name"
        );
    }
});
