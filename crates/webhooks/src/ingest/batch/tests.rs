use super::*;
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};

/// Returns a delivery whose payload has this many bytes.
fn waiting(payload: usize) -> Waiting {
    let row = NewDelivery {
        id: DeliveryId::from_text("del_a"),
        webhook_id: WebhookId::from_text("hook_a"),
        status: DeliveryStatus::Queued,
        event_type: None,
        entity_key: None,
        delivery_key: None,
        unique_key: None,
        bytes_key: None,
        duplicate_of: None,
        replay_of: None,
        redelivery: None,
        session_key: "a".to_owned(),
        received_at: Timestamp::from_millis(1),
        next_attempt_at: None,
        headers: "{}".to_owned(),
        body_size: 2,
        body_preview: "{}".to_owned(),
        payload: Some("x".repeat(payload)),
        config: None,
        target: None,
        error: None,
        summary: None,
    };
    Waiting {
        entry: Entry {
            row,
            redeliver: false,
        },
        place: None,
        answer: None,
    }
}

#[tokio::test]
async fn deliveries_of_8_mib_are_one_write_and_one_byte_more_is_two() {
    // Headers and preview take four bytes.
    let half = BATCH_BYTES / 2 - 4;
    for (last, expected) in [(half, &[2][..]), (half + 1, &[1, 1])] {
        let (sender, inbox) = mpsc::channel(2);
        for payload in [half, last] {
            sender.send(waiting(payload)).await.unwrap();
        }
        drop(sender);
        let mut gather = gather(inbox, BATCH);
        let mut counts = Vec::new();
        loop {
            match gather.next().await.len() {
                0 => break,
                count => counts.push(count),
            }
        }
        assert_eq!(counts, expected);
    }
}
