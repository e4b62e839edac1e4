//! The states of the vault and its transitions.

use crate::harness::{
    Installation, OTHER, PASSWORD, actor, code, installations, secret, sqlite_home,
};
use gatehouse_domain::ErrorCode::{Conflict, Internal, VaultBadKey, VaultSealed};
use gatehouse_secrets::{SecretsError, Status, VaultError};
use secrecy::ExposeSecret;
use std::time::Duration;

#[tokio::test]
async fn uninitialized_to_unsealed_encrypts_what_is_there() {
    for installation in installations().await {
        let node = installation.start().await;
        assert_eq!(node.secrets.status(), Status::Uninitialized);
        node.set("A", "plain value").await;
        node.secrets.generate_ssh_key(actor(), "k").await.unwrap();
        assert_eq!(node.encrypted().await, 0);
        let mut status = node.secrets.subscribe_status();

        let recovery_key = node.initialize().await;
        let groups: Vec<_> = recovery_key.split('-').collect();
        assert!(groups.len() == 8 && groups.iter().all(|group| group.len() == 4));
        assert_eq!(node.secrets.status(), Status::Unsealed);
        assert!(status.has_changed().unwrap());
        assert_eq!(*status.borrow_and_update(), Status::Unsealed);
        assert_eq!(node.encrypted().await, 2);
        assert_ne!(node.rows().await[0].value, "plain value");
        assert_eq!(node.value("A").await, "plain value");
        let key = node.secrets.ssh_private_key("k").await.unwrap();
        assert!(
            key.expose_secret()
                .starts_with("-----BEGIN OPENSSH PRIVATE KEY-----")
        );
        assert_eq!(
            node.audit().await,
            ["env.set", "ssh_key.generated", "vault.initialized"]
        );
        assert!(node.secrets.progress().borrow().is_none());

        let again = node.secrets.initialize(actor(), secret(OTHER)).await;
        assert_eq!(code(again), Conflict);
        node.set("B", "new value").await;
        assert!(node.rows().await.iter().all(|row| row.encrypted));
    }
}

#[tokio::test]
async fn a_restart_seals_and_the_password_or_the_recovery_key_unseals() {
    for installation in installations().await {
        let node = installation.start().await;
        node.set("A", "value").await;
        let recovery_key = node.initialize().await;
        node.stop().await;

        let node = installation.start().await;
        assert_eq!(node.secrets.status(), Status::Sealed);
        assert!(node.values().await.is_empty());
        assert_eq!(node.secrets.environment().await.unwrap().unreadable, ["A"]);
        for text in [
            "",
            "AAAA",
            "%",
            &recovery_key[..38],
            "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAZM-NEXS",
        ] {
            assert_eq!(code(node.recover(text).await), VaultBadKey, "{text}");
        }
        assert_eq!(code(node.unlock(OTHER).await), VaultBadKey);
        assert_eq!(node.secrets.status(), Status::Sealed);

        assert_eq!(node.unlock(PASSWORD).await.unwrap(), Status::Unsealed);
        assert_eq!(node.value("A").await, "value");
        assert_eq!(code(node.unlock(OTHER).await), VaultBadKey);
        assert_eq!(code(node.recover("short").await), VaultBadKey);
        assert_eq!(node.unlock(PASSWORD).await.unwrap(), Status::Unsealed);
        assert_eq!(node.recover(&recovery_key).await.unwrap(), Status::Unsealed);

        assert_eq!(node.secrets.seal(actor()).await.unwrap(), Status::Sealed);
        assert!(node.values().await.is_empty());
        let typed = recovery_key.to_lowercase().replace('-', " ");
        assert_eq!(node.recover(&typed).await.unwrap(), Status::Unsealed);
        assert_eq!(node.value("A").await, "value");
        let kinds = node.audit().await;
        assert_eq!(
            kinds[2..],
            ["vault.unsealed", "vault.sealed", "vault.unsealed"]
        );
    }
}

#[tokio::test]
async fn without_a_vault_there_is_nothing_to_open() {
    for installation in installations().await {
        let node = installation.start().await;
        let secrets = &node.secrets;
        assert_eq!(code(node.unlock(PASSWORD).await), Conflict);
        assert_eq!(code(node.recover("anything").await), Conflict);
        assert_eq!(code(secrets.seal(actor()).await), Conflict);
        assert_eq!(
            code(secrets.rotate(actor(), secret(PASSWORD)).await),
            Conflict
        );
        let new_key = secrets.new_recovery_key(actor(), secret(PASSWORD)).await;
        assert_eq!(code(new_key), Conflict);
        assert_eq!(secrets.status(), Status::Uninitialized);
        assert!(node.audit().await.is_empty());
    }
}

#[tokio::test]
async fn what_is_written_while_sealed_is_plaintext_until_the_next_unseal() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.secrets.seal(actor()).await.unwrap();
        let item = node
            .secrets
            .set_env_variable(actor(), "A", secret("v"), None);
        let item = item.await.unwrap();
        assert_eq!(item.encrypted, 0);
        assert!(item.warning.is_some());
        let key = node.secrets.generate_ssh_key(actor(), "k").await.unwrap();
        assert!(key.encrypted == 0 && key.warning.is_some());
        assert_eq!(node.rows().await[0].value, "v");
        assert_eq!(node.value("A").await, "v");

        node.clock.advance(Duration::from_secs(5));
        node.unlock(PASSWORD).await.unwrap();
        assert_eq!(node.encrypted().await, 2);
        assert_eq!(node.value("A").await, "v");
        let list = node.secrets.list_env_variables().await.unwrap();
        assert!(list[0].encrypted == 1 && list[0].warning.is_none());
        assert_eq!(list[0].created_at, item.created_at);
    }
}

#[tokio::test]
async fn strictly_nothing_is_written_while_sealed() {
    let installation = sqlite_home();
    let node = installation
        .start_with(|s| s.plaintext_while_sealed = false)
        .await;
    node.set("BEFORE", "v").await;
    node.initialize().await;
    node.secrets.seal(actor()).await.unwrap();
    let set = node
        .secrets
        .set_env_variable(actor(), "A", secret("v"), None)
        .await;
    assert_eq!(code(set), VaultSealed);
    let made = node.secrets.generate_ssh_key(actor(), "k").await;
    assert_eq!(code(made), VaultSealed);
    assert_eq!(node.rows().await.len(), 1);
    node.unlock(PASSWORD).await.unwrap();
    node.set("A", "v").await;
    assert_eq!(node.encrypted().await, 2);
}

#[tokio::test]
async fn nothing_is_initialized_over_a_lost_record() {
    for installation in installations().await {
        let node = installation.start().await;
        node.set("A", "value").await;
        let recovery_key = node.initialize().await;
        let record = node.record().await;
        node.stop().await;
        installation.sql("DELETE FROM vault").await;

        let node = installation.start().await;
        assert_eq!(node.secrets.status(), Status::Sealed);
        let made = node.secrets.initialize(actor(), secret(OTHER)).await;
        assert!(matches!(made, Err(VaultError::RecordLost)));
        for refused in [
            node.unlock(PASSWORD).await.map(drop),
            node.recover(&recovery_key).await.map(drop),
            node.secrets
                .disable(actor(), Some(secret(PASSWORD)))
                .await
                .map(drop),
            node.secrets
                .enable(actor(), Some(secret(PASSWORD)))
                .await
                .map(drop),
        ] {
            assert_eq!(code(refused), Conflict);
        }
        let plan = node
            .secrets
            .plan_first_password(actor(), &secret(OTHER))
            .await;
        assert!(format!("{:?}", plan.unwrap()).contains("nothing"));
        assert!(node.record().await.is_none() && record.is_some());
        assert_eq!(node.encrypted().await, 1);
    }
}

#[tokio::test]
async fn a_weakened_record_stays_sealed_and_the_service_runs_on() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.set("A", "value").await;
    let recovery_key = node.initialize().await;
    node.stop().await;
    installation
        .sql("UPDATE vault SET kdf_params = '{\"m_cost\":1024,\"t_cost\":3,\"p_cost\":1}'")
        .await;

    let node = installation.start().await;
    assert_eq!(node.secrets.status(), Status::Sealed);
    assert_eq!(code(node.unlock(PASSWORD).await), Internal);
    assert_eq!(node.secrets.status(), Status::Sealed);
    node.set("B", "stored meanwhile").await;
    // The recovery copy has its own parameters.
    assert_eq!(node.recover(&recovery_key).await.unwrap(), Status::Unsealed);
    assert_eq!(node.value("A").await, "value");
}

#[tokio::test]
async fn a_new_recovery_key_ends_the_old_one() {
    for installation in installations().await {
        let node = installation.start().await;
        node.set("A", "value").await;
        let old = node.initialize().await;
        let wrong = node.secrets.new_recovery_key(actor(), secret(OTHER)).await;
        assert_eq!(code(wrong), VaultBadKey);
        let new = node
            .secrets
            .new_recovery_key(actor(), secret(PASSWORD))
            .await;
        let new = new.unwrap().expose_secret().to_owned();
        assert_eq!(code(node.recover(&old).await), VaultBadKey);
        node.secrets.seal(actor()).await.unwrap();
        assert_eq!(node.recover(&new).await.unwrap(), Status::Unsealed);
        assert_eq!(node.value("A").await, "value");
        node.unlock(PASSWORD).await.unwrap();
    }
}

#[tokio::test]
async fn a_damaged_value_is_named_and_the_others_are_read() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.initialize().await;
    node.set("A", "value").await;
    node.set("B", "value").await;
    // A ciphertext that is moved to another row does not decrypt.
    installation
        .sql(
            "UPDATE env_variables SET value = (SELECT value FROM env_variables WHERE key = 'A') \
              WHERE key = 'B'",
        )
        .await;
    let environment = node.secrets.environment().await.unwrap();
    assert_eq!(environment.unreadable, ["B"]);
    assert_eq!(environment.variables.len(), 1);
    node.secrets.generate_ssh_key(actor(), "k").await.unwrap();
    installation
        .sql("UPDATE ssh_keys SET private_key = 'damaged'")
        .await;
    let read = node.secrets.ssh_private_key("k").await;
    assert!(matches!(read, Err(SecretsError::Damaged(what)) if what == "ssh-key:k"));
}

/// Searches every file in the directory.
fn any_file_contains(installation: &Installation, text: &str) -> bool {
    let needle = text.as_bytes();
    std::fs::read_dir(installation.directory())
        .unwrap()
        .any(|entry| {
            let path = entry.unwrap().path();
            #[expect(clippy::disallowed_methods, reason = "a test may block")]
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle)
        })
}

#[tokio::test]
async fn no_file_holds_what_was_migrated_or_deleted() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.set("A", "marker-of-a-migrated-value").await;
    node.set("B", "marker-of-a-deleted-value").await;
    node.set("C", "marker-of-a-replaced-value").await;
    node.set("C", "x").await;
    node.secrets
        .delete_env_variable(actor(), "B")
        .await
        .unwrap();
    assert!(any_file_contains(
        &installation,
        "marker-of-a-migrated-value"
    ));
    node.initialize().await;
    for marker in ["migrated", "deleted", "replaced"] {
        assert!(
            !any_file_contains(&installation, &format!("marker-of-a-{marker}-value")),
            "{marker}"
        );
    }
    node.stop().await;
    assert!(!any_file_contains(&installation, "marker-of-a-"));
}
