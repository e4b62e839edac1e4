//! What a stranger's message stores, and when a code is valid.

use crate::harness::{Harness, actor, blame, harnesses, problem};
use gatehouse_channels::{Poll, PollHolder, Received, ReceivedMessage, StoredMessages};
use gatehouse_domain::ErrorCode;
use serde_json::json;
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);

fn message(update_id: i64, person: &str) -> ReceivedMessage {
    ReceivedMessage {
        update_id,
        person: person.to_owned(),
        name: format!("Person {person}"),
        chat: person.to_owned(),
        thread: None,
        is_group: false,
        is_own: true,
        text: Some("hello".to_owned()),
        file: None,
    }
}

async fn store(harness: &Harness, message: ReceivedMessage) -> StoredMessages {
    let received = Received {
        next: Some(message.update_id + 1),
        messages: vec![message],
    };
    let stored = harness.channels.store_received("telegram", received).await;
    stored.unwrap()
}

/// An account that receives, and its poll.
async fn receiving(harness: &Harness) {
    let fields = json!({ "bot_token": "1:a", "inbound": true });
    harness.create("telegram", fields).await;
    let poll = harness.channels.claim_poll("telegram", "node", None).await;
    assert!(matches!(poll.unwrap(), Poll::Own { next: None, .. }));
}

async fn next(harness: &Harness) -> Option<i64> {
    match harness.channels.claim_poll("telegram", "node", None).await {
        Ok(Poll::Own { next, .. }) => next,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stranger_gets_a_code_once_an_hour_and_one_row() {
    for harness in harnesses().await {
        receiving(&harness).await;
        let first = store(&harness, message(1, "42")).await;
        assert_eq!((first.requests.len(), first.has_messages), (1, false));
        for id in 2..5 {
            let again = store(&harness, message(id, "42")).await;
            assert_eq!(again, StoredMessages::default());
        }
        assert_eq!(next(&harness).await, Some(2), "nothing more was written");
        let listed = harness.channels.list_pairings().await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(
            listed[0].code.as_ref().unwrap(),
            &first.requests[0].code,
            "the owner sees the code"
        );
        harness.clock.advance(HOUR);
        assert!(harness.channels.list_pairings().await.unwrap().is_empty());
        let expired = harness
            .channels
            .approve_pairing(actor(), &first.requests[0].code, false);
        assert_eq!(problem(expired.await).code, ErrorCode::NotFound);
        let second = store(&harness, message(5, "42")).await;
        assert_ne!(first.requests[0].code, second.requests[0].code);
        assert_eq!(harness.channels.list_pairings().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn only_messages_of_paired_people_are_stored() {
    for harness in harnesses().await {
        receiving(&harness).await;
        let group = ReceivedMessage {
            is_group: true,
            ..message(1, "42")
        };
        assert_eq!(store(&harness, group).await, StoredMessages::default());
        let asked = store(&harness, message(2, "42")).await;
        let code = asked.requests[0].code.to_lowercase();
        let paired = harness
            .channels
            .approve_pairing(actor(), &code, false)
            .await
            .unwrap();
        assert!(paired.code.is_none() && !paired.trusted);
        let again = harness.channels.approve_pairing(actor(), &code, true).await;
        assert_eq!(problem(again).code, ErrorCode::NotFound);
        // The same update is stored once.
        for _ in 0..2 {
            assert!(store(&harness, message(3, "42")).await.has_messages);
        }
        let silent = ReceivedMessage {
            text: None,
            ..message(4, "42")
        };
        store(&harness, silent).await;
        let waiting = harness.channels.list_waiting_messages("telegram").await;
        let waiting = waiting.unwrap();
        assert_eq!(waiting.len(), 2);
        assert_eq!(waiting[0].text, "hello");
        assert!(waiting[0].answer.is_none() && waiting[1].answer.is_some());
        assert_eq!(next(&harness).await, Some(5));
        harness.channels.unpair(actor(), &paired.id).await.unwrap();
        let found = harness.channels.find_pairing("telegram", "42").await;
        assert_eq!(found.unwrap(), None);
        let kinds: Vec<_> = harness.audit().await.into_iter().map(|row| row.0).collect();
        assert_eq!(
            kinds,
            ["channel.created", "channel.paired", "channel.unpaired"]
        );
        harness.channels.delete(actor(), "telegram").await.unwrap();
        let waiting = harness.channels.list_waiting_messages("telegram").await;
        assert!(waiting.unwrap().is_empty());
    }
}

#[tokio::test]
async fn at_most_100_people_wait_for_approval() {
    let harness = crate::harness::harness().await;
    receiving(&harness).await;
    for person in 0..100 {
        let stored = store(&harness, message(person, &person.to_string())).await;
        assert_eq!(stored.requests.len(), 1);
    }
    let stored = store(&harness, message(100, "100")).await;
    assert!(stored.requests.is_empty());
    harness.clock.advance(HOUR);
    let stored = store(&harness, message(101, "100")).await;
    assert_eq!(stored.requests.len(), 1);
    assert_eq!(harness.channels.list_pairings().await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_node_receives_and_another_takes_over_a_lost_lease() {
    for harness in harnesses().await {
        receiving(&harness).await;
        if !harness.store.engine().is_shared() {
            continue;
        }
        let claim = |node: &'static str, stale: Option<PollHolder>| {
            harness.channels.claim_poll("telegram", node, stale)
        };
        let Poll::Other(old) = claim("other", None).await.unwrap() else {
            panic!("the node that receives keeps the account");
        };
        next(&harness).await;
        let renewed = claim("other", Some(old)).await.unwrap();
        let Poll::Other(lost) = renewed else {
            panic!("a renewed lease is not lost");
        };
        let taken = claim("other", Some(lost)).await.unwrap();
        assert!(matches!(taken, Poll::Own { .. }));
        let released = harness.channels.release_poll("telegram", "other").await;
        released.unwrap();
        next(&harness).await;
    }
}

#[tokio::test]
async fn types_that_cannot_receive_say_so() {
    let harness = crate::harness::harness().await;
    let fields = json!({ "topic": "a", "inbound": true });
    let refused = harness.try_create("ntfy", None, fields).await;
    assert_eq!(
        blame(refused),
        (ErrorCode::InvalidParams, "inbound".to_owned())
    );
    let fields = json!({ "bot_token": "1:a", "inbound": "perhaps" });
    let refused = harness.try_create("telegram", None, fields).await;
    assert_eq!(blame(refused).1, "inbound");
    let fields = json!({ "bot_token": "1:a", "inbound": false });
    let account = harness.create("telegram", fields).await;
    assert!(!account.fields.contains_key("inbound"));
    let receiving = harness.channels.inbound_accounts().await.unwrap();
    assert!(receiving.is_empty());
}
