//! Secrets in rows that other crates own are encrypted, rotated and decrypted together with all others.

use crate::harness::{Installation, Node, PASSWORD, actor, installations, secret};
use gatehouse_secrets::{DisableReport, SecretOwner, SecretsError, Status};
use gatehouse_store::SecretTable;
use secrecy::ExposeSecret;

fn channel() -> SecretOwner {
    SecretOwner::Channel {
        kind: "telegram".to_owned(),
        account_id: "main".to_owned(),
        field: "bot_token".to_owned(),
    }
}

fn webhook() -> SecretOwner {
    SecretOwner::Webhook {
        field: "secret".to_owned(),
    }
}

async fn insert_plaintext(installation: &Installation) {
    installation
        .sql(
            "INSERT INTO channel_secrets (account_id, type, field, value, encrypted, updated_at)
         VALUES ('main', 'telegram', 'bot_token', 'the token', 0, 1)",
        )
        .await;
    installation
        .sql(
            "INSERT INTO webhook_secrets (webhook_id, field, value, encrypted, updated_at)
         VALUES ('hook_1', 'secret', 'the secret', 0, 1)",
        )
        .await;
}

/// Returns both stored secrets, decrypted.
async fn opened(node: &Node) -> [(bool, String); 2] {
    let mut found = Vec::new();
    for (table, place) in [
        (SecretTable::ChannelSecrets, channel()),
        (SecretTable::WebhookSecrets, webhook()),
    ] {
        let read = node
            .store
            .read(move |conn| Box::pin(async move { conn.list_protected(table).await }));
        let row = read.await.unwrap().remove(0);
        let encrypted = row.encrypted;
        let open = node.secrets.open_protected(&place, row.value, encrypted);
        found.push((encrypted, open.await.unwrap().expose_secret().to_owned()));
    }
    found.try_into().unwrap()
}

fn both(encrypted: bool) -> [(bool, String); 2] {
    ["the token", "the secret"].map(|text| (encrypted, text.to_owned()))
}

#[tokio::test]
async fn they_follow_the_vault_through_its_life() {
    for installation in installations().await {
        let node = installation.start().await;
        insert_plaintext(&installation).await;
        assert_eq!(opened(&node).await, both(false));
        node.initialize().await;
        assert_eq!(opened(&node).await, both(true));
        node.secrets
            .rotate(actor(), secret(PASSWORD))
            .await
            .unwrap();
        assert_eq!(opened(&node).await, both(true));
        let report = node.secrets.disable(actor(), None).await.unwrap();
        let expected = DisableReport {
            channels: 1,
            webhooks: 1,
            ..DisableReport::default()
        };
        assert_eq!(report, expected);
        assert_eq!(opened(&node).await, both(false));
    }
}

#[tokio::test]
async fn they_are_refused_while_sealed_and_plaintext_before_there_is_a_vault() {
    for installation in installations().await {
        let node = installation.start().await;
        let write = || {
            let secrets = vec![(channel(), secret("a")), (webhook(), secret("b"))];
            node.secrets
                .write_protected::<_, SecretsError, _>(secrets, |_, formed| {
                    Box::pin(async move {
                        let form = |at: usize| (formed[at].encrypted, formed[at].value.to_string());
                        Ok([form(0), form(1)])
                    })
                })
        };
        let plain = [(false, "a".to_owned()), (false, "b".to_owned())];
        assert_eq!(write().await.unwrap(), plain);
        node.initialize().await;
        let written = write().await.unwrap();
        for ((encrypted, value), (place, text)) in written
            .into_iter()
            .zip([(channel(), "a"), (webhook(), "b")])
        {
            assert!(encrypted);
            let opened = node.secrets.open_protected(&place, value.clone(), true);
            assert_eq!(opened.await.unwrap().expose_secret(), text);
            let other = SecretOwner::Webhook {
                field: "previous_secret".to_owned(),
            };
            let moved = node.secrets.open_protected(&other, value, true).await;
            assert!(matches!(moved, Err(SecretsError::Damaged(_))));
        }
        node.secrets.seal(actor()).await.unwrap();
        assert_eq!(node.secrets.status(), Status::Sealed);
        assert!(matches!(write().await, Err(SecretsError::Sealed)));
    }
}
