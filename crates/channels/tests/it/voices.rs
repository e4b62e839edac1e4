//! Voice messages of bots: their limits and the errors of refusals. The tests of conversations check the requests
//! against the vendors' rules.

use crate::harness::{Harness, give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor, answer};
use gatehouse_channels::{SendError, VoiceMessage};
use serde_json::{Value, json};
use std::time::Duration;

pub async fn receiving(kind: &str, fields: Value) -> Harness {
    let harness = harness().await;
    harness.create(kind, fields).await;
    harness
}

async fn speak(harness: &Harness, kind: &str, bytes: usize) -> Result<(), SendError> {
    let voice = VoiceMessage {
        audio: vec![0; bytes],
        duration: Duration::from_millis(1500),
    };
    let channels = &harness.channels;
    channels.send_voice(kind, "C1", None, voice).await
}

/// Returns a channel of each type with a server at this address.
pub fn accounts(url: &str) -> [(&'static str, Value); 4] {
    [
        (
            "telegram",
            json!({ "bot_token": "1:secret", "base_url": url, "inbound": true }),
        ),
        (
            "slack",
            json!({ "bot_token": "xoxb-secret", "app_token": "xapp-secret", "base_url": url, "inbound": true }),
        ),
        (
            "discord",
            json!({ "bot_token": "secret", "base_url": url, "inbound": true }),
        ),
        (
            "matrix",
            json!({ "homeserver": url, "access_token": "secret", "inbound": true }),
        ),
    ]
}

/// Accepts every request, as each of the vendors does.
pub fn accepting(seen: &ReceivedRequest) -> Answer {
    let host = seen.header("host");
    answer(
        200,
        &json!({ "ok": true, "upload_url": format!("http://{host}/upload/1"), "file_id": "F1",
        "content_uri": "mxc://a.example/x", "event_id": "$1", "id": "1" }),
    )
}

#[tokio::test]
async fn a_voice_message_is_sent_up_to_the_vendors_limit() {
    let vendor = Vendor::start(accepting).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let harness = receiving(kind, fields).await;
        let most = if kind == "discord" {
            10 << 20
        } else {
            50_000_000
        };
        speak(&harness, kind, most).await.unwrap();
        assert!(!vendor.take().is_empty());
        let why = give_up(speak(&harness, kind, most + 1).await);
        assert!(why.contains("larger than"), "{kind}: {why}");
        assert!(vendor.take().is_empty(), "{kind}");
    }
    let harness = receiving("ntfy", json!({ "url": vendor.url(""), "topic": "t" })).await;
    assert!(speak(&harness, "ntfy", 1).await.is_err());
}

#[tokio::test]
async fn a_refused_voice_message_says_why_and_no_secret() {
    let refusal = |seen: &ReceivedRequest| {
        let text = format!("secret {:?}", seen.headers);
        answer(
            403,
            &json!({ "message": text, "error": text, "description": text, "errcode": "M_FORBIDDEN" }),
        )
    };
    let vendor = Vendor::start(refusal).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let harness = receiving(kind, fields).await;
        let why = give_up(speak(&harness, kind, 9).await);
        assert!(!why.contains("secret"), "{kind}: {why}");
        vendor.next((429, vec![("retry-after", "3".to_owned())], "{}".to_owned()));
        let (after, why) = retry(speak(&harness, kind, 9).await);
        assert_eq!(after, Some(Duration::from_secs(3)), "{kind}: {why}");
    }
}

#[tokio::test]
async fn slack_must_name_its_own_server_for_an_upload() {
    for (ticket, expected) in [
        (
            json!({ "ok": true, "upload_url": "https://evil.example/x", "file_id": "F1" }),
            "unknown server",
        ),
        (
            json!({ "ok": false, "error": "missing_scope" }),
            "files:write",
        ),
        (
            json!({ "ok": false, "error": "<secret>" }),
            "`files.getUploadURLExternal`",
        ),
    ] {
        let vendor = Vendor::start(move |_: &ReceivedRequest| answer(200, &ticket)).await;
        let [_, (kind, fields), ..] = accounts(&vendor.url(""));
        let harness = receiving(kind, fields).await;
        let why = give_up(speak(&harness, kind, 9).await);
        assert!(why.contains(expected) && !why.contains("secret"), "{why}");
        let seen = vendor.take_one();
        assert_eq!(seen.target, "/api/files.getUploadURLExternal");
        assert_eq!(seen.text(), "filename=answer.mp3&length=9");
    }
}
