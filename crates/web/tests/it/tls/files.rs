//! Certificate files that change while the server runs.

use super::{presented, until};
use gatehouse_store::testing::sqlite;
use gatehouse_testkit::{Options, TestServer};
use std::path::Path;

/// Replaces a file as certificate tools do.
async fn put(path: &Path, text: &str) {
    let new = path.with_extension("new");
    tokio::fs::write(&new, text).await.unwrap();
    tokio::fs::rename(&new, path).await.unwrap();
}

async fn doctor_says(server: &TestServer, text: &str) -> bool {
    let checks = gatehouse_services::doctor::checks(server.app().services(), None).await;
    checks
        .iter()
        .any(|check| check.id == "certificate" && check.message.contains(text))
}

#[tokio::test]
async fn changed_certificate_files_are_used_without_a_restart() {
    let database = sqlite();
    let (cert, key) = (
        database.directory().join("cert.pem"),
        database.directory().join("key.pem"),
    );
    let make = || rcgen::generate_simple_self_signed(["gate.example".to_owned()]).unwrap();
    let (first, second) = (make(), make());
    put(&cert, &first.cert.pem()).await;
    put(&key, &first.signing_key.serialize_pem()).await;
    let options = Options::default()
        .database(database)
        .env("SERVICE_SERVER__TLS__CERT", "cert.pem")
        .env("SERVICE_SERVER__TLS__KEY", "key.pem");
    let server = TestServer::start(options).await;
    assert_eq!(presented(server.address()).await, *first.cert.der());
    assert!(doctor_says(&server, "valid until").await);

    put(&cert, &second.cert.pem()).await;
    until("the report", || doctor_says(&server, "are not in use")).await;
    assert_eq!(presented(server.address()).await, *first.cert.der());

    put(&key, &second.signing_key.serialize_pem()).await;
    until("the new certificate", || async {
        presented(server.address()).await == *second.cert.der()
    })
    .await;
    assert!(doctor_says(&server, "valid until").await);
}
