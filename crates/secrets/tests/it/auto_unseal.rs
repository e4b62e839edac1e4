//! Unsealing at start.

use crate::harness::{PASSWORD, actor, secret, sqlite_home};
use gatehouse_secrets::Status;
use std::io::Write;
use std::path::Path;

fn write(path: &Path, text: &str) {
    std::fs::File::create(path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
}

#[tokio::test]
async fn the_file_comes_first_and_then_the_value() {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.set("A", "value").await;
    let key = node.initialize().await;
    node.stop().await;
    let (good, bad) = (installation.path("good"), installation.path("bad"));
    let (missing, long) = (installation.path("missing"), installation.path("long"));
    write(&good, &format!("{key}\n"));
    write(&bad, "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAZM-NEXS");
    write(&long, &format!("{key}{}", " ".repeat(4096)));
    let (right, wrong) = (secret(&key), secret("wrong"));
    for (file, value, unsealed) in [
        (None, None, false),
        (Some(&good), None, true),
        (Some(&good), Some(&wrong), true),
        (Some(&bad), None, false),
        (Some(&bad), Some(&right), true),
        (Some(&missing), Some(&right), true),
        (Some(&missing), Some(&wrong), false),
        (Some(&long), None, false),
        (None, Some(&right), true),
        (None, Some(&wrong), false),
    ] {
        let node = installation.start().await;
        let file = file.map(std::path::PathBuf::as_path);
        assert_eq!(node.secrets.auto_unseal(file, value).await, unsealed);
        let status = if unsealed {
            Status::Unsealed
        } else {
            Status::Sealed
        };
        assert_eq!(node.secrets.status(), status);
        assert_eq!(node.values().await.is_empty(), !unsealed);
        node.stop().await;
    }
}

#[tokio::test]
async fn there_is_nothing_to_unseal_without_a_sealed_vault() {
    let installation = sqlite_home();
    let node = installation.start().await;
    let wrong = secret("wrong");
    assert!(!node.secrets.auto_unseal(None, Some(&wrong)).await);
    assert_eq!(node.secrets.status(), Status::Uninitialized);
    let key = secret(&node.initialize().await);
    assert!(node.secrets.auto_unseal(None, Some(&key)).await);
    node.secrets.disable(actor(), None).await.unwrap();
    assert!(!node.secrets.auto_unseal(None, Some(&key)).await);
    assert_eq!(node.secrets.status(), Status::Disabled);
}

#[tokio::test]
async fn a_rotation_makes_the_key_in_the_file_useless() {
    let installation = sqlite_home();
    let node = installation.start().await;
    let key = secret(&node.initialize().await);
    node.secrets
        .rotate(actor(), secret(PASSWORD))
        .await
        .unwrap();
    node.secrets.seal(actor()).await.unwrap();
    assert!(!node.secrets.auto_unseal(None, Some(&key)).await);
}
