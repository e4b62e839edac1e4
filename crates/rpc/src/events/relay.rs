//! Relays events between the nodes of a shared database, so clients are notified of work on every node. The change feed
//! reports changed records and credentials. This module relays all other events. Events are lost if their sender or
//! receiver is not connected. The receivers then report that all records of such events may have changed.

use super::{EVENTS, Event, EventBus, RECORDS_CHANGED, Records};
use gatehouse_store::{NodeMessage, Store};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// The events about work on one node. Other events are local to a node, or follow from the change feed.
const RELAYED: [&str; 11] = [
    "approval.requested",
    "approval.resolved",
    "budget.warning",
    "channel.message",
    "chat.audio",
    "chat.delta",
    "chat.done",
    "chat.message",
    "chat.tool",
    "voice.persona",
    "webhooks.delivery",
];
/// The pause after a message to the other nodes. Events are collected during the pause.
const GATHER: Duration = Duration::from_millis(25);
/// The maximum size of a message to which an event is added, in bytes.
const MESSAGE_BYTES: usize = 64 * 1024;

/// Returns whether other nodes must receive an event of this node.
fn is_for_other_nodes(event: &Event) -> bool {
    // This event is sent in place of `webhooks.delivery` under load. Deliveries are not in the
    // change feed.
    let is_of_deliveries = event.name == RECORDS_CHANGED.name
        && event.returned_by == Records::Deliveries.returned_by();
    !event.is_relayed && (RELAYED.contains(&event.name) || is_of_deliveries)
}

/// Adds a line to a message: the name and the frame, which is JSON without line breaks.
fn add(message: &mut String, event: &Event) {
    // Writing to a string cannot fail.
    let _ = writeln!(message, "{} {}", event.name, event.frame);
}

/// Sends the events of this node to the other nodes, until the bus is dropped.
pub(super) async fn send(store: Store, mut events: Receiver<Arc<Event>>) {
    // Whether an event was lost and the other nodes have not been notified yet.
    let mut has_missed = false;
    loop {
        let mut message = String::new();
        match events.recv().await {
            Ok(event) if is_for_other_nodes(&event) => add(&mut message, &event),
            Ok(_) => continue,
            Err(RecvError::Lagged(_)) => has_missed = true,
            Err(RecvError::Closed) => return,
        }
        while message.len() < MESSAGE_BYTES {
            match events.try_recv() {
                Ok(event) if is_for_other_nodes(&event) => add(&mut message, &event),
                Ok(_) => {}
                Err(TryRecvError::Lagged(_)) => has_missed = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        if has_missed && store.send_to_nodes(String::new()) {
            has_missed = false;
        }
        if !message.is_empty() && !store.send_to_nodes(message) {
            metrics::counter!("events_not_relayed_total").increment(1);
            has_missed = true;
        }
        tokio::time::sleep(GATHER).await;
    }
}

/// Publishes the events of other nodes, until the store is dropped.
pub(super) async fn receive(bus: EventBus, mut messages: Receiver<NodeMessage>) {
    loop {
        match messages.recv().await {
            Ok(NodeMessage::Text(message)) => {
                for line in message.lines() {
                    publish(&bus, line);
                }
            }
            Ok(NodeMessage::Missed) | Err(RecvError::Lagged(_)) => {
                for what in Records::ALL {
                    bus.publish_records(what);
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Publishes a line of a message. Ignores events that this version does not relay.
fn publish(bus: &EventBus, line: &str) {
    let Some((name, frame)) = line.split_once(' ') else {
        return;
    };
    let is_of_deliveries = name == RECORDS_CHANGED.name;
    let kind = EVENTS.iter().find(|kind| kind.name == name);
    let Some(kind) = kind.filter(|_| is_of_deliveries || RELAYED.contains(&name)) else {
        return;
    };
    let returned_by = if is_of_deliveries {
        Records::Deliveries.returned_by()
    } else {
        kind.returned_by
    };
    bus.publish_event(Event {
        name: kind.name,
        frame: frame.to_owned(),
        scope: kind.scope,
        returned_by,
        is_relayed: true,
    });
}

#[cfg(test)]
mod tests {
    use super::super::AUTH_CHANGED;
    use super::*;
    use crate::events::{AuthChangedParams, kinds};
    use gatehouse_domain::Scope;
    use serde_json::json;

    fn heard(listener: &mut Receiver<Arc<Event>>) -> Vec<Arc<Event>> {
        std::iter::from_fn(|| listener.try_recv().ok()).collect()
    }

    #[test]
    fn every_relayed_name_is_an_event() {
        for name in RELAYED {
            let is_known = EVENTS.iter().any(|kind| kind.name == name);
            assert!(is_known || cfg!(not(feature = "voice")), "{name}");
        }
    }

    #[test]
    fn events_of_work_are_relayed_once_with_their_scope() {
        let (here, there) = (EventBus::default(), EventBus::default());
        let (mut from, mut to) = (here.subscribe(), there.subscribe());
        here.publish_kind(&kinds::CHAT_DELTA, &json!({ "text": "a\nb" }));
        here.publish_kind(&kinds::APPROVAL_REQUESTED, &json!({ "id": "apr_1" }));
        here.publish_kind(&AUTH_CHANGED, &AuthChangedParams { what: "setup" });
        here.publish_records(Records::Deliveries);
        here.publish_records(Records::Agents);
        let mut message = String::new();
        let events = heard(&mut from);
        for event in events.iter().filter(|event| is_for_other_nodes(event)) {
            add(&mut message, event);
        }
        message.lines().for_each(|line| publish(&there, line));
        let relayed = heard(&mut to);
        let seen: Vec<_> = relayed
            .iter()
            .map(|event| (event.name, event.scope))
            .collect();
        assert_eq!(
            seen,
            [
                ("chat.delta", Scope::Read),
                ("approval.requested", Scope::Approvals),
                ("records.changed", Scope::Read),
            ]
        );
        assert_eq!(relayed[0].frame, events[0].frame);
        assert_eq!(relayed[2].returned_by, ["webhooks.deliveries"]);
        assert!(!relayed.iter().any(|event| is_for_other_nodes(event)));
    }

    #[test]
    fn other_events_are_ignored() {
        let bus = EventBus::default();
        let mut listener = bus.subscribe();
        for line in ["", "chat.delta", "chat.future {}", "auth.changed {}"] {
            publish(&bus, line);
        }
        assert!(heard(&mut listener).is_empty());
    }
}
