//! When secrets were last used: recorded in memory, written in batches, shown in lists.

use crate::harness::{Node, actor, installations};
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_secrets::SecretKind;
use std::time::Duration;

/// Returns the last uses of variables in the database.
async fn written(node: &Node) -> Vec<(String, Timestamp)> {
    let read = node
        .store
        .read(|conn| Box::pin(async move { conn.list_secret_uses("env").await }));
    let rows: Result<_, gatehouse_store::StoreError> = read.await;
    let rows = rows.unwrap().into_iter();
    rows.map(|row| (row.name, row.used_at)).collect()
}

async fn shown(node: &Node) -> Vec<Option<Timestamp>> {
    let variables = node.secrets.list_env_variables().await.unwrap();
    variables.into_iter().map(|it| it.last_used_at).collect()
}

#[tokio::test]
async fn uses_are_shown_at_once_and_written_at_most_once_a_minute() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.set("A", "1").await;
        node.set("B", "2").await;
        // Reading all values for a program does not count as a use, because the program may use none of them.
        assert_eq!(node.values().await.len(), 2);
        assert_eq!(shown(&node).await, [None, None]);

        let only = ["A".to_owned()];
        let reveal = async || {
            let revealed = node
                .secrets
                .reveal_env_variables(actor(), Some(&only), "a test");
            revealed.await.unwrap();
            node.clock.now()
        };
        let first = reveal().await;
        assert_eq!(shown(&node).await, [Some(first), None]);
        assert_eq!(written(&node).await, []);
        node.secrets.write_uses(false).await.unwrap();
        assert_eq!(written(&node).await, [("A".to_owned(), first)]);

        node.clock.advance(Duration::from_secs(59));
        let second = reveal().await;
        node.secrets.write_uses(false).await.unwrap();
        assert_eq!(written(&node).await, [("A".to_owned(), first)]);
        assert_eq!(shown(&node).await, [Some(second), None]);
        node.clock.advance(Duration::from_secs(1));
        node.secrets.write_uses(false).await.unwrap();
        assert_eq!(written(&node).await, [("A".to_owned(), second)]);

        // A stop writes the pending uses, and the next start shows them.
        node.clock.advance(Duration::from_secs(5));
        let third = reveal().await;
        node.secrets.write_uses(true).await.unwrap();
        node.stop().await;
        let node = installation.start().await;
        assert_eq!(shown(&node).await, [Some(third), None]);

        // A new secret with the name of a deleted one counts as unused.
        node.secrets
            .delete_env_variable(actor(), "A")
            .await
            .unwrap();
        node.set("A", "3").await;
        assert_eq!(shown(&node).await, [None, None]);
        node.stop().await;
    }
}

/// Writes the last use of a variable, like another node.
async fn write(node: &Node, name: &str, at: Timestamp) {
    let rows = vec![("env", name.to_owned(), at)];
    let write = node.store.write(move |conn| {
        let rows = rows.clone();
        Box::pin(async move { conn.update_secret_uses(&rows, true).await })
    });
    let written: Result<(), gatehouse_store::StoreError> = write.await;
    written.unwrap();
}

#[tokio::test]
async fn of_two_nodes_the_later_use_stays() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        node.set("A", "1").await;
        let earlier = node.clock.now();
        let later = earlier.after(Duration::from_secs(1));
        for at in [later, earlier] {
            write(&node, "A", at).await;
        }
        let uses = node.secrets.last_uses(SecretKind::Env).await.unwrap();
        assert_eq!(uses.get("A"), Some(&later));
        node.stop().await;
    }
}

#[tokio::test]
async fn a_use_is_not_written_after_its_secret_was_deleted() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        let delete = async || {
            node.secrets
                .delete_env_variable(actor(), "A")
                .await
                .unwrap();
        };
        node.set("A", "1").await;
        let used_at = node.clock.now();
        delete().await;
        // A request that had read the secret ends after the deletion. The use that another node recorded is not
        // written yet.
        node.secrets.note_use(SecretKind::Env, "A");
        node.secrets.note_use(SecretKind::Ssh, "none");
        node.secrets.note_use(SecretKind::Channel, "none");
        node.secrets.write_uses(true).await.unwrap();
        write(&node, "A", used_at).await;
        assert_eq!(written(&node).await, []);
        for kind in [SecretKind::Ssh, SecretKind::Channel] {
            let noted = node.secrets.last_uses(kind).await.unwrap();
            assert!(noted.is_empty(), "{kind:?}: {noted:?}");
        }
        // The use does not belong to the next secret with this name.
        node.clock.advance(Duration::from_millis(1));
        node.set("A", "2").await;
        node.secrets.write_uses(true).await.unwrap();
        write(&node, "A", used_at).await;
        assert_eq!(written(&node).await, []);
        assert_eq!(shown(&node).await, [None]);
        node.stop().await;
    }
}

#[tokio::test]
async fn a_signature_uses_its_ssh_key() {
    for installation in installations().await {
        let node = installation.start().await;
        node.initialize().await;
        for name in ["deploy", "other"] {
            node.secrets.generate_ssh_key(actor(), name).await.unwrap();
        }
        let sign = node
            .secrets
            .sign_with_ssh_key(actor(), "deploy", b"data".to_vec(), 0, "a test");
        sign.await.unwrap();
        let keys = node.secrets.list_ssh_keys().await.unwrap();
        let used: Vec<_> = keys.iter().map(|key| key.last_used_at).collect();
        assert_eq!(used, [Some(node.clock.now()), None]);
        node.stop().await;
    }
}
