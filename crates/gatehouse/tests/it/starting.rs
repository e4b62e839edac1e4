//! What a server answers while it migrates its database.

use crate::process::{BINARY, Installation};
use gatehouse_store::testing::{empty_postgres, hold_write_lock};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server that does not open its database yet. It is killed on drop.
struct Starting {
    child: Child,
    address: String,
    scheme: &'static str,
    client: Client,
}

impl Drop for Starting {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Starting {
    fn new(installation: &Installation, scheme: &'static str) -> Self {
        // A free port. The system assigns other ports first, so no other process takes this port in the meantime.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let mut command = installation.prepared(Command::new(BINARY));
        command
            .args(["serve", "--bind", &address, "--data-dir"])
            .arg(installation.data_dir());
        let client = Client::builder()
            .no_proxy()
            .tls_danger_accept_invalid_certs(true)
            .timeout(Duration::from_secs(30));
        Self {
            child: command.stdout(Stdio::piped()).spawn().unwrap(),
            address,
            scheme,
            client: client.build().unwrap(),
        }
    }

    async fn get(&self, path: &str) -> reqwest::Result<Response> {
        let url = format!("{}://{}{path}", self.scheme, self.address);
        self.client.get(url).send().await
    }

    async fn until_it_listens(&self) {
        while self.get("/health/live").await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn json_of(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    (status, response.json().await.unwrap())
}

async fn answers_while_it_migrates(scheme: &'static str) {
    let Some(database) = empty_postgres().await else {
        return;
    };
    let mut installation = Installation::new();
    installation.env("SERVICE_DATABASE_URL", database.location.url());
    if scheme == "https" {
        installation.env("SERVICE_SERVER__TLS__SELF_SIGNED", "true");
        // The first start creates the certificate.
        installation.start().stop();
    }
    let lock = hold_write_lock(&database.location).await;
    let mut server = Starting::new(&installation, scheme);
    server.until_it_listens().await;
    for path in ["/health/live", "/livez", "/healthz"] {
        let (status, body) = json_of(server.get(path).await.unwrap()).await;
        let expected = json!({ "status": "ok", "reasons": [] });
        assert_eq!((status, body), (StatusCode::OK, expected), "{path}");
    }
    for path in ["/health/ready", "/readyz"] {
        let (status, body) = json_of(server.get(path).await.unwrap()).await;
        let expected = json!({ "status": "unavailable", "reasons": ["migrating"] });
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(body, expected, "{path}");
    }
    for path in ["/", "/health", "/api/rpc", "/api/webhooks/ingest/wh_1"] {
        let refused = server.get(path).await.unwrap();
        assert_eq!(refused.headers()["retry-after"], "5", "{path}");
        let id = refused.headers()["x-request-id"].clone();
        let (status, body) = json_of(refused).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(body["code"], "STORAGE_UNAVAILABLE", "{path}");
        assert_eq!(body["request_id"], id.to_str().unwrap(), "{path}");
    }
    // A client that connects now sends its request to the server after the start.
    let mut waiting = TcpStream::connect(&server.address).await.unwrap();

    drop(lock);
    // No connection is refused in between.
    while server.get("/health/ready").await.unwrap().status() != StatusCode::OK {}
    let mut stdout = BufReader::new(server.child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let listening = format!("Listening on {scheme}://{}\n", server.address);
    assert_eq!(line, listening);
    if scheme == "http" {
        let request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        waiting.write_all(request).await.unwrap();
        let mut answer = String::new();
        waiting.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_migrates_answers_probes_and_then_takes_over_its_port() {
    answers_while_it_migrates("http").await;
}

#[tokio::test]
async fn a_server_with_a_certificate_answers_probes_while_it_migrates() {
    answers_while_it_migrates("https").await;
}

#[tokio::test]
async fn a_server_of_a_shared_database_without_the_cluster_secret_warns() {
    let Some(database) = empty_postgres().await else {
        return;
    };
    let mut installation = Installation::new();
    installation.env("SERVICE_DATABASE_URL", database.location.url());
    installation.start().stop();
    let log = installation.log().await;
    assert!(log.contains("vault.cluster_secret is not set"), "{log}");
    let secret = "a secret of the cluster, long enough for it";
    installation.env("SERVICE_VAULT__CLUSTER_SECRET", secret);
    installation.start().stop();
    let log = installation.log().await;
    assert!(!log.contains("vault.cluster_secret"), "{log}");
    let alone = Installation::new();
    alone.start().stop();
    assert!(!alone.log().await.contains("vault.cluster_secret"));
}
