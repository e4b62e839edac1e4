//! Tests of the parent module.

use super::*;
use serde_json::json;

#[test]
fn credentials_are_form_encoded() {
    let value = basic("own.id-1_a*", "s %/+~").unwrap();
    let text = value.to_str().unwrap().strip_prefix("Basic ").unwrap();
    let pair = BASE64.decode(text.as_bytes()).unwrap();
    assert_eq!(pair, b"own.id-1_a*:s+%25%2F%2B%7E");
}

#[test]
fn lifetimes_are_bounded() {
    for (given, seconds) in [
        (json!(3600), Some(3600)),
        (json!("60"), Some(60)),
        (json!(1.9), Some(1)),
        (json!(0), None),
        (json!(-5), None),
        (json!("soon"), None),
        (json!(null), None),
        (json!(MAX_LIFETIME_SECONDS), Some(MAX_LIFETIME_SECONDS)),
        (json!(MAX_LIFETIME_SECONDS + 1), Some(MAX_LIFETIME_SECONDS)),
        (json!(1e300), Some(MAX_LIFETIME_SECONDS)),
        (json!(u64::MAX), Some(MAX_LIFETIME_SECONDS)),
    ] {
        assert_eq!(lifetime(&given), seconds, "{given}");
    }
}

#[test]
fn only_invalid_grant_ends_an_authorization() {
    let of = |status, json| read(&Answer { status, json }).err();
    let error = |code| Some(json!({ "error": code }));
    assert!(matches!(
        of(400, error("invalid_grant")),
        Some(OAuthError::InvalidGrant)
    ));
    assert!(matches!(
        of(401, error("invalid_client")),
        Some(OAuthError::Refused(_))
    ));
    assert!(matches!(
        of(503, error("invalid_grant")),
        Some(OAuthError::Status(503))
    ));
    assert!(matches!(
        of(429, error("slow_down")),
        Some(OAuthError::Status(429))
    ));
    assert!(matches!(
        of(400, error("<b>")),
        Some(OAuthError::Status(400))
    ));
    assert!(matches!(of(200, None), Some(OAuthError::BadAnswer)));
    for length in [MAX_TOKEN_BYTES, MAX_TOKEN_BYTES + 1] {
        let token = "x".repeat(length);
        let granted = of(
            200,
            Some(json!({ "access_token": token, "token_type": "bearer" })),
        );
        assert_eq!(granted.is_none(), length == MAX_TOKEN_BYTES);
    }
}
