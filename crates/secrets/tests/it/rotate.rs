//! Rotation to a new data key.

use crate::harness::{OTHER, PASSWORD, actor, code, installations, secret, sqlite_home};
use gatehouse_domain::ErrorCode::{Internal, VaultBadKey};
use gatehouse_secrets::Status;
use secrecy::ExposeSecret;

#[tokio::test]
async fn rotation_replaces_both_keys_and_every_ciphertext() {
    for installation in installations().await {
        let node = installation.start().await;
        let old_key = node.initialize().await;
        node.set("A", "value").await;
        node.secrets.generate_ssh_key(actor(), "k").await.unwrap();
        let private = node.secrets.ssh_private_key("k").await.unwrap();
        node.secrets.seal(actor()).await.unwrap();
        node.set("B", "written while sealed").await;
        let (record, rows) = (node.record().await.unwrap(), node.rows().await);

        let wrong = node.secrets.rotate(actor(), secret(OTHER)).await;
        assert_eq!(code(wrong), VaultBadKey);
        assert_eq!(node.record().await.as_ref(), Some(&record));
        let new_key = node
            .secrets
            .rotate(actor(), secret(PASSWORD))
            .await
            .unwrap();
        assert_eq!(node.secrets.status(), Status::Unsealed);
        let rotated = node.record().await.unwrap();
        assert_ne!(rotated.dek_id, record.dek_id);
        assert_eq!(rotated.created_at, record.created_at);
        assert_eq!(node.encrypted().await, 3);
        assert_ne!(node.rows().await[0].value, rows[0].value);
        assert_eq!(node.value("A").await, "value");
        assert_eq!(node.value("B").await, "written while sealed");
        let read = node.secrets.ssh_private_key("k").await.unwrap();
        assert_eq!(read.expose_secret(), private.expose_secret());
        node.stop().await;

        let node = installation.start().await;
        assert_eq!(code(node.recover(&old_key).await), VaultBadKey);
        node.recover(new_key.expose_secret()).await.unwrap();
        node.unlock(PASSWORD).await.unwrap();
        assert_eq!(node.value("A").await, "value");
    }
}

#[tokio::test]
async fn one_damaged_row_and_rotation_changes_nothing() {
    for installation in installations().await {
        let node = installation.start().await;
        let key = node.initialize().await;
        node.set("A", "value").await;
        node.set("B", "value").await;
        let provider =
            node.secrets
                .set_provider_key(actor(), "p", secret("sk-1"), ("openai", "http://p"));
        provider.await.unwrap();
        installation
            .sql("UPDATE env_variables SET value = 'AAAA' WHERE key = 'B'")
            .await;
        let (record, rows) = (node.record().await, node.rows().await);
        assert_eq!(
            code(node.secrets.rotate(actor(), secret(PASSWORD)).await),
            Internal
        );
        assert_eq!(node.record().await, record);
        assert!(node.rows().await == rows);
        assert_eq!(node.value("A").await, "value");
        assert!(!installation.path("provider_keys.json.enc.next").exists());
        assert_eq!(node.recover(&key).await.unwrap(), Status::Unsealed);
    }
}

#[tokio::test]
async fn a_long_rotation_tells_how_far_it_has_come() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.initialize().await;
    installation.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) \
         INSERT INTO env_variables (key, value, encrypted, created_at, updated_at) SELECT 'V' || i, 'value ' || i, 0, 1, 1 FROM n",
    )
    .await;
    let progress = node.secrets.progress();
    let rotated = node.secrets.rotate(actor(), secret(PASSWORD)).await;
    rotated.unwrap();
    // The last value, `None`, is sent only after progress was sent. A change therefore means that there was
    // progress.
    assert!(progress.has_changed().unwrap());
    assert!(node.secrets.progress().borrow().is_none());
    assert_eq!(node.encrypted().await, 600);
    assert_eq!(node.value("V600").await, "value 600");
}

/// Target: ten thousand secrets in two seconds. Run it with `--release -- --ignored`.
#[tokio::test]
#[ignore = "a measurement, of an optimised build"]
async fn ten_thousand_rows() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.initialize().await;
    installation.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) \
         INSERT INTO env_variables (key, value, encrypted, created_at, updated_at) SELECT 'V' || i, 'value ' || i, 0, 1, 1 FROM n",
    )
    .await;
    for _ in 0..2 {
        let start = std::time::Instant::now();
        node.secrets
            .rotate(actor(), secret(PASSWORD))
            .await
            .unwrap();
        let elapsed = start.elapsed();
        eprintln!("10,000 rows: {elapsed:?}");
        assert!(elapsed.as_secs_f32() < 2.0);
    }
    assert_eq!(node.encrypted().await, 10_000);
}
