//! Pictures after a text: their limits, repeated messages and refusals. The tests of conversations check the requests
//! against the vendors' rules.

use crate::harness::{Harness, NOW_MS, harness};
use crate::smtp::{MailServer, Script};
use crate::vendor::{ReceivedRequest, Vendor, answer};
use crate::voices::{accepting, accounts, receiving};
use gatehouse_channels::{OfDelivery, Outgoing, Picture, SendError};
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};
use serde_json::json;
use std::collections::BTreeMap;

const NOTE: &str = "(A picture could not be sent.)";
const TEXT: &str = "Here is the chart.";

fn picture(bytes: usize) -> Picture {
    let mut data = b"\x89PNG\r\n\x1a\n".to_vec();
    data.resize(bytes, 0);
    Picture::of(data.into(), Some((2, 1))).unwrap()
}

async fn send(harness: &Harness, kind: &str, pictures: &[Picture]) -> Result<(), SendError> {
    send_with(harness, kind, TEXT, pictures).await
}

/// Sends a message of a delivery to the conversation `C1`.
async fn send_with(
    harness: &Harness,
    kind: &str,
    text: &str,
    pictures: &[Picture],
) -> Result<(), SendError> {
    let key = match kind {
        "telegram" => "chat_id",
        "slack" => "channel",
        "discord" => "channel_id",
        "matrix" => "room_id",
        _ => "none",
    };
    let extra = BTreeMap::from([(key.to_owned(), "C1".to_owned())]);
    let (webhook_id, delivery_id) = (WebhookId::from_text("hook"), DeliveryId::from_text("one"));
    let message = Outgoing {
        target: kind,
        text,
        is_json: false,
        extra: &extra,
        source: "deploys",
        at: Timestamp::from_millis(NOW_MS),
        delivery: Some(OfDelivery {
            webhook_id: &webhook_id,
            delivery_id: &delivery_id,
        }),
        pictures,
        links: &[],
    };
    harness.channels.send(message).await
}

fn contains(seen: &ReceivedRequest, part: &[u8]) -> bool {
    seen.body.windows(part.len()).any(|it| it == part)
}

/// Returns how many requests contain the beginning of a picture.
fn uploads(seen: &[ReceivedRequest]) -> usize {
    let has_picture = |seen: &&ReceivedRequest| contains(seen, b"\x89PNG");
    seen.iter().filter(has_picture).count()
}

#[tokio::test]
async fn a_picture_is_sent_up_to_the_vendors_limit() {
    let vendor = Vendor::start(accepting).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let most = if kind == "discord" {
            10 << 20
        } else {
            50_000_000
        };
        let harness = receiving(kind, fields.clone()).await;
        send(&harness, kind, &[picture(most)]).await.unwrap();
        let seen = vendor.take();
        assert!(contains(&seen[0], TEXT.as_bytes()), "the text comes first");
        assert_eq!(uploads(&seen), 1, "{kind}");
        let has_note =
            |it: &ReceivedRequest| it.body.len() < 100_000 && contains(it, NOTE.as_bytes());
        assert!(!seen.iter().any(has_note), "{kind}");

        let harness = receiving(kind, fields).await;
        send(&harness, kind, &[picture(most + 1)]).await.unwrap();
        let seen = vendor.take();
        assert_eq!((seen.len(), uploads(&seen)), (2, 0), "{kind}");
        assert!(contains(&seen[1], NOTE.as_bytes()), "{kind}");
    }
}

#[tokio::test]
async fn a_message_that_is_attempted_again_sends_no_picture_twice() {
    let vendor = Vendor::start(accepting).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let harness = receiving(kind, fields).await;
        let pictures = [picture(9), picture(10)];
        vendor.next(answer(500, &json!({})));
        send(&harness, kind, &pictures).await.unwrap_err();
        let seen = vendor.take();
        assert_eq!(
            (seen.len(), uploads(&seen)),
            (1, 0),
            "{kind}: no picture without the text"
        );
        send(&harness, kind, &pictures).await.unwrap();
        assert_eq!(uploads(&vendor.take()), 2, "{kind}");
        send(&harness, kind, &pictures).await.unwrap();
        assert!(vendor.take().is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_failure_of_unknown_effect_is_not_repeated_and_the_other_picture_is_sent() {
    let vendor = Vendor::start(accepting).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let harness = receiving(kind, fields).await;
        vendor.next(accepting_text());
        vendor.next(answer(502, &json!({})));
        send(&harness, kind, &[picture(9), picture(10)])
            .await
            .unwrap();
        let seen = vendor.take();
        assert!(contains(seen.last().unwrap(), NOTE.as_bytes()), "{kind}");
        // Slack refused the ticket, so that picture was not uploaded.
        let expected = if kind == "slack" { 1 } else { 2 };
        assert_eq!(uploads(&seen), expected, "{kind}");
    }
}

#[tokio::test]
async fn pictures_without_a_text_are_sent_alone() {
    let vendor = Vendor::start(accepting).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let harness = receiving(kind, fields).await;
        let pictures = [picture(9), picture(10)];
        send_with(&harness, kind, "", &pictures).await.unwrap();
        let seen = vendor.take();
        assert_eq!(uploads(&seen), 2, "{kind}");
        assert!(!seen.iter().any(|it| contains(it, TEXT.as_bytes())));
        send_with(&harness, kind, "", &pictures).await.unwrap();
        assert!(vendor.take().is_empty(), "{kind}");
        send_with(&harness, kind, "", &[]).await.unwrap_err();
        assert!(vendor.take().is_empty(), "{kind}: there is nothing to send");
    }
}

#[tokio::test]
async fn a_picture_that_is_no_longer_stored_keeps_its_place() {
    let vendor = Vendor::start(accepting).await;
    for (kind, fields) in accounts(&vendor.url("")) {
        let harness = receiving(kind, fields).await;
        let pictures = [Picture::missing(), picture(9)];
        send(&harness, kind, &pictures).await.unwrap();
        let seen = vendor.take();
        assert_eq!(uploads(&seen), 1, "{kind}");
        assert!(contains(seen.last().unwrap(), NOTE.as_bytes()), "{kind}");
        send(&harness, kind, &pictures).await.unwrap();
        assert!(vendor.take().is_empty(), "{kind}");
    }
}

fn accepting_text() -> crate::vendor::Answer {
    answer(200, &json!({ "ok": true, "event_id": "$1", "id": "1" }))
}

#[tokio::test]
async fn a_channel_without_pictures_gets_the_text_and_a_note() {
    let vendor = Vendor::start(accepting).await;
    let fields = json!({ "url": vendor.url(""), "topic": "t" });
    let harness = receiving("ntfy", fields).await;
    send(&harness, "ntfy", &[picture(9), picture(9)])
        .await
        .unwrap();
    let seen = vendor.take();
    let texts: Vec<&str> = seen.iter().map(ReceivedRequest::text).collect();
    assert_eq!(texts, [TEXT, "(2 pictures could not be sent.)"]);
}

async fn mailing(script: Script) -> (Harness, MailServer) {
    let (harness, server) = (harness().await, MailServer::start(script).await);
    let fields = json!({ "host": "localhost", "port": server.port, "from": "gate@example.com",
        "to": "a@example.com" });
    harness.create("email", fields).await;
    (harness, server)
}

#[tokio::test]
async fn the_pictures_of_a_mail_have_a_limit_together() {
    let (harness, server) = mailing(Script::default()).await;
    let pictures = [picture(6_999_000), picture(1000), picture(9)];
    send(&harness, "email", &pictures).await.unwrap();
    let mail = server.take_one();
    for name in ["picture-1.png", "picture-2.png"] {
        assert!(mail.data.contains(name), "{name}");
    }
    assert!(!mail.data.contains("picture-3.png") && mail.data.contains(NOTE));
    send(&harness, "email", &[picture(7_000_001)])
        .await
        .unwrap();
    let mail = server.take_one();
    assert!(!mail.data.contains("picture-1.png") && mail.data.contains(NOTE));
}

#[tokio::test]
async fn an_email_that_is_too_large_for_the_server_is_sent_without_pictures() {
    for closes in [false, true] {
        let (harness, server) = mailing(Script {
            max_bytes: Some(100_000),
            closes,
            ..Script::default()
        })
        .await;
        send(&harness, "email", &[picture(100_000)]).await.unwrap();
        let mail = server.take_one();
        assert!(mail.body().contains(TEXT) && mail.body().contains(NOTE));
        assert!(!mail.data.contains("picture-1.png"));
    }
}

#[tokio::test]
async fn an_email_can_have_a_picture_alone_and_names_a_missing_one() {
    let (harness, server) = mailing(Script::default()).await;
    let pictures = [picture(9)];
    send_with(&harness, "email", "", &pictures).await.unwrap();
    let mail = server.take_one();
    assert!(mail.data.contains("picture-1.png") && !mail.data.contains(NOTE));
    let pictures = [Picture::missing(), picture(9)];
    send(&harness, "email", &pictures).await.unwrap();
    let mail = server.take_one();
    assert!(mail.data.contains("picture-1.png") && mail.data.contains(NOTE));
}
