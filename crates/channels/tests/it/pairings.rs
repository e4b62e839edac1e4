//! The rows that a stranger's message stores, and the validity of codes.

use crate::harness::{Harness, actor, blame, harnesses, problem};
use gatehouse_channels::{Poll, PollHolder, Received, ReceivedMessage, StoredMessages};
use gatehouse_domain::ErrorCode;
use serde_json::json;
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);

fn message(number: i64, person: &str) -> ReceivedMessage {
    ReceivedMessage {
        message_id: number.to_string(),
        person: person.to_owned(),
        name: format!("Person {person}"),
        chat: person.to_owned(),
        thread: None,
        is_group: false,
        is_own: true,
        text: Some("hello".to_owned()),
        ..ReceivedMessage::default()
    }
}

async fn store(harness: &Harness, message: ReceivedMessage) -> StoredMessages {
    let received = Received {
        position: Some(format!("after {}", message.message_id)),
        messages: vec![message],
        ..Received::default()
    };
    store_from("node", harness, received).await
}

async fn store_from(node: &str, harness: &Harness, received: Received) -> StoredMessages {
    let channels = &harness.channels;
    let stored = channels.store_received("telegram", node, received).await;
    stored.unwrap()
}

/// Opens an account that receives, and polls it.
async fn receiving(harness: &Harness) {
    let fields = json!({ "bot_token": "1:a", "inbound": true });
    harness.create("telegram", fields).await;
    let poll = harness.channels.claim_poll("telegram", "node", None).await;
    assert!(matches!(poll.unwrap(), Poll::Own { position: None, .. }));
}

async fn position(harness: &Harness) -> Option<String> {
    match harness.channels.claim_poll("telegram", "node", None).await {
        Ok(Poll::Own { position, .. }) => position,
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
        assert_eq!(
            position(&harness).await.as_deref(),
            Some("after 1"),
            "nothing more was written"
        );
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
        // The same update is stored only once.
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
        assert_eq!(position(&harness).await.as_deref(), Some("after 4"));
        // A message that was answered is not stored again.
        harness.channels.end_message(&waiting[0]).await.unwrap();
        store(&harness, message(3, "42")).await;
        let left = harness.channels.list_waiting_messages("telegram").await;
        assert_eq!(left.unwrap(), &waiting[1..]);
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
        position(&harness).await;
        let renewed = claim("other", Some(old)).await.unwrap();
        let Poll::Other(lost) = renewed else {
            panic!("a renewed lease is not lost");
        };
        let taken = claim("other", Some(lost)).await.unwrap();
        assert!(matches!(taken, Poll::Own { .. }));
        let stored = store(&harness, message(1, "42")).await;
        assert!(stored.is_lease_lost && stored.requests.is_empty());
        assert!(harness.channels.list_pairings().await.unwrap().is_empty());
        let released = harness.channels.release_poll("telegram", "other").await;
        released.unwrap();
        position(&harness).await;
    }
}

#[tokio::test]
async fn a_position_is_stored_with_messages_or_when_it_is_old_or_new() {
    for harness in harnesses().await {
        receiving(&harness).await;
        let without_messages = |text: &str, is_new_position| Received {
            position: Some(text.to_owned()),
            is_new_position,
            ..Received::default()
        };
        let stored = async |text: &str, is_new| {
            store_from("node", &harness, without_messages(text, is_new)).await;
            position(&harness).await
        };
        assert_eq!(stored("a", true).await.as_deref(), Some("a"));
        assert_eq!(stored("b", false).await.as_deref(), Some("a"));
        harness.clock.advance(Duration::from_mins(5));
        assert_eq!(stored("c", false).await.as_deref(), Some("c"));
        assert_eq!(stored("d", false).await.as_deref(), Some("c"));
        assert_eq!(stored("e", true).await.as_deref(), Some("e"));
    }
}

#[tokio::test]
async fn an_invitation_is_accepted_after_a_code_is_stored_or_for_a_paired_person() {
    for harness in harnesses().await {
        receiving(&harness).await;
        let invitation = |number, is_group| ReceivedMessage {
            text: None,
            is_group,
            is_invitation: true,
            chat: format!("room{number}"),
            ..message(number, "42")
        };
        let group = store(&harness, invitation(1, true)).await;
        assert_eq!(group, StoredMessages::default(), "a stranger's group");
        let first = store(&harness, invitation(2, false)).await;
        assert_eq!(
            (first.accepted, first.requests.len()),
            (vec!["room2".to_owned()], 1)
        );
        let second = store(&harness, invitation(3, false)).await;
        assert_eq!(second, StoredMessages::default(), "one room an hour");
        let code = &first.requests[0].code;
        let approved = harness.channels.approve_pairing(actor(), code, false);
        approved.await.unwrap();
        let third = store(&harness, invitation(4, true)).await;
        assert_eq!(third.accepted, ["room4"]);
        assert!(!third.has_messages && third.requests.is_empty());
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
