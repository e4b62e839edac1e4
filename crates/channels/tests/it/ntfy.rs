//! <https://docs.ntfy.sh/publish/>

use crate::harness::{give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor, answer};
use gatehouse_channels::MessageLink;
use serde_json::{Value, json};
use std::time::Duration;

fn rule(seen: &ReceivedRequest) -> Answer {
    // The server would turn a longer body into an attachment.
    if seen.method != "POST"
        || seen.body.len() > 4096
        || seen.header("authorization") != "Bearer tk_1"
    {
        return answer(
            403,
            &json!({ "code": 40_301, "http": 403, "error": "forbidden" }),
        );
    }
    answer(200, &json!({ "id": "x", "event": "message" }))
}

#[tokio::test]
async fn the_body_is_the_message_and_the_rest_are_headers() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields = json!({ "url": vendor.url(""), "topic": "alerts", "token": "tk_1" });
    harness.create("ntfy", fields).await;
    harness
        .send("ntfy", "Backup done 😀\nsecond line")
        .await
        .unwrap();
    let seen = vendor.take_one();
    assert_eq!(
        (seen.target.as_str(), seen.text()),
        ("/alerts", "Backup done 😀\nsecond line")
    );
    assert_eq!(seen.header("title"), "");
    let extra = [
        ("topic", "other/../x"),
        ("title", "Grüße\r\nX-Evil: 1"),
        ("priority", "high"),
        ("tags", "warning,skull"),
        ("click", "http://evil.example/"),
    ];
    harness.send_with("ntfy", "x", &extra).await.unwrap();
    let seen = vendor.take_one();
    assert_eq!(seen.target, "/other%2F..%2Fx");
    assert_eq!(seen.header("title"), "GrüßeX-Evil: 1");
    assert_eq!(
        (seen.header("priority"), seen.header("tags")),
        ("high", "warning,skull")
    );
    assert_eq!((seen.header("x-evil"), seen.header("click")), ("", ""));
}

#[tokio::test]
async fn links_are_buttons_of_the_last_part_and_at_most_three() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields = json!({ "url": vendor.url(""), "topic": "t", "token": "tk_1" });
    harness.create("ntfy", fields).await;
    let links = ["One", "Zwei – “2” 😀", "Three", "Four"].map(|label| MessageLink {
        label,
        url: "https://gate.example/approve/x?answer=allow",
    });
    let shown = |count: usize| {
        let action = |link: &MessageLink<'_>| json!({ "action": "view", "label": link.label, "url": link.url });
        links.iter().take(count).map(action).collect::<Value>()
    };
    for (sent, expected) in [(1, 1), (3, 3), (4, 3)] {
        let text = "x".repeat(4097);
        harness
            .send_linked("ntfy", &text, &links[..sent])
            .await
            .unwrap();
        let seen = vendor.take();
        assert_eq!((seen.len(), seen[0].header("actions")), (2, ""));
        assert!(seen[1].header("actions").is_ascii());
        let actions: Value = serde_json::from_str(seen[1].header("actions")).unwrap();
        assert_eq!(actions, shown(expected));
    }
    harness.send_linked("ntfy", "x", &[]).await.unwrap();
    assert_eq!(vendor.take_one().header("actions"), "");
    // A template or an agent cannot add actions.
    let extra = [("actions", "view, Pay, https://evil.example")];
    harness.send_with("ntfy", "y", &extra).await.unwrap();
    assert_eq!(vendor.take_one().header("actions"), "");
}

#[tokio::test]
async fn a_long_text_is_split_at_4096_bytes() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness
        .create(
            "ntfy",
            json!({ "url": vendor.url(""), "topic": "t", "token": "tk_1" }),
        )
        .await;
    for (text, parts) in [("é".repeat(2048), 1), (format!("{}x", "é".repeat(2048)), 2)] {
        harness.send("ntfy", &text).await.unwrap();
        let seen = vendor.take();
        assert_eq!(seen.len(), parts);
        assert_eq!(
            seen.iter().map(ReceivedRequest::text).collect::<String>(),
            text
        );
    }
}

#[tokio::test]
async fn limits_pass_and_refusals_do_not() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness
        .create(
            "ntfy",
            json!({ "url": vendor.url(""), "topic": "t", "token": "tk_wrong" }),
        )
        .await;
    assert!(give_up(harness.send("ntfy", "x").await).contains("refused the credentials"));
    vendor.next((
        429,
        vec![("retry-after", "5".to_owned())],
        json!({ "code": 42_901 }).to_string(),
    ));
    assert_eq!(
        retry(harness.send("ntfy", "x").await).0,
        Some(Duration::from_secs(5))
    );
}
