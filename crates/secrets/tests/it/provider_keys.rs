//! Provider keys and their two files.

use crate::harness::{Installation, Node, PASSWORD, actor, code, secret, service, sqlite_home};
use gatehouse_domain::ErrorCode::{InvalidParams, NotFound, VaultSealed};
use gatehouse_domain::KeyBinding;
use gatehouse_secrets::Status;
use secrecy::ExposeSecret;
use std::io::{Read, Write};
use url::Url;

const URL: &str = "https://p.example/v1";
const PLAIN: &str = "provider_keys.json";
const COPY: &str = "provider_keys.json.enc";
const NEXT: &str = "provider_keys.json.enc.next";

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

fn text(installation: &Installation, name: &str) -> String {
    let mut text = String::new();
    let mut file = std::fs::File::open(installation.path(name)).unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn plain_first_and_a_copy_with_the_vault() {
    let installation = sqlite_home();
    let node = installation.start().await;
    assert!(node.secrets.list_provider_keys().await.unwrap().is_empty());
    set(&node, "p", " sk-123456789abc\n").await;
    let json: serde_json::Value = serde_json::from_str(&text(&installation, PLAIN)).unwrap();
    assert_eq!(
        json,
        serde_json::json!({ "p": { "key": "sk-123456789abc", "base_url": URL, "kind": "openai" } })
    );
    assert!(!installation.path(COPY).exists());

    node.initialize().await;
    let copy = text(&installation, COPY);
    assert!(!copy.is_empty() && !copy.contains('\n') && !copy.contains("sk-"));
    assert!(installation.path(PLAIN).exists());
    set(&node, "q", "sk-q").await;
    assert_ne!(text(&installation, COPY), copy);
    #[cfg(unix)]
    for name in [PLAIN, COPY] {
        use std::os::unix::fs::PermissionsExt;
        let mode = installation
            .path(name)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let list = node.secrets.list_provider_keys().await.unwrap();
    let hints: Vec<_> = list
        .iter()
        .map(|k| (k.id.as_str(), k.key_hint.as_str()))
        .collect();
    assert_eq!(hints, [("p", "…9abc"), ("q", "…")]);

    // Sealed: the plaintext file can be read but not changed.
    node.secrets.seal(actor()).await.unwrap();
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-123456789abc"));
    let refused = node
        .secrets
        .set_provider_key(actor(), "r", secret("sk"), ("openai", URL))
        .await;
    assert_eq!(code(refused), VaultSealed);
    assert_eq!(
        code(node.secrets.remove_provider_key(actor(), "p").await),
        VaultSealed
    );
    node.unlock(PASSWORD).await.unwrap();
    node.secrets
        .remove_provider_key(actor(), "p")
        .await
        .unwrap();
    assert_eq!(
        code(node.secrets.remove_provider_key(actor(), "p").await),
        NotFound
    );
    assert_eq!(read(&node, "p").await, None);
    assert!(!installation.path("provider_keys.json.tmp").exists());
}

#[tokio::test]
async fn another_server_does_not_get_the_key() {
    let installation = sqlite_home();
    let node = installation.start().await;
    set(&node, "p", "sk-1").await;
    let key = |url: &'static str| {
        let secrets = node.secrets.clone();
        async move { secrets.provider_key("p", &service(url)).await.unwrap() }
    };
    assert!(key("https://p.example/v1").await.is_some());
    assert!(key("https://p.example/v2/").await.is_some());
    assert!(key("http://p.example/v1").await.is_none());
    assert!(key("https://p.example:8443/v1").await.is_none());
    let other_kind = KeyBinding::of_url("anthropic", &Url::parse(URL).unwrap());
    let other_kind = node.secrets.provider_key("p", &other_kind).await.unwrap();
    assert!(other_kind.is_none());
    assert!(key("https://q.example/v1").await.is_none());
    for (id, key, url) in [
        ("", "sk", URL),
        ("p", "", URL),
        ("p", "a b", URL),
        ("p", "sk", ""),
    ] {
        let refused = node
            .secrets
            .set_provider_key(actor(), id, secret(key), ("openai", url))
            .await;
        assert_eq!(code(refused), InvalidParams);
    }
}

#[tokio::test]
async fn without_the_plain_file_the_copy_is_all_there_is() {
    let installation = sqlite_home();
    let node = installation
        .start_with(|s| s.keep_plaintext_provider_keys = false)
        .await;
    set(&node, "p", "sk-secret").await;
    node.initialize().await;
    assert!(!installation.path(PLAIN).exists());
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-secret"));
    set(&node, "q", "sk-q").await;
    assert!(!installation.path(PLAIN).exists());

    node.secrets
        .rotate(actor(), secret(PASSWORD))
        .await
        .unwrap();
    assert!(!installation.path(NEXT).exists());
    assert_eq!(read(&node, "q").await.as_deref(), Some("sk-q"));
    node.secrets.seal(actor()).await.unwrap();
    assert_eq!(
        code(node.secrets.provider_key("p", &service(URL)).await),
        VaultSealed
    );
    assert!(node.secrets.list_provider_keys().await.unwrap().is_empty());

    let disabled = node.secrets.disable(actor(), Some(secret(PASSWORD))).await;
    assert_eq!(disabled.unwrap().provider_keys, 2);
    assert!(installation.path(PLAIN).exists() && !installation.path(COPY).exists());
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-secret"));
    node.secrets
        .enable(actor(), Some(secret(PASSWORD)))
        .await
        .unwrap();
    assert!(!installation.path(PLAIN).exists() && installation.path(COPY).exists());
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-secret"));
}

#[tokio::test]
async fn a_copy_that_does_not_open_stops_disable_and_rotate() {
    let installation = sqlite_home();
    let node = installation
        .start_with(|s| s.keep_plaintext_provider_keys = false)
        .await;
    node.set("A", "value").await;
    set(&node, "p", "sk-secret").await;
    node.initialize().await;
    let copy = text(&installation, COPY);
    let damage = |text: &str| {
        let mut file = std::fs::File::create(installation.path(COPY)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    damage("AAAA");
    assert!(node.secrets.disable(actor(), None).await.is_err());
    assert!(
        node.secrets
            .rotate(actor(), secret(PASSWORD))
            .await
            .is_err()
    );
    assert_eq!(
        (node.secrets.status(), node.encrypted().await),
        (Status::Unsealed, 1)
    );
    assert!(!installation.path(PLAIN).exists());
    damage(&copy);
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-secret"));
    // Disabling fails because of a damaged row, after the plaintext file was restored. The file is then removed
    // again.
    installation
        .sql("UPDATE env_variables SET value = 'AAAA'")
        .await;
    assert!(node.secrets.disable(actor(), None).await.is_err());
    assert!(!installation.path(PLAIN).exists() && installation.path(COPY).exists());
}

#[tokio::test]
async fn a_changed_plain_file_is_the_truth_at_the_next_unseal() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.initialize().await;
    set(&node, "p", "sk-1").await;
    node.stop().await;
    let edited = text(&installation, PLAIN).replace("sk-1", "sk-2");
    std::fs::File::create(installation.path(PLAIN))
        .unwrap()
        .write_all(edited.as_bytes())
        .unwrap();
    let node = installation.start().await;
    node.unlock(PASSWORD).await.unwrap();
    node.stop().await;
    std::fs::remove_file(installation.path(PLAIN)).unwrap();
    let node = installation.start().await;
    node.unlock(PASSWORD).await.unwrap();
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-2"));
}

#[tokio::test]
async fn a_start_clears_up_after_a_crash() {
    let installation = sqlite_home();
    std::fs::File::create(installation.path("provider_keys.json.tmp")).unwrap();
    std::fs::File::create(installation.path(PLAIN))
        .unwrap()
        .write_all(b"{}")
        .unwrap();
    installation.start().await;
    assert!(!installation.path("provider_keys.json.tmp").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            installation
                .path(PLAIN)
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o077,
            0
        );
    }
}

/// A file of an older version contains no kind. Its keys are still bound to their origin.
#[tokio::test]
async fn a_key_of_an_older_version_is_bound_to_its_origin() {
    let installation = sqlite_home();
    let old = format!(r#"{{"p":{{"key":"sk-old","base_url":"{URL}"}}}}"#);
    std::fs::File::create(installation.path(PLAIN))
        .unwrap()
        .write_all(old.as_bytes())
        .unwrap();
    let node = installation.start().await;
    assert_eq!(read(&node, "p").await.as_deref(), Some("sk-old"));
    let other = service("https://q.example/v1");
    assert!(
        node.secrets
            .provider_key("p", &other)
            .await
            .unwrap()
            .is_none()
    );
}
