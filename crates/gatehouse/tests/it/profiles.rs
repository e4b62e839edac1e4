//! Profiles of senders in files of the data directory, and the handshakes of senders, with a real server.

use crate::process::{Installation, PASSWORD, Server};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::Duration;

pub const ACME: &str = r#"
id = "acme"
name = "Acme"
about = "Orders and refunds"

[verify]
headers = ["x-acme-signature"]
algorithm = "hmac-sha256"
prefix = "v1="
separator = ","
signs = "{timestamp}.{body}"
timestamp = { item = "t=" }

[event]
body = ["/type"]

[delivery]
body = ["/id"]

[handshake]
body = "/type"
is = "ping"
json = { pong = "{token}", proof = "{hmac:token}" }
"#;
const SECRET: &str = "a secret of the sender";

pub fn hex(key: &str, text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    let bytes = mac.finalize().into_bytes();
    HEXLOWER.encode(&bytes)
}

pub fn now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs()
}

pub async fn write(installation: &Installation, name: &str, text: &str) {
    let folder = installation.data_dir().join("profiles");
    tokio::fs::create_dir_all(&folder).await.unwrap();
    tokio::fs::write(folder.join(name), text).await.unwrap();
}

pub fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn made(server: &Server, profile: &str) -> Value {
    let params =
        json!({ "name": "n", "source_profile": profile, "secret": SECRET, "deliver_only": true });
    server.rpc("", "webhooks.create", params).await["result"].clone()
}

async fn post(
    server: &Server,
    webhook: &Value,
    header: (&str, String),
    body: String,
) -> reqwest::Response {
    let public_id = webhook["public_id"].as_str().unwrap();
    let url = format!("{}/api/webhooks/ingest/{public_id}", server.url);
    let request = client().post(url).header(header.0, header.1);
    request.body(body).send().await.unwrap()
}

fn acme_signature(secret: &str, time: u64, body: &str) -> (&'static str, String) {
    let signature = hex(secret, &format!("{time}.{body}"));
    ("x-acme-signature", format!("t={time},v1={signature}"))
}

#[tokio::test]
async fn a_file_adds_a_sender_with_its_handshake() {
    let installation = Installation::new();
    write(&installation, "acme.toml", ACME).await;
    write(&installation, "notes.txt", "no profile").await;
    let server = installation.start();
    let listed = server.rpc("", "webhooks.profiles", json!({})).await["result"].clone();
    let profiles = listed["profiles"].as_array().unwrap();
    let acme = profiles
        .iter()
        .find(|profile| profile["id"] == "acme")
        .unwrap();
    assert_eq!(acme["default_auth_mode"], "acme_signature");
    let modes = listed["auth_modes"].as_array().unwrap();
    assert!(modes.iter().any(|mode| mode["id"] == "acme_signature"));

    let webhook = made(&server, "acme").await;
    let body = r#"{"type":"ping","token":"abc"}"#.to_owned();
    let answer = post(
        &server,
        &webhook,
        acme_signature(SECRET, now(), &body),
        body.clone(),
    )
    .await;
    assert_eq!(answer.status(), 200);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(
        answer,
        json!({ "pong": "abc", "proof": hex(SECRET, "abc") })
    );
    let wrong = post(
        &server,
        &webhook,
        acme_signature("another", now(), &body),
        body.clone(),
    )
    .await;
    assert_eq!(wrong.status(), 401);

    let body = r#"{"type":"order.paid","id":"1"}"#.to_owned();
    let send = |time: u64, body: &str| {
        post(
            &server,
            &webhook,
            acme_signature(SECRET, time, body),
            body.to_owned(),
        )
    };
    assert_eq!(send(now(), &body).await.status(), 202);
    assert_eq!(send(now(), &body).await.status(), 200, "a duplicate");
    assert_eq!(
        send(now() - 302, r#"{"id":"2"}"#).await.status(),
        401,
        "too old"
    );
    let tested = server
        .rpc("", "webhooks.test", json!({ "id": webhook["id"] }))
        .await;
    assert_eq!(tested["result"]["status"], "queued", "{tested}");
}

async fn until<T>(look: impl AsyncFn() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), found).await;
    found.unwrap()
}

/// Waits until the check of profile files has this outcome.
async fn checked(server: &Server, is_it: impl Fn(&Value) -> bool) -> Value {
    until(async || {
        let doctor = server.rpc("", "system.doctor", json!({})).await;
        let checks = doctor["result"]["checks"].as_array().unwrap();
        let mut checks = checks.iter().filter(|check| check["id"] == "profiles");
        checks.next().filter(|check| is_it(check)).cloned()
    })
    .await
}

/// Sends a signed order. Returns the status and the code of the error.
async fn order(server: &Server, webhook: &Value, id: &str) -> (u16, Value) {
    let body = format!(r#"{{"type":"order.paid","id":"{id}"}}"#);
    let signature = acme_signature(SECRET, now(), &body);
    let answer = post(server, webhook, signature, body).await;
    let status = answer.status().as_u16();
    let answer: Value = answer.json().await.unwrap();
    (status, answer["code"].clone())
}

/// Sends the request with which a hub verifies the URL. Returns the status.
async fn hub(server: &Server, webhook: &Value) -> u16 {
    let public_id = webhook["public_id"].as_str().unwrap();
    let url = format!("{}/api/webhooks/ingest/{public_id}", server.url);
    let url = format!("{url}?hub.mode=subscribe&hub.verify_token=x&hub.challenge=1");
    client().get(url).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn files_are_read_again_when_they_change_and_a_mistake_keeps_the_last_version() {
    let installation = Installation::new();
    write(&installation, "acme.toml", ACME).await;
    let server = installation.start();
    checked(&server, |check| check["ok"] == true).await;
    let webhook = made(&server, "acme").await;
    assert_eq!(order(&server, &webhook, "1").await.0, 202);
    assert_eq!(hub(&server, &webhook).await, 405);

    write(
        &installation,
        "acme.toml",
        &ACME.replace("hmac-sha256", "md5"),
    )
    .await;
    let check = checked(&server, |check| check["ok"] == false).await;
    let message = check["message"].as_str().unwrap();
    assert!(
        message.contains("profiles/acme.toml:8: unknown variant `md5`"),
        "{message}"
    );
    assert!(
        check["subjects"].is_null(),
        "the profile is in use: {check}"
    );
    assert_eq!(order(&server, &webhook, "2").await.0, 202);
    let log = installation.log().await;
    assert!(log.contains("a profile file has a mistake"), "{log}");

    // A weaker mode in the file does not become the mode of a webhook.
    let weaker =
        "id = \"acme\"\nname = \"Acme\"\nabout = \"Orders\"\nverify = { mode = \"bearer\" }\n";
    write(&installation, "acme.toml", weaker).await;
    let check = checked(&server, |check| !check["subjects"].is_null()).await;
    assert_eq!(check["subjects"][0]["id"], webhook["id"], "{check}");
    let bearer = ("authorization", format!("Bearer {SECRET}"));
    let answer = post(&server, &webhook, bearer, "{}".to_owned()).await;
    assert_eq!(answer.status(), 503);
    assert_eq!(
        order(&server, &webhook, "3").await,
        (503, json!("NOT_CONFIGURED"))
    );

    write(&installation, "acme.toml", ACME).await;
    checked(&server, |check| check["ok"] == true).await;
    assert_eq!(order(&server, &webhook, "3").await.0, 202);
    let file = installation.data_dir().join("profiles/acme.toml");
    tokio::fs::remove_file(file).await.unwrap();
    checked(&server, |check| check["ok"] == false).await;
    assert_eq!(order(&server, &webhook, "4").await.0, 503);
    assert_eq!(hub(&server, &webhook).await, 503);
    let list = server.rpc("", "webhooks.list", json!({})).await;
    let mode = &list["result"]["webhooks"][0]["auth_mode"];
    assert_eq!(mode, "acme_signature", "{list}");
    // Refusals are stored in the background.
    until(async || {
        let refused = json!({ "id": webhook["id"], "statuses": ["rejected"] });
        let refused = server.rpc("", "webhooks.deliveries", refused).await;
        let newest = &refused["result"]["deliveries"][0];
        (newest["error"] == "profile_missing").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_mistake_at_the_start_concerns_the_webhooks_of_its_profile_only() {
    let installation = Installation::new();
    let with_bearer =
        "id = \"plain\"\nname = \"Plain\"\nabout = \"A\"\nverify = { mode = \"bearer\" }\n";
    write(&installation, "acme.toml", ACME).await;
    write(&installation, "plain.toml", with_bearer).await;
    let server = installation.start();
    let acme = made(&server, "acme").await;
    let (plain, other) = (made(&server, "plain").await, made(&server, "generic").await);
    server.stop();

    let broken = |text: &str| text.replace("about", "abuot");
    write(&installation, "acme.toml", &broken(ACME)).await;
    write(&installation, "plain.toml", &broken(with_bearer)).await;
    write(
        &installation,
        "github.toml",
        &ACME.replace("\"acme\"", "\"github\""),
    )
    .await;
    let large = format!("{ACME}#{}", "x".repeat(65_536));
    write(&installation, "large.toml", &large).await;
    let server = installation.start();
    let check = checked(&server, |check| check["ok"] == false).await;
    let message = check["message"].as_str().unwrap();
    for expected in [
        "profiles/acme.toml:4: unknown field `abuot`",
        "profiles/github.toml: the profile `github` already exists",
        "profiles/large.toml:1: larger than 65536 bytes",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(check["subjects"].as_array().unwrap().len(), 2, "{check}");

    assert_eq!(
        order(&server, &acme, "1").await,
        (503, json!("NOT_CONFIGURED"))
    );
    // The mode exists, but the events and IDs cannot be read.
    let bearer = || ("authorization", format!("Bearer {SECRET}"));
    let post_to = async |webhook: &Value, header| {
        let answer = post(&server, webhook, header, "{}".to_owned()).await;
        answer.status().as_u16()
    };
    assert_eq!(post_to(&plain, bearer()).await, 503);
    assert_eq!(post_to(&plain, ("x-other", "x".to_owned())).await, 503);
    let tested = json!({ "id": plain["id"] });
    let tested = server.rpc("", "webhooks.test", tested).await;
    assert_eq!(
        tested["error"]["data"]["code"], "NOT_CONFIGURED",
        "{tested}"
    );
    let own = ("x-webhook-secret", SECRET.to_owned());
    assert_eq!(post_to(&other, own).await, 202, "another profile");

    write(&installation, "plain.toml", with_bearer).await;
    checked(&server, |check| {
        check["subjects"].as_array().is_some_and(|it| it.len() == 1)
    })
    .await;
    assert_eq!(post_to(&plain, bearer()).await, 202);
    assert_eq!(post_to(&plain, ("x-other", "x".to_owned())).await, 401);
}

#[tokio::test]
async fn deliveries_that_are_held_wait_for_their_profile() {
    let mut installation = Installation::new();
    installation.env("SERVICE_VAULT__HOLD_WHILE_SEALED", "true");
    write(&installation, "acme.toml", ACME).await;
    let server = installation.start();
    server.set_up().await;
    let key = installation.make_key(&server, &["operator.admin"]).await;
    let params =
        json!({ "name": "n", "source_profile": "acme", "secret": SECRET, "deliver_only": true });
    let made = server.rpc(&key, "webhooks.create", params).await;
    let webhook = made["result"].clone();
    server.stop();
    let server = installation.start();
    assert_eq!(order(&server, &webhook, "1").await.0, 202, "held");
    server.stop();

    let file = installation.data_dir().join("profiles/acme.toml");
    tokio::fs::remove_file(file).await.unwrap();
    let server = installation.start();
    assert_eq!(order(&server, &webhook, "2").await.0, 503, "not held");
    // Logging in unlocks the vault.
    let login = json!({ "password": PASSWORD });
    assert_eq!(server.post("/api/auth/login", login).await.status, 200);
    let stays = "the webhook of held deliveries cannot be used; they stay";
    until(async || installation.log().await.contains(stays).then_some(())).await;
    write(&installation, "acme.toml", ACME).await;
    let ended = until(async || {
        let done = json!({ "statuses": ["completed", "failed", "deduplicated"] });
        let list = server.rpc(&key, "webhooks.deliveries", done).await;
        let list = list["result"]["deliveries"].as_array().unwrap().clone();
        (!list.is_empty()).then_some(list)
    });
    let ended = ended.await;
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(ended[0]["status"], "completed", "{ended:?}");
}

#[tokio::test]
async fn a_hub_gets_its_challenge_for_the_right_token_of_a_new_webhook() {
    let installation = Installation::new();
    let server = installation.start();
    let webhook = made(&server, "meta").await;
    let token = webhook["verify_token"].as_str().unwrap();
    let url = |webhook: &Value| {
        let public_id = webhook["public_id"].as_str().unwrap();
        format!("{}/api/webhooks/ingest/{public_id}", server.url)
    };
    let ask = async |url: String, token: &str, challenge: &str| {
        let query = [
            ("hub.mode", "subscribe"),
            ("hub.verify_token", token),
            ("hub.challenge", challenge),
        ];
        client().get(url).query(&query).send().await.unwrap()
    };
    let answer = ask(url(&webhook), token, "1158201444").await;
    assert_eq!(answer.status(), 200);
    let kind = answer.headers()["content-type"].to_str().unwrap();
    assert!(kind.starts_with("text/plain"), "{kind}");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert_eq!(answer.text().await.unwrap(), "1158201444");
    let answer = ask(url(&webhook), "wrong", "1158201444").await;
    assert_eq!(answer.status(), 401);
    assert!(!answer.text().await.unwrap().contains("1158201444"));
    assert_eq!(ask(url(&webhook), SECRET, "1").await.status(), 401);
    assert_eq!(ask(url(&webhook), token, "<script>").await.status(), 401);
    // Other senders and unknown webhooks answer alike.
    let other = made(&server, "github").await;
    assert!(other.get("verify_token").is_none(), "{other}");
    assert_eq!(ask(url(&other), token, "1").await.status(), 405);
    assert_eq!(
        ask(url(&json!({ "public_id": "wh_none" })), token, "1")
            .await
            .status(),
        405
    );
    let disable = json!({ "id": webhook["id"], "enabled": false });
    server.rpc("", "webhooks.update", disable).await;
    assert_eq!(ask(url(&webhook), token, "1").await.status(), 405);
}

#[tokio::test]
async fn a_discord_interaction_gets_a_pong_and_a_reply() {
    use ed25519_dalek::{Signer as _, SigningKey};
    let installation = Installation::new();
    let server = installation.start();
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = HEXLOWER.encode(key.verifying_key().as_bytes());
    let create = |secret: &str| json!({ "name": "n", "source_profile": "discord_interactions", "secret": secret, "deliver_only": true });
    let refused = server.rpc("", "webhooks.create", create("not a key")).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("public key"),
        "{refused}"
    );
    let webhook = server.rpc("", "webhooks.create", create(&public)).await["result"].clone();
    let send = async |body: &str, signed: &str| {
        let time = now().to_string();
        let signature = HEXLOWER.encode(&key.sign(format!("{time}{signed}").as_bytes()).to_bytes());
        let public_id = webhook["public_id"].as_str().unwrap();
        let url = format!("{}/api/webhooks/ingest/{public_id}", server.url);
        let request = client().post(url).body(body.to_owned());
        let request = request.header("x-signature-timestamp", time);
        request
            .header("x-signature-ed25519", signature)
            .send()
            .await
            .unwrap()
    };
    let ping = r#"{"type":1,"id":"1"}"#;
    let answer = send(ping, ping).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.json::<Value>().await.unwrap(), json!({ "type": 1 }));
    assert_eq!(send(ping, "{}").await.status(), 401);
    let command = r#"{"type":2,"id":"2","data":{"name":"deploy"}}"#;
    let answer = send(command, command).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.json::<Value>().await.unwrap()["type"], 4);
    // Discord shows an error for every other response, even to an interaction that starts nothing.
    let again = send(command, command).await;
    assert_eq!(again.status(), 200);
    assert_eq!(again.json::<Value>().await.unwrap()["type"], 4);
    let only = json!({ "id": webhook["id"], "events": { "allow": ["command"] } });
    server.rpc("", "webhooks.update", only).await;
    let button = r#"{"type":3,"id":"3","data":{"custom_id":"ok"}}"#;
    let filtered = send(button, button).await;
    assert_eq!(filtered.status(), 200);
    assert_eq!(
        filtered.json::<Value>().await.unwrap(),
        json!({ "type": 6 })
    );
    let list = json!({ "id": webhook["id"], "statuses": ["filtered", "deduplicated"] });
    let list = server.rpc("", "webhooks.deliveries", list).await;
    let list = list["result"]["deliveries"].as_array().unwrap();
    assert_eq!(list.len(), 2, "{list:?}");
    let tested = server
        .rpc("", "webhooks.test", json!({ "id": webhook["id"] }))
        .await;
    assert!(
        tested["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Only the sender"),
        "{tested}"
    );
    // A forwarded request whose payload is not kept has no signature.
    let list = server.rpc("", "webhooks.deliveries", json!({})).await;
    let id = list["result"]["deliveries"].as_array().unwrap().iter();
    let id = id
        .filter(|one| one["status"] == "completed")
        .map(|one| &one["id"])
        .next()
        .unwrap();
    let request = server
        .rpc("", "webhooks.delivery.request", json!({ "id": id }))
        .await;
    assert_eq!(request["result"]["origin"], "unsigned", "{request}");
}
