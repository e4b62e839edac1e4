//! Two processes on one database, simulated by two handles that share only the store.

use crate::harness::{Node, PASSWORD, actor, code, installations, secret};
use gatehouse_domain::ErrorCode::Conflict;
use gatehouse_secrets::Status;
use tokio::task::JoinSet;

#[tokio::test]
async fn a_vault_made_elsewhere_is_noticed() {
    for installation in installations().await {
        let (here, there) = two(&installation).await;
        there.initialize().await;
        // There is no notification. The write itself detects the change.
        let item = here
            .secrets
            .set_env_variable(actor(), "A", secret("v"), None)
            .await
            .unwrap();
        assert!(item.encrypted == 0 && item.warning.is_some());
        assert_eq!(here.secrets.status(), Status::Sealed);
        here.unlock(PASSWORD).await.unwrap();
        assert_eq!(there.value("A").await, "v");
        assert_eq!(here.encrypted().await, 1);
        let made = here.secrets.initialize(actor(), secret(PASSWORD)).await;
        assert!(made.is_err());
    }
}

#[tokio::test]
async fn nothing_is_encrypted_with_a_key_that_was_rotated_away() {
    for installation in installations().await {
        let (here, there) = two(&installation).await;
        here.initialize().await;
        here.set("A", "a").await;
        there.unlock(PASSWORD).await.unwrap();
        there
            .secrets
            .rotate(actor(), secret(PASSWORD))
            .await
            .unwrap();
        let item = here
            .secrets
            .set_env_variable(actor(), "B", secret("b"), None)
            .await
            .unwrap();
        assert_eq!(item.encrypted, 0);
        assert_eq!(here.secrets.status(), Status::Sealed);
        here.unlock(PASSWORD).await.unwrap();
        assert_eq!(
            (here.value("A").await, here.value("B").await),
            ("a".into(), "b".into())
        );
        assert_eq!(there.value("B").await, "b");
    }
}

#[tokio::test]
async fn a_vault_disabled_elsewhere_is_noticed() {
    for installation in installations().await {
        let (here, there) = two(&installation).await;
        here.initialize().await;
        there.unlock(PASSWORD).await.unwrap();
        there.secrets.disable(actor(), None).await.unwrap();
        assert_eq!(here.secrets.status(), Status::Unsealed);
        let item = here
            .secrets
            .set_env_variable(actor(), "A", secret("v"), None)
            .await
            .unwrap();
        assert!(item.encrypted == 0 && item.warning.is_none());
        assert_eq!(here.secrets.status(), Status::Disabled);
        there
            .secrets
            .enable(actor(), Some(secret(PASSWORD)))
            .await
            .unwrap();
        let mut status = here.secrets.subscribe_status();
        here.secrets.refresh().await.unwrap();
        assert_eq!(*status.borrow_and_update(), Status::Sealed);
        assert_eq!(here.encrypted().await, 1);
    }
}

#[tokio::test]
async fn a_password_changed_elsewhere_keeps_the_vault_open() {
    for installation in installations().await {
        let (here, there) = two(&installation).await;
        here.initialize().await;
        there.unlock(PASSWORD).await.unwrap();
        there
            .secrets
            .new_recovery_key(actor(), secret(PASSWORD))
            .await
            .unwrap();
        here.secrets.refresh().await.unwrap();
        assert_eq!(here.secrets.status(), Status::Unsealed);
        let read = here
            .store
            .read(|conn| Box::pin(async move { conn.list_changes(0).await }));
        let changes: Result<Vec<_>, gatehouse_store::StoreError> = read.await;
        let subjects: Vec<_> = changes
            .unwrap()
            .into_iter()
            .map(|row| row.subject)
            .collect();
        assert_eq!(subjects, ["vault", "vault"]);
    }
}

/// As with two transitions in one process, the database state decides when a transition takes effect.
#[tokio::test]
async fn a_rotation_does_not_encrypt_what_was_disabled_elsewhere() {
    for installation in installations().await {
        let (here, there) = two(&installation).await;
        here.initialize().await;
        here.set("A", "a").await;
        there.unlock(PASSWORD).await.unwrap();
        let mut pause = here.secrets.pause_next_transition();
        let secrets = here.secrets.clone();
        let mut rotating = JoinSet::new();
        rotating.spawn(async move { secrets.rotate(actor(), secret(PASSWORD)).await });
        pause.reached().await;
        there.secrets.disable(actor(), None).await.unwrap();
        drop(pause);
        assert_eq!(code(rotating.join_next().await.unwrap().unwrap()), Conflict);
        assert_eq!(here.encrypted().await, 0);
        assert_eq!(there.value("A").await, "a");
    }
}

async fn two(installation: &crate::harness::Installation) -> (Node, Node) {
    let here = installation.start().await;
    let there = Node::start(here.store.clone(), installation.directory(), |_| {}).await;
    (here, there)
}
