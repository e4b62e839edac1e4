//! Authorization headers: one header with one scheme and one token, or none.
#![no_main]

use gatehouse_auth::bearer::bearer_token;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let headers = gatehouse_fuzz::headers(bytes, &["authorization"]);
    let Some(token) = bearer_token(&headers) else {
        return;
    };
    assert_eq!(headers.get_all("authorization").iter().count(), 1);
    assert!((1..=512).contains(&token.len()));
    assert!(token.bytes().all(|byte| byte.is_ascii_graphic()));
});
