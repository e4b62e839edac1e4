//! The vault's part of a login password change.

use crate::harness::{Node, OTHER, PASSWORD, actor, code, installations, secret, sqlite_home};
use gatehouse_domain::ErrorCode::{Conflict, VaultBadKey};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::{Status, VaultError, VaultPlan};
use secrecy::ExposeSecret;
use std::sync::Arc;

const NEW: &str = "the newest password";

async fn first(node: &Node, password: &str) -> Arc<VaultPlan> {
    let password = secret(password);
    let plan = node.secrets.plan_first_password(actor(), &password).await;
    Arc::new(plan.unwrap())
}

async fn change(node: &Node, current: &str, new: &str) -> Arc<VaultPlan> {
    let (current, new) = (secret(current), secret(new));
    let plan = node
        .secrets
        .plan_password_change(actor(), &current, &new)
        .await;
    Arc::new(plan.unwrap())
}

/// Runs the caller's transaction.
async fn apply(node: &Node, plan: &Arc<VaultPlan>) -> Result<(), VaultError> {
    let plan = Arc::clone(plan);
    let write = node.store.write(move |conn| {
        Box::pin(async move { plan.apply(conn, Timestamp::from_millis(7)).await })
    });
    write.await
}

async fn carry_out(node: &Node, plan: Arc<VaultPlan>) -> Option<String> {
    apply(node, &plan).await.unwrap();
    let key = node.secrets.conclude(plan).await;
    key.map(|key| key.expose_secret().to_owned())
}

#[tokio::test]
async fn the_first_password_makes_a_vault() {
    for installation in installations().await {
        let node = installation.start().await;
        node.set("A", "value").await;
        let plan = first(&node, PASSWORD).await;
        // Planning alone changes nothing.
        assert!(node.record().await.is_none());
        let key = carry_out(&node, plan).await.unwrap();
        assert_eq!(node.secrets.status(), Status::Unsealed);
        assert_eq!(
            (node.encrypted().await, node.value("A").await),
            (1, "value".to_owned())
        );
        node.secrets.seal(actor()).await.unwrap();
        assert_eq!(node.recover(&key).await.unwrap(), Status::Unsealed);
        assert_eq!(node.unlock(PASSWORD).await.unwrap(), Status::Unsealed);
    }
}

#[tokio::test]
async fn without_a_vault_to_be_the_password_is_only_the_login_s() {
    let installation = sqlite_home();
    let node = installation.start_with(|s| s.vault_enabled = false).await;
    let plan = first(&node, PASSWORD).await;
    assert_eq!(carry_out(&node, plan).await, None);
    assert_eq!(node.secrets.status(), Status::Disabled);
    assert!(node.record().await.is_none());

    // The password is older than the vault setting. Changing it does not create a vault.
    let installation = sqlite_home();
    let node = installation.start().await;
    let plan = change(&node, PASSWORD, NEW).await;
    assert_eq!(carry_out(&node, plan).await, None);
    assert_eq!(node.secrets.status(), Status::Uninitialized);
}

#[tokio::test]
async fn a_changed_password_opens_and_the_old_one_does_not() {
    for installation in installations().await {
        let node = installation.start().await;
        let key = node.initialize().await;
        node.set("A", "value").await;
        let before = node.rows().await;

        // Unsealed: the plan uses the key in memory and ignores the current password.
        let plan = change(&node, "not looked at", OTHER).await;
        assert_eq!(carry_out(&node, plan).await, None);
        assert_eq!(node.secrets.status(), Status::Unsealed);
        assert!(node.rows().await == before);
        assert_eq!(code(node.unlock(PASSWORD).await), VaultBadKey);
        node.unlock(OTHER).await.unwrap();

        // Sealed: the plan uses the key that the current password opens.
        node.secrets.seal(actor()).await.unwrap();
        let plan = change(&node, OTHER, NEW).await;
        assert_eq!(carry_out(&node, plan).await, None);
        assert_eq!(node.secrets.status(), Status::Sealed);
        assert_eq!(code(node.unlock(OTHER).await), VaultBadKey);

        // Sealed, and the current password does not open the record: only the login password changes.
        let record = node.record().await;
        let plan = change(&node, PASSWORD, OTHER).await;
        assert_eq!(carry_out(&node, plan).await, None);
        assert_eq!(node.record().await, record);

        assert_eq!(node.unlock(NEW).await.unwrap(), Status::Unsealed);
        assert_eq!(node.value("A").await, "value");
        assert_eq!(node.recover(&key).await.unwrap(), Status::Unsealed);
    }
}

#[tokio::test]
async fn a_first_password_after_a_reset_is_wrapped_into_the_open_record() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.set("A", "value").await;
        let plan = first(&node, OTHER).await;
        assert_eq!(carry_out(&node, plan).await, None);
        node.secrets.seal(actor()).await.unwrap();
        assert_eq!(code(node.unlock(PASSWORD).await), VaultBadKey);

        // Sealed: the record keeps its password.
        let plan = first(&node, NEW).await;
        assert_eq!(carry_out(&node, plan).await, None);
        assert_eq!(code(node.unlock(NEW).await), VaultBadKey);
        node.unlock(OTHER).await.unwrap();
        assert_eq!(node.value("A").await, "value");
    }
}

#[tokio::test]
async fn a_disabled_vault_follows_the_password() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.secrets.disable(actor(), None).await.unwrap();
        // The same process still has the key.
        let plan = first(&node, OTHER).await;
        assert_eq!(carry_out(&node, plan).await, None);
        node.stop().await;

        // After a restart, the current password opens the record.
        let node = installation.start().await;
        let plan = first(&node, NEW).await;
        assert!(format!("{plan:?}").contains("nothing"));
        let plan = change(&node, OTHER, NEW).await;
        assert_eq!(carry_out(&node, plan).await, None);
        assert_eq!(node.secrets.status(), Status::Disabled);
        let enabled = node
            .secrets
            .enable(actor(), Some(secret(NEW)))
            .await
            .unwrap();
        assert_eq!(enabled.status, Status::Unsealed);
    }
}

#[tokio::test]
async fn of_two_plans_one_is_applied() {
    for installation in installations().await {
        let node = installation.start().await;
        let (one, other) = (first(&node, PASSWORD).await, first(&node, OTHER).await);
        apply(&node, &one).await.unwrap();
        assert_eq!(code(apply(&node, &other).await), Conflict);
        let key = node.secrets.conclude(one).await;
        assert!(key.is_some());
        drop(other);
        node.unlock(PASSWORD).await.unwrap();

        let (one, other) = (change(&node, "", OTHER).await, change(&node, "", NEW).await);
        apply(&node, &other).await.unwrap();
        assert_eq!(code(apply(&node, &one).await), Conflict);
        node.secrets.conclude(other).await;
        node.unlock(NEW).await.unwrap();
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_after_the_commit_leaves_an_open_vault() {
    let installation = sqlite_home();
    let node = installation.start().await;
    let mut status = node.secrets.subscribe_status();
    let plan = first(&node, PASSWORD).await;
    apply(&node, &plan).await.unwrap();
    assert_eq!(node.secrets.status(), Status::Uninitialized);
    drop(plan);
    status
        .wait_for(|status| *status == Status::Unsealed)
        .await
        .unwrap();

    // A plan that is dropped before it is applied changes nothing.
    let installation = sqlite_home();
    let node = installation.start().await;
    drop(first(&node, PASSWORD).await);
    assert_eq!(node.secrets.status(), Status::Uninitialized);
    assert!(node.record().await.is_none());
}

#[tokio::test]
async fn what_is_written_between_commit_and_conclusion_is_encrypted_too() {
    let installation = sqlite_home();
    let node = installation.start().await;
    let plan = first(&node, PASSWORD).await;
    apply(&node, &plan).await.unwrap();
    node.set("A", "value").await;
    assert_eq!(node.encrypted().await, 0);
    node.secrets.conclude(plan).await.unwrap();
    assert_eq!(
        (node.encrypted().await, node.value("A").await),
        (1, "value".to_owned())
    );
}
