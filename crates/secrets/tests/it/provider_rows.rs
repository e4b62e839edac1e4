//! Provider keys as rows, on a database that nodes share. Skipped without PostgreSQL; `testing` reports it.

use crate::harness::{Installation, Node, PASSWORD, actor, code, secret, service, sqlite_home};
use gatehouse_domain::Clock;
use gatehouse_domain::ErrorCode::{NotFound, VaultSealed};
use gatehouse_secrets::Status;
use gatehouse_store::{ProviderKeyRow, StoreError, testing};
use secrecy::ExposeSecret;

const URL: &str = "https://p.example/v1";
const FILES: [&str; 2] = ["provider_keys.json", "provider_keys.json.enc"];
/// The files that are kept after their keys were moved to rows.
const ASIDE: [&str; 2] = ["provider_keys.json.moved", "provider_keys.json.enc.moved"];

/// Returns two directories for one database.
async fn shared() -> Option<(Installation, Installation)> {
    let database = testing::postgres().await?;
    let other = database.for_another_node();
    Some((Installation { database }, Installation { database: other }))
}

async fn set(node: &Node, id: &str, key: &str) {
    let set = node
        .secrets
        .set_provider_key(actor(), id, secret(key), ("openai", URL));
    set.await.unwrap();
}

async fn read(node: &Node, id: &str) -> Option<String> {
    let key = node.secrets.provider_key(id, &service(URL)).await.unwrap();
    key.map(|key| key.expose_secret().to_owned())
}

async fn rows(node: &Node) -> Vec<ProviderKeyRow> {
    let read = node
        .store
        .read(|conn| Box::pin(async move { conn.list_provider_keys().await }));
    let rows: Result<_, StoreError> = read.await;
    rows.unwrap()
}

/// Copies the list of deleted keys to another database.
async fn copy_settings(from: &Node, to: &Node) {
    const KEY: &str = "provider_keys_deleted";
    let read = from
        .store
        .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
    let stored: Result<_, StoreError> = read.await;
    let deleted = stored.unwrap().unwrap();
    let now = to.clock.now();
    let write = to.store.write(move |conn| {
        let deleted = deleted.clone();
        Box::pin(async move { conn.update_setting(KEY, &deleted, now).await })
    });
    let written: Result<(), StoreError> = write.await;
    written.unwrap();
}

fn has_files(installation: &Installation) -> bool {
    FILES.iter().any(|name| installation.path(name).exists())
}

#[tokio::test]
async fn a_key_entered_on_one_node_serves_every_node() {
    let Some((a, b)) = shared().await else {
        return;
    };
    let (here, there) = (a.start().await, b.start().await);
    set(&here, "p", "sk-plain").await;
    assert_eq!(read(&there, "p").await.as_deref(), Some("sk-plain"));
    assert!(!has_files(&a) && !rows(&here).await[0].encrypted);

    here.initialize().await;
    let stored = rows(&here).await;
    assert!(stored[0].encrypted && !stored[0].key.contains("sk-"));
    there.secrets.refresh().await.unwrap();
    assert_eq!(there.secrets.status(), Status::Sealed);
    assert_eq!(
        code(there.secrets.provider_key("p", &service(URL)).await),
        VaultSealed
    );
    assert!(there.secrets.list_provider_keys().await.unwrap().is_empty());
    let refused = there
        .secrets
        .set_provider_key(actor(), "q", secret("sk-q"), ("openai", URL));
    assert_eq!(code(refused.await), VaultSealed);
    assert_eq!(
        code(there.secrets.remove_provider_key(actor(), "p").await),
        VaultSealed
    );

    there.unlock(PASSWORD).await.unwrap();
    set(&there, "q", "sk-q-123456789").await;
    assert_eq!(read(&here, "q").await.as_deref(), Some("sk-q-123456789"));
    let list = here.secrets.list_provider_keys().await.unwrap();
    let hints: Vec<_> = list
        .iter()
        .map(|key| (key.id.as_str(), key.key_hint.as_str()))
        .collect();
    assert_eq!(hints, [("p", "…"), ("q", "…6789")]);

    here.secrets
        .rotate(actor(), secret(PASSWORD))
        .await
        .unwrap();
    assert_eq!(read(&here, "p").await.as_deref(), Some("sk-plain"));
    there.secrets.refresh().await.unwrap();
    there.unlock(PASSWORD).await.unwrap();
    assert_eq!(read(&there, "q").await.as_deref(), Some("sk-q-123456789"));
    there
        .secrets
        .remove_provider_key(actor(), "q")
        .await
        .unwrap();
    assert_eq!(read(&here, "q").await, None);
    assert_eq!(
        code(here.secrets.remove_provider_key(actor(), "q").await),
        NotFound
    );

    let report = here.secrets.disable(actor(), None).await.unwrap();
    assert_eq!(report.provider_keys, 1);
    assert!(rows(&here).await[0].key.contains("sk-plain"));
    assert!(!has_files(&a) && !has_files(&b));
}

/// A ciphertext is bound to its provider.
#[tokio::test]
async fn a_key_moved_to_another_provider_does_not_decrypt() {
    let Some((a, _)) = shared().await else {
        return;
    };
    let node = a.start().await;
    node.initialize().await;
    set(&node, "p", "sk-1").await;
    set(&node, "other", "sk-2").await;
    a.sql("UPDATE provider_keys SET id = 'q' WHERE id = 'p'")
        .await;
    assert!(node.secrets.provider_key("q", &service(URL)).await.is_err());
    // The other providers are not affected, and the row can be removed.
    assert_eq!(read(&node, "other").await.as_deref(), Some("sk-2"));
    assert_eq!(node.secrets.list_provider_keys().await.unwrap().len(), 1);
    let removed = node.secrets.remove_provider_key(actor(), "q").await;
    removed.unwrap();
    assert_eq!(read(&node, "q").await, None);
}

#[tokio::test]
async fn files_of_an_earlier_version_become_rows_once() {
    let Some((a, b)) = shared().await else {
        return;
    };
    // A server with SQLite leaves these files: a plaintext file and its copy.
    let old = sqlite_home();
    let node = old.start().await;
    set(&node, "p", "sk-old").await;
    set(&node, "q", "sk-q").await;
    node.stop().await;
    std::fs::copy(old.path(FILES[0]), a.path(FILES[0])).unwrap();

    // Another node has already entered a newer key.
    let there = b.start().await;
    set(&there, "q", "sk-newer").await;
    there.initialize().await;

    // Sealed: the key in the file is used, and the file is kept until the vault is unlocked.
    let here = a.start().await;
    assert_eq!(read(&here, "p").await.as_deref(), Some("sk-old"));
    assert!(has_files(&a));
    here.unlock(PASSWORD).await.unwrap();
    assert!(!has_files(&a));
    for node in [&here, &there] {
        assert_eq!(read(node, "p").await.as_deref(), Some("sk-old"));
        assert_eq!(read(node, "q").await.as_deref(), Some("sk-newer"));
    }
    assert!(rows(&here).await.iter().all(|row| row.encrypted));
    assert!(a.path(ASIDE[1]).exists() && !a.path(ASIDE[0]).exists());
}

#[tokio::test]
async fn without_a_vault_the_files_become_rows_at_the_start() {
    let Some((a, b)) = shared().await else {
        return;
    };
    let old = sqlite_home();
    let node = old.start().await;
    set(&node, "p", "sk-old").await;
    node.stop().await;
    std::fs::copy(old.path(FILES[0]), a.path(FILES[0])).unwrap();
    let (here, there) = (a.start().await, b.start().await);
    assert!(!has_files(&a));
    assert_eq!(read(&there, "p").await.as_deref(), Some("sk-old"));

    // The old database has no vault either. If the new database gets one, the setting decides about plaintext
    // files.
    let aside = a.path(ASIDE[0]);
    let same = |name: &str| {
        std::fs::File::open(old.path(name))
            .unwrap()
            .metadata()
            .unwrap()
            .len()
    };
    assert_eq!(aside.metadata().unwrap().len(), same(FILES[0]));
    assert!(!a.path(ASIDE[1]).exists());
    here.initialize().await;
    assert!(aside.exists());
    let strict = a
        .start_with(|s| s.keep_plaintext_provider_keys = false)
        .await;
    strict.unlock(PASSWORD).await.unwrap();
    assert!(!aside.exists());
}

/// Another node may have the same files, or a file could not be removed.
#[tokio::test]
async fn a_deleted_key_does_not_come_back_from_an_old_file() {
    let Some((a, b)) = shared().await else {
        return;
    };
    let old = sqlite_home();
    let node = old.start().await;
    set(&node, "p", "sk-old").await;
    set(&node, "q", "sk-q").await;
    node.stop().await;
    let copy_to = |home: &Installation| {
        std::fs::copy(old.path(FILES[0]), home.path(FILES[0])).unwrap();
    };
    copy_to(&a);
    copy_to(&b);
    let here = a.start().await;
    here.secrets
        .remove_provider_key(actor(), "p")
        .await
        .unwrap();
    here.initialize().await;
    // Sealed: the key in the file of the other node would be used. Without the file, the key may be in an encrypted
    // row.
    let there = b.start().await;
    let found = there.secrets.provider_key("p", &service(URL)).await;
    assert_eq!(code(found), VaultSealed);
    there.unlock(PASSWORD).await.unwrap();
    assert!(!has_files(&b));
    for node in [&here, &there] {
        assert_eq!(read(node, "p").await, None);
        assert_eq!(read(node, "q").await.as_deref(), Some("sk-q"));
    }
    // The owner enters the key again.
    set(&there, "p", "sk-new").await;
    here.stop().await;
    copy_to(&a);
    let here = a.start().await;
    here.unlock(PASSWORD).await.unwrap();
    assert_eq!(read(&here, "p").await.as_deref(), Some("sk-new"));
}

/// `gatehouse move` copies the settings, which contain the list of deleted keys.
#[tokio::test]
async fn a_key_that_is_entered_again_on_sqlite_comes_back_to_postgres() {
    let Some((a, _)) = shared().await else {
        return;
    };
    let node = a.start().await;
    for id in ["p", "q"] {
        set(&node, id, "sk-old").await;
        let removed = node.secrets.remove_provider_key(actor(), id).await;
        removed.unwrap();
    }
    let away = sqlite_home();
    let there = away.start().await;
    copy_settings(&node, &there).await;
    node.stop().await;
    set(&there, "p", "sk-new").await;

    let node = a.start().await;
    copy_settings(&there, &node).await;
    there.stop().await;
    node.stop().await;
    std::fs::copy(away.path(FILES[0]), a.path(FILES[0])).unwrap();
    let node = a.start().await;
    assert!(!has_files(&a));
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-new"));
    assert_eq!(read(&node, "q").await, None);
}

/// This happens after `gatehouse move` from PostgreSQL to SQLite, and after restoring a backup of PostgreSQL.
#[tokio::test]
async fn rows_become_files_on_sqlite() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.initialize().await;
    let row = "INSERT INTO provider_keys (id, key, encrypted, created_at, updated_at)";
    let entry = format!(r#"{{"key":"sk-1","base_url":"{URL}","kind":"openai"}}"#);
    let values = format!("VALUES ('p', '{entry}', 0, 1, 1)");
    installation.sql(&format!("{row} {values}")).await;
    for name in ASIDE {
        std::fs::File::create(installation.path(name)).unwrap();
    }
    // The next unseal encrypts the row, and then moves it.
    node.secrets.seal(actor()).await.unwrap();
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-1"));
    node.unlock(PASSWORD).await.unwrap();
    assert!(rows(&node).await.is_empty());
    assert!(FILES.iter().all(|name| installation.path(name).exists()));
    // The files kept by an earlier move are older than the rows.
    assert!(ASIDE.iter().all(|name| !installation.path(name).exists()));
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-1"));

    // An encrypted row is unreadable until then, and the error reports it.
    let encrypted = installation
        .start_with(|s| s.keep_plaintext_provider_keys = false)
        .await;
    encrypted.unlock(PASSWORD).await.unwrap();
    assert!(!installation.path(FILES[0]).exists());
    installation
        .sql(&format!("{row} VALUES ('q', 'AAAA', 1, 1, 1)"))
        .await;
    encrypted.secrets.seal(actor()).await.unwrap();
    assert_eq!(
        code(encrypted.secrets.provider_key("q", &service(URL)).await),
        VaultSealed
    );
}

/// The owner may return to the database from which the keys were moved.
#[tokio::test]
async fn without_rows_what_an_earlier_move_kept_stays() {
    let installation = sqlite_home();
    for name in ASIDE {
        std::fs::File::create(installation.path(name)).unwrap();
    }
    let node = installation.start().await;
    node.initialize().await;
    node.secrets.seal(actor()).await.unwrap();
    node.unlock(PASSWORD).await.unwrap();
    assert!(ASIDE.iter().all(|name| installation.path(name).exists()));
}
