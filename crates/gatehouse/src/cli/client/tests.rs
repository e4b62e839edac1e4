//! Tests of the parent module.

use super::*;
use gatehouse_domain::ErrorCode;
use serde_json::Map;

#[test]
fn refusals_of_both_kinds_are_reported_alike() {
    let http =
        json!({ "error": "The vault is sealed.", "code": "VAULT_SEALED", "status": "sealed" });
    let rpc = json!({ "code": -32009, "message": "The vault is sealed.",
        "data": { "code": "VAULT_SEALED", "status": "sealed" } });
    let Value::Object(http) = http else { panic!() };
    let (http, rpc) = (Refusal::of_http(http), Refusal::of_rpc(rpc));
    assert_eq!(http.to_string(), rpc.to_string());
    assert_eq!(http.details, rpc.details);
    assert!(http.to_string().contains("gatehouse vault unlock"));
}

#[test]
fn loopback_is_known_by_its_text() {
    for (url, expected) in [
        ("http://localhost:1", true),
        ("http://127.9.9.9", true),
        ("http://[::1]:8420", true),
        ("http://10.0.0.1", false),
        ("http://localhost.example.com", false),
    ] {
        assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
    }
}

#[test]
fn a_command_that_runs_for_long_waits_for_what_passes() {
    let refused = |code: ErrorCode| {
        ClientError::Refused(Refusal {
            message: String::new(),
            code: code.name().to_owned(),
            details: Map::new(),
        })
    };
    for code in [
        ErrorCode::StorageUnavailable,
        ErrorCode::VaultSealed,
        ErrorCode::RateLimited,
        ErrorCode::Internal,
    ] {
        assert!(refused(code).outage().is_some(), "{code:?}");
    }
    assert!(refused(ErrorCode::NotFound).outage().is_none());
    let strange = |status| ClientError::Strange {
        url: "http://localhost".parse().unwrap(),
        status,
    };
    assert!(strange(StatusCode::BAD_GATEWAY).outage().is_some());
    assert!(strange(StatusCode::OK).outage().is_none());
}
