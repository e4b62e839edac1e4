//! Files in the payloads of deliveries that an agent processes.

use super::harness::{Harness, everywhere};
use bytes::Bytes;
use data_encoding::BASE64;
use futures_util::future::BoxFuture;
use gatehouse_agents::NewAttachment;
use gatehouse_domain::DeliveryStatus;
use gatehouse_doubles::openai::last_text;
use gatehouse_store::NewDelivery;
use serde_json::{Value, json};
use std::sync::Arc;

/// Accepts every file as a picture, unless it begins with 0.
fn picture(data: Bytes) -> BoxFuture<'static, Option<NewAttachment>> {
    let picture = NewAttachment {
        name: String::new(),
        media_type: "image/png",
        pixels: Some((640, 480)),
        text: None,
        picture: Some(vec![0xff, 0xd8]),
        data: data.clone(),
    };
    Box::pin(async move { (data.first() != Some(&0)).then_some(picture) })
}

/// Returns a `data:` URL of bytes with this value.
fn file(byte: u8) -> String {
    format!("data:image/png;base64,{}", BASE64.encode(&[byte; 60]))
}

/// Runs an agent on a payload. Returns the text of its message, and the names of the message's files.
async fn run(harness: &Harness, number: u32, payload: &Value) -> (String, Vec<String>) {
    let webhook = harness.webhook(&number.to_string(), json!({})).await;
    let session = format!("s{number}");
    let delivery = NewDelivery {
        payload: Some(payload.to_string()),
        ..harness.delivery(number, &webhook, &session)
    };
    harness.work();
    harness.insert(vec![delivery]).await;
    harness.until(number, DeliveryStatus::Completed).await;
    let history = harness.agents.history(&session, 10, None).await.unwrap();
    let message = json!(history.messages)[0].clone();
    let files = message["attachments"].as_array().cloned();
    let name = |file: Value| file["name"].as_str().unwrap().to_owned();
    let names = files.unwrap_or_default().into_iter().map(name).collect();
    (message["content"].as_str().unwrap().to_owned(), names)
}

#[tokio::test]
async fn four_files_of_a_payload_are_files_of_the_message_and_the_fifth_stays() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.webhooks.read_files_with(Arc::new(picture));
        let files: Vec<String> = (1..=5).map(file).collect();
        let (text, names) = run(&harness, 1, &json!({ "f": files, "again": files[0] })).await;
        let expected = ["1", "2", "3", "4"].map(|number| format!("picture-{number}.png"));
        assert_eq!(names, expected);
        let one = "[picture 1: image/png, 640 × 480 pixels]";
        assert!(
            text.contains(&format!("again: {one}\nf: {one}, [picture 2: ")),
            "{text}"
        );
        assert!(text.contains(&format!(
            "[picture 4: image/png, 640 × 480 pixels], {}",
            file(5)
        )));
        assert!(!text.contains(&file(4)), "{text}");
        assert!(last_text(&model.last()).contains("name: picture-4.png\ntype: image/png"));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_read_and_all_files_without_a_reader_stay_in_the_payload() {
    everywhere(|database, model| async move {
        for (number, has_reader, byte) in [(1, true, 0), (2, false, 1)] {
            let harness = Harness::open(&database, &model).await;
            if has_reader {
                harness.webhooks.read_files_with(Arc::new(picture));
            }
            let (text, names) = run(&harness, number, &json!({ "f": file(byte) })).await;
            assert!(names.is_empty(), "{names:?}");
            assert!(text.contains(&format!("f: {}", file(byte))), "{text}");
            harness.stop().await;
        }
    })
    .await;
}
