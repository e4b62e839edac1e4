//! The requests with which vendors verify an endpoint, sent to a real server as the vendors' documents describe them.
//! The vendors' own libraries answer the same requests; `GATEHOUSE_TEST_NODE_SDKS` names the folder in which
//! `tests/webhook-sdks/package.json` was installed (`cargo xtask test` does that).

use crate::process::{Installation, Server};
use crate::profiles::{client, hex, now};
use data_encoding::HEXLOWER;
use ed25519_dalek::{Signer as _, SigningKey};
use gatehouse_domain::Timestamp;
use gatehouse_doubles::prepared;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The secret of every vendor except Discord, which has a key pair.
const SECRET: &str = "a secret of the sender";
/// The content type of a text. Twitch documents `text/plain`.
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
/// A challenge of Meta.
const CHALLENGE: &str = "1158201444";

type Headers = Vec<(&'static str, String)>;

/// A vendor that verifies an endpoint with a signed POST request.
struct Vendor {
    profile: &'static str,
    /// The handshake, as the vendor's documents show it.
    handshake: &'static str,
    /// An event, which is no handshake.
    event: &'static str,
    /// Unsigned headers of the handshake and of the event.
    kinds: [Option<(&'static str, &'static str)>; 2],
    /// Returns the headers with the signature of a body at a time, in Unix seconds.
    sign: fn(&str, u64) -> Headers,
    /// The response that the documents require.
    content_type: &'static str,
    answer: &'static str,
    /// The maximum age of a signature, in seconds.
    tolerance_seconds: u64,
}

/// <https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint>: the answer repeats the token, and
/// adds its HMAC-SHA256 with the secret token.
const ZOOM: Vendor = Vendor {
    profile: "zoom",
    handshake: concat!(
        r#"{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"#,
        r#""event":"endpoint.url_validation"}"#,
    ),
    event: r#"{"event":"meeting.started","payload":{"account_id":"1","object":{"id":"2","topic":"t"}}}"#,
    kinds: [None, None],
    sign: sign_zoom,
    content_type: JSON,
    // The HMAC is from `openssl dgst -sha256 -hmac 'a secret of the sender'`.
    answer: concat!(
        r#"{"plainToken":"qgg8vlvZRS6UYooatFL8Aw","#,
        r#""encryptedToken":"4e36651e610e885948b431c25e4962e2eb36dba0ed09e45176f230f0da425213"}"#,
    ),
    tolerance_seconds: 300,
};

fn sign_zoom(body: &str, time: u64) -> Headers {
    let signature = hex(SECRET, &format!("v0:{time}:{body}"));
    vec![
        ("x-zm-request-timestamp", time.to_string()),
        ("x-zm-signature", format!("v0={signature}")),
    ]
}

/// <https://dev.twitch.tv/docs/eventsub/handling-webhook-events/#responding-to-a-challenge-request>: the answer is the
/// raw challenge and nothing else.
const TWITCH: Vendor = Vendor {
    profile: "twitch",
    handshake: concat!(
        r#"{"challenge":"pogchamp-kappa-360noscope-vohiyo","subscription":{"#,
        r#""id":"f1c2a387-161a-49f9-a165-0f21d7a4e1c4","#,
        r#""status":"webhook_callback_verification_pending","type":"channel.follow","version":"1","#,
        r#""cost":1,"condition":{"broadcaster_user_id":"12826"},"transport":{"method":"webhook","#,
        r#""callback":"https://example.com/webhooks/callback"},"#,
        r#""created_at":"2019-11-16T10:11:12.634234626Z"}}"#,
    ),
    event: concat!(
        r#"{"subscription":{"type":"channel.follow"},"event":{"user_name":"Cool_User","#,
        r#""broadcaster_user_id":"12826","broadcaster_user_name":"Twitch"}}"#,
    ),
    kinds: [
        Some((
            "twitch-eventsub-message-type",
            "webhook_callback_verification",
        )),
        Some(("twitch-eventsub-message-type", "notification")),
    ],
    sign: sign_twitch,
    content_type: TEXT,
    answer: "pogchamp-kappa-360noscope-vohiyo",
    tolerance_seconds: 600,
};

fn sign_twitch(body: &str, time: u64) -> Headers {
    let id = "e76c6bd4-55c9-4987-8304-da1588d8988b";
    let millis = i64::try_from(time * 1000).unwrap();
    let time = Timestamp::from_millis(millis).to_string();
    let signature = hex(SECRET, &format!("{id}{time}{body}"));
    vec![
        ("twitch-eventsub-message-id", id.to_owned()),
        ("twitch-eventsub-message-timestamp", time),
        (
            "twitch-eventsub-message-signature",
            format!("sha256={signature}"),
        ),
        (
            "twitch-eventsub-subscription-type",
            "channel.follow".to_owned(),
        ),
    ]
}

/// <https://docs.slack.dev/reference/events/url_verification>: the answer may be text, a form or JSON.
const SLACK: Vendor = Vendor {
    profile: "slack",
    handshake: concat!(
        r#"{"token":"Jhj5dZrVaK7ZwHHjRyZWjbDl","#,
        r#""challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}"#,
    ),
    event: concat!(
        r#"{"type":"event_callback","team_id":"T1","event_id":"Ev1","#,
        r#""event":{"type":"app_mention","channel":"C1","text":"hi"}}"#,
    ),
    kinds: [None, None],
    sign: sign_slack,
    content_type: JSON,
    answer: r#"{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}"#,
    tolerance_seconds: 300,
};

fn sign_slack(body: &str, time: u64) -> Headers {
    let signature = hex(SECRET, &format!("v0:{time}:{body}"));
    vec![
        ("x-slack-request-timestamp", time.to_string()),
        ("x-slack-signature", format!("v0={signature}")),
    ]
}

/// <https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint>: PONG to a PING.
const DISCORD: Vendor = Vendor {
    profile: "discord_interactions",
    handshake: r#"{"type":1,"id":"1","application_id":"2","token":"t","version":1}"#,
    event: r#"{"type":2,"id":"3","data":{"name":"deploy"}}"#,
    kinds: [None, None],
    sign: sign_discord,
    content_type: JSON,
    answer: r#"{"type":1}"#,
    tolerance_seconds: 300,
};

/// Only Discord can sign with its own key.
fn discord_key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

fn sign_discord(body: &str, time: u64) -> Headers {
    let signature = discord_key().sign(format!("{time}{body}").as_bytes());
    vec![
        ("x-signature-timestamp", time.to_string()),
        (
            "x-signature-ed25519",
            HEXLOWER.encode(&signature.to_bytes()),
        ),
    ]
}

const VENDORS: [Vendor; 4] = [ZOOM, TWITCH, SLACK, DISCORD];

#[derive(Clone, Copy)]
enum Kind {
    Handshake,
    Event,
}

impl Vendor {
    /// Returns the secret or public key that the webhook stores.
    fn secret(&self) -> String {
        if self.profile == DISCORD.profile {
            HEXLOWER.encode(discord_key().verifying_key().as_bytes())
        } else {
            SECRET.to_owned()
        }
    }

    fn headers(&self, kind: Kind, signed: &str, time: u64) -> Headers {
        let [handshake, event] = self.kinds;
        let kind = match kind {
            Kind::Handshake => handshake,
            Kind::Event => event,
        };
        let mut headers = (self.sign)(signed, time);
        headers.extend(kind.map(|(name, value)| (name, value.to_owned())));
        headers
    }

    /// Returns whether this is the answer that the vendor documents. The order of members does not
    /// matter.
    fn is_answer(&self, response: &Response) -> bool {
        response.status == StatusCode::OK
            && response.content_type == self.content_type
            && response.content() == content(self.content_type, self.answer)
    }
}

/// Returns a body, parsed if it is JSON.
fn content(content_type: &str, body: &str) -> Value {
    if content_type.starts_with(JSON) {
        serde_json::from_str(body).unwrap()
    } else {
        Value::from(body)
    }
}

#[derive(Debug)]
struct Response {
    status: StatusCode,
    content_type: String,
    body: String,
}

impl Response {
    async fn read(response: reqwest::Response) -> Self {
        let content_type = response.headers().get("content-type");
        let content_type = content_type.map(|value| value.to_str().unwrap().to_owned());
        Self {
            status: response.status(),
            content_type: content_type.unwrap_or_default(),
            body: response.text().await.unwrap(),
        }
    }

    fn content(&self) -> Value {
        content(&self.content_type, &self.body)
    }
}

async fn made(server: &Server, profile: &str, secret: &str) -> Value {
    let params =
        json!({ "name": "n", "source_profile": profile, "secret": secret, "deliver_only": true });
    server.rpc("", "webhooks.create", params).await["result"].clone()
}

fn url(server: &Server, webhook: &Value) -> String {
    let public_id = webhook["public_id"].as_str().unwrap();
    format!("{}/api/webhooks/ingest/{public_id}", server.url)
}

async fn send(
    server: &Server,
    webhook: &Value,
    headers: &[(&'static str, String)],
    body: &str,
) -> Response {
    let mut request = client().post(url(server, webhook)).body(body.to_owned());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    Response::read(request.send().await.unwrap()).await
}

fn hub_query(token: &str) -> [(&'static str, &str); 3] {
    [
        ("hub.mode", "subscribe"),
        ("hub.verify_token", token),
        ("hub.challenge", CHALLENGE),
    ]
}

async fn ask(server: &Server, webhook: &Value, token: &str) -> Response {
    let request = client().get(url(server, webhook));
    let request = request.query(&hub_query(token));
    Response::read(request.send().await.unwrap()).await
}

/// Returns the deliveries of a webhook that were not refused.
async fn taken(server: &Server, webhook: &Value) -> Vec<Value> {
    let params = json!({ "id": webhook["id"] });
    let listed = server.rpc("", "webhooks.deliveries", params).await;
    let mut deliveries = listed["result"]["deliveries"].as_array().unwrap().clone();
    deliveries.retain(|delivery| delivery["status"] != "rejected");
    deliveries
}

#[tokio::test]
async fn a_handshake_gets_the_documented_answer_and_makes_no_delivery() {
    let installation = Installation::new();
    let server = installation.start();
    for vendor in VENDORS {
        let profile = vendor.profile;
        let webhook = made(&server, profile, &vendor.secret()).await;
        // Zoom sends the handshake again every 72 hours.
        for seconds_ago in [0, vendor.tolerance_seconds - 60] {
            let time = now() - seconds_ago;
            let headers = vendor.headers(Kind::Handshake, vendor.handshake, time);
            let response = send(&server, &webhook, &headers, vendor.handshake).await;
            assert!(vendor.is_answer(&response), "{profile}: {response:?}");
        }
        // A delivery is stored before its response, so the event follows every earlier delivery.
        let headers = vendor.headers(Kind::Event, vendor.event, now());
        let response = send(&server, &webhook, &headers, vendor.event).await;
        assert!(response.status.is_success(), "{profile}: {response:?}");
        let taken = taken(&server, &webhook).await;
        assert_eq!(taken.len(), 1, "{profile}: {taken:?}");
        assert!(taken[0]["event_type"].is_string(), "{profile}: {taken:?}");
    }
    server.stop();
}

#[tokio::test]
async fn a_handshake_that_its_vendor_did_not_sign_is_refused() {
    let installation = Installation::new();
    let server = installation.start();
    for vendor in VENDORS {
        let (profile, handshake) = (vendor.profile, vendor.handshake);
        let webhook = made(&server, profile, &vendor.secret()).await;
        let old = now() - vendor.tolerance_seconds - 2;
        let unsigned = vendor.headers(Kind::Handshake, handshake, now());
        let unsigned: Headers = unsigned
            .into_iter()
            .filter(|(name, _)| !name.contains("signature"))
            .collect();
        for (problem, headers) in [
            (
                "other bytes",
                vendor.headers(Kind::Handshake, vendor.event, now()),
            ),
            ("too old", vendor.headers(Kind::Handshake, handshake, old)),
            ("no signature", unsigned),
        ] {
            let response = send(&server, &webhook, &headers, handshake).await;
            assert_eq!(
                response.status,
                StatusCode::UNAUTHORIZED,
                "{profile}, {problem}"
            );
            assert!(
                !response.body.contains(vendor.answer),
                "{profile}, {problem}"
            );
        }
        assert!(taken(&server, &webhook).await.is_empty(), "{profile}");
    }
    server.stop();
}

/// <https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests>
#[tokio::test]
async fn a_hub_gets_its_challenge_and_makes_no_delivery() {
    let installation = Installation::new();
    let server = installation.start();
    let webhook = made(&server, "meta", SECRET).await;
    let verify_token = webhook["verify_token"].as_str().unwrap();
    let response = ask(&server, &webhook, verify_token).await;
    assert_eq!(response.status, StatusCode::OK);
    assert_eq!(
        (&*response.content_type, &*response.body),
        (TEXT, CHALLENGE)
    );
    let response = ask(&server, &webhook, "wrong").await;
    assert_eq!(response.status, StatusCode::UNAUTHORIZED);
    assert!(!response.body.contains(CHALLENGE), "{response:?}");
    let event = r#"{"object":"page","entry":[{"id":"1","changes":[{"field":"feed","value":{}}]}]}"#;
    let signature = format!("sha256={}", hex(SECRET, event));
    let headers = [("x-hub-signature-256", signature)];
    let response = send(&server, &webhook, &headers, event).await;
    assert_eq!(response.status, StatusCode::ACCEPTED, "{response:?}");
    let taken = taken(&server, &webhook).await;
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert_eq!(taken[0]["event_type"], "page.feed");
    server.stop();
}

/// Returns the responses of the vendors' libraries to these requests.
fn libraries(folder: &Path, requests: &Value) -> Vec<Value> {
    let mut child = Command::new("node")
        .arg("handshake.mjs")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The script reads all input before it writes. Dropping the pipe ends the input.
    let mut input = child.stdin.take().unwrap();
    input.write_all(requests.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A library and the gateway may refuse with different statuses, but neither accepts a request that the other one
/// refuses.
fn compare(ours: &Response, theirs: &Value, request: &Value) {
    let is_accepted = theirs["status"] == 200;
    assert_eq!(
        ours.status == StatusCode::OK,
        is_accepted,
        "{request}: {ours:?} {theirs}"
    );
    if !is_accepted {
        return;
    }
    if let Some(content_type) = theirs["type"].as_str() {
        let essence = ours.content_type.split(';').next();
        assert_eq!(essence, content_type.split(';').next(), "{request}");
    }
    let body = theirs["body"].as_str().unwrap();
    assert_eq!(
        ours.content(),
        content(&ours.content_type, body),
        "{request}"
    );
}

#[tokio::test]
async fn the_vendors_libraries_answer_a_handshake_alike() {
    let Some(folder) = prepared("GATEHOUSE_TEST_NODE_SDKS", "vendors' libraries") else {
        return;
    };
    let installation = Installation::new();
    let server = installation.start();
    let (mut requests, mut ours) = (Vec::new(), Vec::new());
    for vendor in VENDORS {
        let webhook = made(&server, vendor.profile, &vendor.secret()).await;
        for signed in [vendor.handshake, vendor.event] {
            let headers = vendor.headers(Kind::Handshake, signed, now());
            ours.push(send(&server, &webhook, &headers, vendor.handshake).await);
            let headers: serde_json::Map<String, Value> = headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), Value::from(value)))
                .collect();
            requests.push(json!({
                "profile": vendor.profile,
                "secret": vendor.secret(),
                "headers": headers,
                "body": vendor.handshake,
            }));
        }
    }
    let webhook = made(&server, "meta", SECRET).await;
    let verify_token = webhook["verify_token"].as_str().unwrap();
    for asked in [verify_token, "wrong"] {
        ours.push(ask(&server, &webhook, asked).await);
        let query: serde_json::Map<String, Value> = hub_query(asked)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect();
        let request =
            json!({ "profile": "meta", "secret": SECRET, "token": verify_token, "query": query });
        requests.push(request);
    }
    server.stop();
    let theirs = libraries(&folder, &Value::from(requests.clone()));
    assert_eq!(theirs.len(), requests.len());
    for ((ours, theirs), request) in ours.iter().zip(&theirs).zip(&requests) {
        compare(ours, theirs, request);
    }
    let accepted = theirs.iter().filter(|answer| answer["status"] == 200);
    assert_eq!(accepted.count(), VENDORS.len() + 1);
}
