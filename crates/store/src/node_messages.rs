//! Messages between the nodes of a PostgreSQL database, sent as notifications. Messages are not stored, so a node
//! that is not connected misses them. A notification has room for less than 8,000 bytes, so a longer message is
//! sent in parts.

use std::collections::HashMap;
use std::sync::Arc;

/// The channel of the messages.
pub(crate) const CHANNEL: &str = "gatehouse_events";
/// Sends the parts of messages. One statement is one transaction, whose notifications arrive together and in order.
pub(crate) const SEND: &str =
    "SELECT pg_notify('gatehouse_events', part) FROM unnest($1::text[]) AS part";
/// The message that reports lost messages.
pub(crate) const MISSED: &str = "";
/// Maximum size of a part in bytes. With its header, a part stays below the limit of a notification
/// (`NOTIFY_PAYLOAD_MAX_LENGTH` of PostgreSQL).
const PART_BYTES: usize = 7_900;
/// Maximum number of senders whose incomplete messages are kept.
const SENDERS: usize = 64;

/// A notification from other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeMessage {
    Text(Arc<str>),
    /// This node or a sender was not connected, so messages may be missing.
    Missed,
}

/// Splits a message into parts: `<number> <index> <count> <text>`. The number distinguishes equal messages, because
/// PostgreSQL delivers equal notifications of a transaction only once.
pub(crate) fn split(number: u64, mut text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    while text.len() > PART_BYTES {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PART_BYTES));
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    let count = pieces.len();
    let parts = pieces.into_iter().enumerate();
    parts
        .map(|(index, piece)| format!("{number} {index} {count} {piece}"))
        .collect()
}

/// A part of a message, in the format of [`split`].
struct Part<'a> {
    number: u64,
    index: usize,
    count: usize,
    text: &'a str,
}

impl<'a> Part<'a> {
    fn parse(part: &'a str) -> Option<Self> {
        let mut fields = part.splitn(4, ' ');
        Some(Self {
            number: fields.next()?.parse().ok()?,
            index: fields.next()?.parse().ok()?,
            count: fields.next()?.parse().ok()?,
            text: fields.next()?,
        })
    }
}

/// A message of which some parts have arrived.
struct Partial {
    number: u64,
    parts: usize,
    text: String,
}

/// Joins the parts of messages, by the process ID of the sending connection.
#[derive(Default)]
pub(crate) struct Joiner(HashMap<i32, Partial>);

impl Joiner {
    /// Adds a part. Returns the message if the part completes it. Ignores parts that are out of order.
    pub(crate) fn join(&mut self, sender: i32, part: &str) -> Option<Arc<str>> {
        let part = Part::parse(part)?;
        if part.count == 1 {
            return Some(Arc::from(part.text));
        }
        if part.index == 0 {
            if self.0.len() >= SENDERS {
                self.0.clear();
            }
            let begun = Partial {
                number: part.number,
                parts: 1,
                text: part.text.to_owned(),
            };
            self.0.insert(sender, begun);
            return None;
        }
        let mut partial = self.0.remove(&sender)?;
        if partial.number != part.number || partial.parts != part.index {
            return None;
        }
        partial.text.push_str(part.text);
        partial.parts += 1;
        if partial.parts == part.count {
            return Some(Arc::from(partial.text));
        }
        self.0.insert(sender, partial);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(joiner: &mut Joiner, parts: &[String]) -> Option<Arc<str>> {
        let texts = parts.iter().map(|part| joiner.join(7, part));
        let mut texts: Vec<_> = texts.collect();
        let last = texts.pop().flatten();
        assert!(texts.iter().all(Option::is_none));
        last
    }

    #[test]
    fn messages_at_and_past_the_size_of_a_part() {
        let mut joiner = Joiner::default();
        for (length, count) in [(0, 1), (PART_BYTES, 1), (PART_BYTES + 1, 2), (30_000, 4)] {
            let text = "x".repeat(length);
            let parts = split(1, &text);
            assert_eq!(parts.len(), count);
            assert!(parts.iter().all(|part| part.len() < 8_000));
            assert_eq!(joined(&mut joiner, &parts).as_deref(), Some(text.as_str()));
        }
    }

    #[test]
    fn parts_end_between_characters() {
        let text = "€ 1 2 ".repeat(5_000);
        assert_eq!(
            joined(&mut Joiner::default(), &split(3, &text)).as_deref(),
            Some(text.as_str())
        );
    }

    #[test]
    fn a_message_without_all_parts_is_dropped() {
        let text = "y".repeat(3 * PART_BYTES);
        let (first, second) = (split(1, &text), split(2, &text));
        let mut joiner = Joiner::default();
        assert_eq!(joiner.join(7, &first[0]), None);
        assert_eq!(
            joiner.join(7, &first[2]),
            None,
            "the second part is missing"
        );
        assert_eq!(
            joiner.join(7, &second[1]),
            None,
            "the first part is missing"
        );
        assert_eq!(joined(&mut joiner, &second).as_deref(), Some(text.as_str()));
        for noise in ["", "a 0 1 x", "1 0", "1 0 x y"] {
            assert_eq!(joiner.join(7, noise), None);
        }
    }

    #[test]
    fn senders_do_not_mix() {
        let (one, other) = ("1".repeat(10_000), "2".repeat(10_000));
        let (first, second) = (split(1, &one), split(1, &other));
        let mut joiner = Joiner::default();
        assert_eq!(joiner.join(7, &first[0]), None);
        assert_eq!(joiner.join(8, &second[0]), None);
        assert_eq!(joiner.join(7, &first[1]).as_deref(), Some(one.as_str()));
        assert_eq!(joiner.join(8, &second[1]).as_deref(), Some(other.as_str()));
    }
}
