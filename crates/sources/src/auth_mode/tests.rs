//! Tests of the parent module.

use super::*;

#[test]
fn names_and_aliases_are_read_and_the_name_is_written() {
    let mut names = Vec::new();
    for mode in AuthMode::all() {
        for name in [Some(mode.as_str()), mode.alias()].into_iter().flatten() {
            let json = format!("\"{name}\"");
            assert_eq!(name.parse(), Ok(*mode));
            assert_eq!(serde_json::from_str::<AuthMode>(&json).unwrap(), *mode);
            names.push(name);
        }
        let written = serde_json::to_string(mode).unwrap();
        assert_eq!(written, format!("\"{mode}\""));
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "no name is used twice");
}

#[test]
fn the_vendors_names_are_those_of_the_contract() {
    for (alias, name) in [
        ("github_hmac_sha256", "codehost_a_hmac_sha256"),
        ("gitlab_token", "codehost_b_token"),
        ("stripe_webhook_signature", "payments_webhook_signature"),
        ("linear_webhook_signature", "tracker_a_webhook_signature"),
        ("pagerduty_v2_signature", "incident_v2_signature"),
        ("sentry_webhook_signature", "errors_webhook_signature"),
    ] {
        let mode: AuthMode = alias.parse().unwrap();
        assert_eq!((mode.as_str(), mode.alias()), (name, Some(alias)));
    }
}

#[test]
fn other_names_are_refused() {
    for name in ["", "None", "github", "codehost_a", "static-header", " none"] {
        assert_eq!(name.parse::<AuthMode>(), Err(UnknownAuthMode));
    }
    let error = serde_json::from_str::<AuthMode>("\"github\"").unwrap_err();
    assert!(
        error.to_string().contains("expected one of `none`, "),
        "{error}"
    );
}

#[test]
fn a_stored_mode_whose_file_is_gone_keeps_its_name_and_verifies_nothing() {
    use crate::verify::{VerifyError, VerifyInput, prove};
    let stored = |name: &str| AuthMode::stored(&mut serde_json::Deserializer::from_str(name));
    assert_eq!(stored("\"bearer\"").unwrap(), AuthMode::BEARER);
    let gone = stored("\"acme_signature\"").unwrap();
    assert_eq!(serde_json::to_string(&gone).unwrap(), "\"acme_signature\"");
    assert!(gone.needs_secret() && gone.is_unknown());
    assert!(AuthMode::all().iter().all(|mode| !mode.is_unknown()));
    let headers =
        [("x-acme-signature", "s"), ("authorization", "Bearer s")].map(|(name, value)| {
            (
                name.parse::<http::HeaderName>().unwrap(),
                value.parse().unwrap(),
            )
        });
    let headers = headers.into_iter().collect();
    let refused = prove(&VerifyInput {
        mode: gone,
        header: None,
        secrets: &["s"],
        headers: &headers,
        body: b"{}",
        url: "",
        now_ms: 0,
        tracker_tolerance_seconds: 300,
    });
    assert_eq!(refused.map(drop), Err(VerifyError::Missing));
    assert!("acme_signature".parse::<AuthMode>().is_err());
}
