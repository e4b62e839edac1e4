//! Disabling and enabling the vault.

use crate::harness::{OTHER, PASSWORD, actor, code, installations, secret, sqlite_home};
use gatehouse_domain::ErrorCode::{Conflict, Internal, VaultBadKey, VaultSealed};
use gatehouse_secrets::{DisableReport, Status, VaultError};
use secrecy::ExposeSecret;
use serde_json::json;

#[tokio::test]
async fn disable_decrypts_everything_and_new_writes_stay_plaintext() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.set("A", "value").await;
        node.secrets.generate_ssh_key(actor(), "k").await.unwrap();
        let report = node.secrets.disable(actor(), None).await.unwrap();
        let expected = DisableReport {
            env_vars: 1,
            ssh_keys: 1,
            ..DisableReport::default()
        };
        assert_eq!(report, expected);
        assert_eq!(node.secrets.status(), Status::Disabled);
        assert_eq!(node.setting("auth.vault_enabled").await, Some(json!(false)));
        assert_eq!(node.rows().await[0].value, "value");
        let item = node
            .secrets
            .set_env_variable(actor(), "B", secret("b"), None)
            .await
            .unwrap();
        assert!(item.encrypted == 0 && item.warning.is_none());
        assert_eq!(node.encrypted().await, 0);
        assert!(node.record().await.is_some());
        assert_eq!(code(node.unlock(PASSWORD).await), Conflict);
        assert_eq!(
            code(node.secrets.rotate(actor(), secret(PASSWORD)).await),
            Conflict
        );
        let made = node.secrets.initialize(actor(), secret(PASSWORD)).await;
        assert_eq!(code(made), Conflict);
        let again = node.secrets.disable(actor(), None).await.unwrap();
        assert_eq!(again, DisableReport::default());
        node.stop().await;

        // The flag in the database takes precedence over the file after a restart.
        let node = installation.start().await;
        assert_eq!(node.secrets.status(), Status::Disabled);
        assert_eq!(node.value("A").await, "value");
    }
}

#[tokio::test]
async fn a_sealed_vault_is_disabled_with_the_password() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.set("A", "value").await;
        node.secrets.seal(actor()).await.unwrap();
        assert_eq!(code(node.secrets.disable(actor(), None).await), VaultSealed);
        let wrong = node.secrets.disable(actor(), Some(secret(OTHER))).await;
        assert_eq!(code(wrong), VaultBadKey);
        assert_eq!(
            (node.secrets.status(), node.encrypted().await),
            (Status::Sealed, 1)
        );
        assert_eq!(node.setting("auth.vault_enabled").await, None);
        let report = node
            .secrets
            .disable(actor(), Some(secret(PASSWORD)))
            .await
            .unwrap();
        assert_eq!(report.env_vars, 1);
        assert_eq!(
            (node.secrets.status(), node.encrypted().await),
            (Status::Disabled, 0)
        );
        assert_eq!(node.value("A").await, "value");
    }
}

#[tokio::test]
async fn disable_from_uninitialized_stores_the_flag() {
    for installation in installations().await {
        let node = installation.start().await;
        node.set("A", "value").await;
        let report = node.secrets.disable(actor(), None).await.unwrap();
        assert_eq!(report, DisableReport::default());
        assert_eq!(node.secrets.status(), Status::Disabled);
        let enabled = node.secrets.enable(actor(), None).await.unwrap();
        assert_eq!(enabled.status, Status::Uninitialized);
        assert!(enabled.recovery_key.is_none());
    }
}

#[tokio::test]
async fn one_damaged_row_and_disable_changes_nothing() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        for key in ["A", "B", "C"] {
            node.set(key, "value").await;
        }
        installation
            .sql("UPDATE env_variables SET value = 'AAAA' WHERE key = 'C'")
            .await;
        let before = node.rows().await;
        let audit = node.audit().await;
        let failed = node.secrets.disable(actor(), None).await;
        assert!(matches!(&failed, Err(VaultError::Undecryptable(what)) if what == "env:C"));
        assert_eq!(code(failed), Internal);
        assert!(node.rows().await == before);
        assert_eq!(node.audit().await, audit);
        assert_eq!(node.setting("auth.vault_enabled").await, None);
        assert_eq!(node.secrets.status(), Status::Unsealed);
        assert_eq!(node.value("A").await, "value");
        node.set("D", "still encrypted").await;
        assert_eq!(node.encrypted().await, 4);
        assert!(node.secrets.progress().borrow().is_none());
    }
}

#[tokio::test]
async fn enable_with_the_password_unseals_and_encrypts() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.secrets.disable(actor(), None).await.unwrap();
        node.set("A", "value").await;
        node.stop().await;

        let node = installation.start().await;
        let wrong = node.secrets.enable(actor(), Some(secret(OTHER))).await;
        assert_eq!(code(wrong), VaultBadKey);
        assert_eq!(node.secrets.status(), Status::Disabled);
        let enabled = node
            .secrets
            .enable(actor(), Some(secret(PASSWORD)))
            .await
            .unwrap();
        assert_eq!(enabled.status, Status::Unsealed);
        assert!(enabled.recovery_key.is_none());
        assert_eq!(
            (node.encrypted().await, node.value("A").await),
            (1, "value".to_owned())
        );
        assert_eq!(node.setting("auth.vault_enabled").await, Some(json!(true)));
    }
}

#[tokio::test]
async fn enable_without_the_password_leaves_the_vault_sealed() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.secrets.disable(actor(), None).await.unwrap();
        node.set("A", "value").await;
        let enabled = node.secrets.enable(actor(), None).await.unwrap();
        assert_eq!(enabled.status, Status::Sealed);
        assert_eq!(node.encrypted().await, 0);
        node.unlock(PASSWORD).await.unwrap();
        assert_eq!(node.encrypted().await, 1);
        // Enabling an enabled, unsealed vault changes nothing.
        let enabled = node.secrets.enable(actor(), None).await.unwrap();
        assert_eq!(enabled.status, Status::Unsealed);
    }
}

#[tokio::test]
async fn enable_with_a_password_makes_a_vault_where_there_is_none() {
    for installation in installations().await {
        let node = installation.start_with(|s| s.vault_enabled = false).await;
        assert_eq!(node.secrets.status(), Status::Disabled);
        node.set("A", "value").await;
        let enabled = node
            .secrets
            .enable(actor(), Some(secret(PASSWORD)))
            .await
            .unwrap();
        assert_eq!(enabled.status, Status::Unsealed);
        assert_eq!(node.encrypted().await, 1);
        node.secrets.seal(actor()).await.unwrap();
        let key = enabled.recovery_key.unwrap();
        assert_eq!(
            node.recover(key.expose_secret()).await.unwrap(),
            Status::Unsealed
        );
    }
}

#[tokio::test]
async fn what_the_environment_fixes_is_not_changed() {
    let installation = sqlite_home();
    let node = installation
        .start_with(|s| s.vault_enabled_fixed = true)
        .await;
    node.initialize().await;
    node.set("A", "value").await;
    assert_eq!(code(node.secrets.disable(actor(), None).await), Conflict);
    assert_eq!(node.secrets.status(), Status::Unsealed);
    node.stop().await;

    let fixed_off = |s: &mut gatehouse_secrets::SecretsSettings| {
        s.vault_enabled_fixed = true;
        s.vault_enabled = false;
    };
    let node = installation.start_with(fixed_off).await;
    assert_eq!(node.secrets.status(), Status::Disabled);
    let refused = node.secrets.enable(actor(), Some(secret(PASSWORD))).await;
    assert_eq!(code(refused), Conflict);
    // A setting disabled the vault while rows were encrypted. The password makes the rows readable again.
    assert!(node.values().await.is_empty());
    assert_eq!(
        node.secrets.disable(actor(), None).await.unwrap().env_vars,
        0
    );
    let report = node
        .secrets
        .disable(actor(), Some(secret(PASSWORD)))
        .await
        .unwrap();
    assert_eq!(report.env_vars, 1);
    assert_eq!(node.value("A").await, "value");
    assert_eq!(node.setting("auth.vault_enabled").await, None);
}

#[tokio::test]
async fn new_settings_do_not_switch_the_vault() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.initialize().await;
    let mut settings = crate::harness::settings(installation.directory());
    settings.vault_enabled = false;
    settings.plaintext_while_sealed = false;
    node.secrets.update_settings(settings);
    node.secrets.refresh().await.unwrap();
    assert_eq!(node.secrets.status(), Status::Unsealed);
    node.secrets.seal(actor()).await.unwrap();
    let set = node
        .secrets
        .set_env_variable(actor(), "A", secret("v"), None)
        .await;
    assert_eq!(code(set), VaultSealed);
}
