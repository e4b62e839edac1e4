//! Tests of the parent module.

use super::*;
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use serde_json::Value;
use tokio::sync::broadcast;

fn delivery(number: usize, status: DeliveryStatus) -> Arc<DeliveryChange> {
    let zero = Timestamp::from_millis(0);
    Arc::new(DeliveryChange {
        id: DeliveryId::from_text(format!("del_{number}")),
        webhook_id: WebhookId::from_text("hook_1"),
        status,
        event_type: None,
        entity_key: None,
        delivery_key: None,
        duplicate_of: None,
        replay_of: None,
        edited: Vec::new(),
        received_at: zero,
        started_at: None,
        finished_at: None,
        delivered_at: None,
        duration_ms: None,
        attempts: 0,
        next_attempt_at: None,
        input_tokens: None,
        output_tokens: None,
        body_size: 1,
        session_id: None,
        session_key: None,
        error: None,
        summary: None,
        outcome: None,
        target: None,
        channel: None,
    })
}

/// Name, delivery and status of an event.
fn fields_of(event: &super::super::Event) -> (String, String, String) {
    let frame: Value = serde_json::from_str(&event.frame).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let params = &frame["params"];
    let about = text(&params["id"]) + &text(&params["what"]);
    (text(&frame["method"]), about, text(&params["status"]))
}

fn receive_all(
    window: &mut Window,
    numbers: std::ops::Range<usize>,
    status: DeliveryStatus,
) -> usize {
    let heard = numbers.map(|number| window.receive(delivery(number, status)));
    heard.flatten().count()
}

#[test]
fn a_few_changes_are_published_at_once_and_each() {
    let mut window = Window::default();
    for status in [
        DeliveryStatus::Queued,
        DeliveryStatus::Processing,
        DeliveryStatus::Completed,
    ] {
        let reported = window.receive(delivery(1, status)).unwrap();
        assert_eq!(reported.status, status);
    }
    assert!(window.waiting.is_empty() && !window.has_missed);
}

#[test]
fn a_window_publishes_a_limited_number_of_changes_and_one_that_more_changed() {
    let mut window = Window::default();
    let all = AT_ONCE + GATHERED;
    assert_eq!(
        receive_all(&mut window, 0..all, DeliveryStatus::Queued),
        AT_ONCE
    );
    assert_eq!((window.waiting.len(), window.has_missed), (GATHERED, false));
    // A new state of a waiting delivery needs no additional space.
    assert_eq!(
        receive_all(&mut window, AT_ONCE..all, DeliveryStatus::Failed),
        0
    );
    assert_eq!((window.waiting.len(), window.has_missed), (GATHERED, false));
    assert_eq!(
        receive_all(&mut window, all..all + 1, DeliveryStatus::Queued),
        0
    );
    assert_eq!((window.waiting.len(), window.has_missed), (GATHERED, true));
}

#[tokio::test]
async fn under_load_each_delivery_is_published_once_a_window_with_its_last_state() {
    let bus = EventBus::default();
    let mut listener = bus.subscribe();
    let (sender, receiver) = broadcast::channel(8192);
    let say = |range: std::ops::Range<usize>, status| {
        for number in range {
            sender.send(delivery(number, status)).unwrap();
        }
    };
    // All changes are queued before the window begins.
    say(0..AT_ONCE, DeliveryStatus::Queued);
    say(100..100 + GATHERED + 1, DeliveryStatus::Queued);
    say(100..150, DeliveryStatus::Processing);
    say(100..150, DeliveryStatus::Completed);
    let mut all = Vec::new();
    let listen = async {
        while all.len() < AT_ONCE + GATHERED + 1 {
            let event = listener.recv().await.unwrap();
            all.push(fields_of(&event));
        }
    };
    tokio::select! {
        () = follow(bus.clone(), receiver) => panic!("it ended"),
        () = listen => {}
    }
    let text = |text: &str| text.to_owned();
    let one = |number: usize, status: &str| {
        (
            text("webhooks.delivery"),
            format!("del_{number}"),
            text(status),
        )
    };
    let mut expected: Vec<_> = (0..AT_ONCE).map(|number| one(number, "queued")).collect();
    expected.extend((100..150).map(|number| one(number, "completed")));
    expected.extend((150..100 + GATHERED).map(|number| one(number, "queued")));
    expected.push((text("records.changed"), text("deliveries"), String::new()));
    assert_eq!(all, expected);
}
