//! SSH keys, with keys that OpenSSH and OpenSSL made; their fingerprints are `ssh-keygen -l`'s.

use crate::harness::{Node, actor, code, homes, secret, sqlite_home};
use gatehouse_domain::ErrorCode::{Conflict, InvalidParams, NotFound, RateLimited};
use gatehouse_domain::Problem;
use gatehouse_secrets::{KdfQueue, SecretsError};
use secrecy::ExposeSecret;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

macro_rules! key {
    ($name:literal) => {
        include_str!(concat!("keys/", $name, ".pem"))
    };
}

const PASSPHRASE: &str = "open sesame";

#[tokio::test]
async fn generate_list_and_delete() {
    for home in homes().await {
        let node = home.start().await;
        node.initialize().await;
        let made = node
            .secrets
            .generate_ssh_key(actor(), "my key@host")
            .await
            .unwrap();
        assert!(made.public_key.starts_with("ssh-ed25519 AAAA"));
        assert!(made.public_key.ends_with(" my key@host"));
        assert!(made.fingerprint.starts_with("SHA256:"));
        assert_eq!((made.encrypted, &made.warning), (1, &None));
        let other = node
            .secrets
            .generate_ssh_key(actor(), "other")
            .await
            .unwrap();
        assert_ne!(other.fingerprint, made.fingerprint);
        let taken = node.secrets.generate_ssh_key(actor(), "other").await;
        assert_eq!(code(taken), Conflict);
        let taken =
            node.secrets
                .import_ssh_key(actor(), "other", secret(key!("ed25519_openssh")), None);
        assert_eq!(code(taken.await), Conflict);
        assert_eq!(node.secrets.list_ssh_keys().await.unwrap(), [made, other]);
        let refused = node.secrets.generate_ssh_key(actor(), "a/b").await;
        assert_eq!(code(refused), InvalidParams);
        node.secrets.delete_ssh_key(actor(), "other").await.unwrap();
        assert_eq!(
            code(node.secrets.delete_ssh_key(actor(), "other").await),
            NotFound
        );
        assert_eq!(code(node.secrets.ssh_private_key("other").await), NotFound);
    }
}

#[tokio::test]
async fn keys_of_other_programs_are_read() {
    let home = sqlite_home();
    let node = home.start().await;
    node.initialize().await;
    let rsa = "SHA256:qeMErZrnBurEY7iqGoNaHI8NVFJr15ZWXzck7uu9oUs";
    let p256 = "SHA256:xHCUsGuLg/MwFZXHcCzziAuO56ho9dIxArHw7BDm4e4";
    let p384 = "SHA256:voIdjHL+v2CSP+tnc+Mx7nQDst3IjNoiFCS2+1ETBd0";
    let p521 = "SHA256:gbaBvYTUXKjvFAdsvNWil3dvW+HOSQBJi9oFxhVIi4M";
    let ed25519 = "SHA256:WaT6exuZi8GrC29b/fZjl3xy86+zPI+xNh3y1q0OOoY";
    for (number, (text, locked, fingerprint)) in [
        (
            key!("ed25519_openssh"),
            false,
            "SHA256:/RaklnJ2TNUhC/puST7IXBL3MtWUYbtE0o+aHWZK+Lw",
        ),
        (
            key!("ed25519_openssh_locked"),
            true,
            "SHA256:Redd4wsF2JsGtwXmMG0Xgg5Qr0hzScM4AWTGsqg4PTU",
        ),
        (
            key!("p521_openssh_locked"),
            true,
            "SHA256:xX6wGJqNUP90YLcVvtAZxuCxes19ctIGPzCxMBAcSd0",
        ),
        (
            key!("rsa_openssh"),
            false,
            "SHA256:HH5mcJGiXHjb08ZPwppelmVUuCOmNh7xrpwewEN3SFc",
        ),
        (key!("rsa_pkcs1"), false, rsa),
        (key!("rsa_pkcs8"), false, rsa),
        (key!("rsa_pkcs8_locked"), true, rsa),
        (key!("p256_sec1"), false, p256),
        (key!("p256_pkcs8"), false, p256),
        (key!("p384_sec1"), false, p384),
        (key!("p384_pkcs8"), false, p384),
        (key!("p521_sec1"), false, p521),
        (key!("p521_pkcs8"), false, p521),
        (key!("ed25519_pkcs8"), false, ed25519),
        (key!("ed25519_pkcs8_scrypt"), true, ed25519),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("k{number}");
        // As it comes out of a text field.
        let text = format!("  \n{}\n\n", text.replace('\n', "\r\n"));
        let import = |passphrase: Option<&str>| {
            let (secrets, name, text) = (node.secrets.clone(), name.clone(), secret(&text));
            let passphrase = passphrase.map(secret);
            async move {
                secrets
                    .import_ssh_key(actor(), &name, text, passphrase)
                    .await
            }
        };
        if locked {
            for wrong in [None, Some("open barley")] {
                let problem: Problem = import(wrong).await.unwrap_err().into();
                assert_eq!(
                    (problem.code, &problem.details["field"]),
                    (InvalidParams, &"passphrase".into()),
                    "{name}"
                );
            }
        }
        let imported = import(locked.then_some(PASSPHRASE)).await;
        assert_eq!(imported.unwrap().fingerprint, fingerprint, "{name}");
        let stored = node.secrets.ssh_private_key(&name).await.unwrap();
        let stored = ssh_key::PrivateKey::from_openssh(stored.expose_secret()).unwrap();
        assert!(!stored.is_encrypted());
        assert_eq!(
            stored.fingerprint(ssh_key::HashAlg::Sha256).to_string(),
            fingerprint
        );
    }
    assert_eq!(node.encrypted().await, 15);
}

#[tokio::test]
async fn what_is_not_read_is_told_why() {
    let home = sqlite_home();
    let node = home.start().await;
    let damaged = key!("rsa_pkcs8").replace("MII", "MIJ");
    let long = format!("{}{}", key!("rsa_pkcs1"), " ".repeat(32 * 1024));
    for (text, reason) in [
        ("", "not a private key"),
        ("nonsense", "not a private key"),
        ("-----BEGIN PRIVATE KEY-----", "damaged"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
            "damaged",
        ),
        (&damaged, "damaged"),
        ("-----BEGIN DSA PRIVATE KEY-----\n", "DSA"),
        ("PuTTY-User-Key-File-3: ssh-ed25519", "PuTTY"),
        ("ssh-ed25519 AAAA me", "public key"),
        ("-----BEGIN PUBLIC KEY-----\n", "public key"),
        (key!("k256_sec1"), "P-256"),
        (key!("rsa_pkcs1_legacy_locked"), "ssh-keygen -p"),
        (key!("ed25519_pkcs8_pbes1"), "not supported"),
        (key!("ed25519_pkcs8_dear"), "too expensively"),
        (&long, "at most 32768 bytes"),
    ] {
        let passphrase = Some(secret(PASSPHRASE));
        let import = node
            .secrets
            .import_ssh_key(actor(), "k", secret(text), passphrase);
        match import.await {
            Err(SecretsError::Invalid {
                field: "private_key",
                reason: told,
            }) => {
                assert!(told.contains(reason), "{told} does not say {reason}");
            }
            other => panic!("{other:?} for {reason}"),
        }
    }
    assert!(node.secrets.list_ssh_keys().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_costly_import_neither_waits_for_logins_nor_makes_them_wait() {
    let home = sqlite_home();
    let (node, logins) = Node::start_with_queue(&home, KdfQueue::new(1)).await;
    // The one place of the logins' queue is taken for as long as this channel is open.
    let (release, held) = sync_channel::<()>(1);
    let (tell, started) = oneshot::channel();
    let mut busy = JoinSet::new();
    let queue = logins.clone();
    busy.spawn(async move {
        let job = move || {
            tell.send(()).unwrap();
            held.recv().is_err()
        };
        queue.run(actor().client, job).await
    });
    started.await.unwrap();
    let import = node.secrets.import_ssh_key(
        actor(),
        "k",
        secret(key!("ed25519_openssh_1_rounds")),
        Some(secret(PASSPHRASE)),
    );
    let imported = tokio::time::timeout(Duration::from_secs(20), import).await;
    assert!(
        imported.is_ok_and(|import| import.is_ok()),
        "it waits for logins"
    );
    drop(release);
    assert_eq!(busy.join_all().await, [Ok(true)]);

    // Imports that wait for one another hold no place of the logins' queue: each login starts at once.
    let mut imports = JoinSet::new();
    for number in 0..2 {
        let secrets = node.secrets.clone();
        imports.spawn(async move {
            let (key, passphrase) = (key!("ed25519_openssh_locked"), secret(PASSPHRASE));
            let name = format!("costly {number}");
            let import = secrets.import_ssh_key(actor(), &name, secret(key), Some(passphrase));
            import.await.map(drop).unwrap();
        });
    }
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(logins.run(actor().client, || 7).await, Ok(7));
    assert!(
        imports.try_join_next().is_none(),
        "the login waited for the imports"
    );
    imports.join_all().await;
}

#[tokio::test]
async fn few_imports_wait_and_the_others_are_refused() {
    let home = sqlite_home();
    let node = home.start().await;
    let mut imports = tokio::task::JoinSet::new();
    // One runs and two wait.
    for number in 0..6 {
        let secrets = node.secrets.clone();
        imports.spawn(async move {
            let (key, passphrase) = (key!("ed25519_openssh_locked"), secret(PASSPHRASE));
            let name = format!("k{number}");
            let import = secrets.import_ssh_key(actor(), &name, secret(key), Some(passphrase));
            import.await.map_err(|error| Problem::from(error).code)
        });
    }
    let answers = imports.join_all().await;
    let refused = answers.iter().filter(|answer| **answer == Err(RateLimited));
    assert_eq!(refused.count(), 3, "{answers:?}");
}

#[tokio::test]
async fn rounds_of_bcrypt_at_the_limit_and_past_it() {
    let home = sqlite_home();
    let node = home.start().await;
    let import = |name: &'static str, key: &str| {
        let (secrets, key) = (node.secrets.clone(), secret(key));
        async move {
            let passphrase = Some(secret(PASSPHRASE));
            secrets.import_ssh_key(actor(), name, key, passphrase).await
        }
    };
    import("limit", key!("ed25519_openssh_256_rounds"))
        .await
        .unwrap();
    let refused = import("past", key!("ed25519_openssh_257_rounds")).await;
    match refused {
        Err(SecretsError::Invalid { field, reason }) => {
            assert_eq!(field, "private_key");
            assert!(
                reason.contains("256") && reason.contains("ssh-keygen -p -a"),
                "{reason}"
            );
        }
        other => panic!("{other:?}"),
    }
}
