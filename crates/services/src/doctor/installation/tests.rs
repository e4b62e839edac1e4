//! Tests of the parent module.

use super::clock::{clock_finding, clock_of_node};
use super::*;
use gatehouse_config::Vault;
use gatehouse_domain::Timestamp;
use gatehouse_secrets::Status;

#[test]
fn the_clock_is_compared_with_the_version_and_the_audit_log() {
    let at = Timestamp::from_millis;
    assert!(!clock_finding(at(NOT_BEFORE_MS - 1), None).ok);
    assert!(clock_finding(at(NOT_BEFORE_MS), None).ok);
    let newest = Some(at(NOT_BEFORE_MS + CLOCK_SLACK_MS));
    assert!(clock_finding(at(NOT_BEFORE_MS), newest).ok);
    let newest = Some(at(NOT_BEFORE_MS + CLOCK_SLACK_MS + 1));
    assert!(!clock_finding(at(NOT_BEFORE_MS), newest).ok);
}

#[test]
fn a_clock_that_differs_from_the_database_by_more_than_twenty_seconds_is_reported() {
    let limit = 20_000;
    for close in [0, 1, limit, -limit] {
        assert_eq!(clock_of_node(close), None, "{close}");
    }
    for (ahead_ms, words) in [
        (limit + 1, "21 seconds ahead of the"),
        (30_000, "30 seconds ahead of the"),
        (-limit - 1, "21 seconds behind the"),
        (i64::MIN, "seconds behind the"),
    ] {
        let check = clock_of_node(ahead_ms).unwrap();
        assert_eq!((check.id, check.ok), ("clock", false));
        assert!(check.message.contains(words), "{}", check.message);
        assert!(check.hint.unwrap().contains("NTP"));
    }
}

#[test]
fn a_disabled_vault_is_reported() {
    assert!(vault(Status::Unsealed).ok);
    for status in [Status::Sealed, Status::Disabled] {
        assert!(!vault(status).ok);
    }
    assert!(auth_disabled(false, DisabledScope::All).ok);
    assert!(!auth_disabled(true, DisabledScope::Local).ok);
}

#[tokio::test]
async fn an_open_data_directory_is_reported() {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let base = std::env::temp_dir().join(format!("gh-doctor-{}", std::process::id()));
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&base)
        .unwrap();
    assert!(data_directory(&base).await.ok);
    std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert!(!data_directory(&base).await.ok);
    std::fs::remove_dir(&base).unwrap();
    assert!(!data_directory(&base).await.ok);
}

#[test]
fn a_node_on_postgresql_without_a_cluster_secret_gets_a_hint() {
    let mut settings = Vault {
        plaintext_while_sealed: false,
        hold_while_sealed: false,
        keep_plaintext_provider_keys: false,
        share_unseal: true,
        cluster_secret: None,
    };
    let alone = shared_unseal(true, Status::Unsealed, &settings).unwrap();
    assert!(alone.ok && alone.hint.unwrap().contains("vault.cluster_secret"));
    assert_eq!(shared_unseal(false, Status::Unsealed, &settings), None);
    assert_eq!(shared_unseal(true, Status::Uninitialized, &settings), None);
    settings.cluster_secret = Some("a secret of all nodes".into());
    let shared = shared_unseal(true, Status::Unsealed, &settings).unwrap();
    assert!(shared.ok && shared.hint.is_none());
}
