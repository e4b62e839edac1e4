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
