//! Cookie headers: each value is plain text that the gateway could have issued.
#![no_main]

use gatehouse_auth::cookie::{has_session_cookie, session_values};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let headers = gatehouse_fuzz::headers(bytes, &["cookie"]);
    let values: Vec<&str> = session_values(&headers).collect();
    assert_eq!(has_session_cookie(&headers), !values.is_empty());
    for value in values {
        assert!((1..=128).contains(&value.len()));
        assert!(
            value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
    }
});
