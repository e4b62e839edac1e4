//! Albums: photos and documents that a person sent together. Telegram reports each as a separate message, as it
//! arrives, with the same `media_group_id`. This module joins them to one message.

use super::super::{Source, at_most_files};
use super::api::updates;
use super::texts::Texts;
use super::updates::{Album, Update, message_of};
use super::{Bot, POLL_SECONDS, UPDATES};
use crate::receive::{ReceiveError, ReceivedMessage};
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;

/// The wait before the receiver requests the rest of an album.
const REST: Duration = Duration::from_secs(1);
/// The maximum number of requests for the rest. An album has at most ten parts.
const TRIES: u32 = 5;

fn album_of(update: &Value) -> Option<Album> {
    let message = update.get("message")?;
    Some(Album {
        chat: message.pointer("/chat/id")?.as_i64()?,
        group: message.get("media_group_id")?.as_str()?.to_owned(),
    })
}

/// Returns updates from an ID on. If they end with an album, polls again without confirming them, until no more parts
/// of the album arrive.
pub(super) async fn whole(
    source: Source<'_>,
    next: Option<i64>,
) -> Result<Vec<Value>, ReceiveError> {
    let mut found = updates(source, next, POLL_SECONDS).await?;
    for _ in 0..TRIES {
        if found.len() >= UPDATES || found.last().and_then(album_of).is_none() {
            break;
        }
        tokio::time::sleep(REST).await;
        let before = found.len();
        found = updates(source, next, 0).await?;
        if found.len() == before {
            break;
        }
    }
    Ok(without_part(found))
}

/// Removes an incomplete album at the end of the possible updates. The next request returns it.
fn without_part(mut found: Vec<Value>) -> Vec<Value> {
    let last = found.last().and_then(album_of);
    if found.len() < UPDATES || last.is_none() {
        return found;
    }
    let others = found.iter().rposition(|update| album_of(update) != last);
    if let Some(others) = others {
        found.truncate(others.saturating_add(1));
    }
    found
}

/// Returns the messages that are meant for the bot. The parts of an album form one message. It mentions the bot if one
/// of the parts does.
pub(super) fn messages_of(
    updates: Vec<Update>,
    bot: &Bot,
    texts: &mut Texts,
) -> Vec<ReceivedMessage> {
    let named = updates.iter().filter(|update| update.names(bot));
    let named: HashSet<Album> = named.filter_map(Update::album).collect();
    let mut found: Vec<(Option<Album>, ReceivedMessage)> = Vec::new();
    for update in updates {
        let album = update.album();
        let is_named =
            update.names(bot) || album.as_ref().is_some_and(|album| named.contains(album));
        let Some(message) = message_of(update, (bot, is_named), texts) else {
            continue;
        };
        let first = found.iter_mut().find(|(known, before)| {
            known.is_some() && *known == album && before.person == message.person
        });
        match first {
            Some((_, first)) => add(first, message),
            None => found.push((album, message)),
        }
    }
    let found = found.into_iter().map(|(_, message)| bounded(message));
    found.collect()
}

fn add(first: &mut ReceivedMessage, part: ReceivedMessage) {
    first.files.extend(part.files);
    first.is_own &= part.is_own;
    // If an album has pictures and videos, the pictures are received and there is no fixed answer.
    first.answer = first.answer.filter(|_| part.answer.is_some());
    first.quote = first.quote.take().or(part.quote);
    first.text = match (first.text.take(), part.text) {
        (Some(text), Some(more)) => Some(format!("{text}\n\n{more}")),
        (text, more) => text.or(more),
    };
}

fn bounded(mut message: ReceivedMessage) -> ReceivedMessage {
    let text = message.text.take().unwrap_or_default();
    let (text, files) = at_most_files(text, message.files);
    message.text = (!text.is_empty()).then_some(text);
    message.files = files;
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn photo(id: i64, group: Option<&str>, more: Value) -> Value {
        let mut message = json!({
            "message_id": id, "date": 1, "from": { "id": 42, "first_name": "Ada" },
            "chat": { "id": 42, "type": "private" },
            "photo": [{ "file_id": format!("f{id}"), "width": 1, "height": 1 }],
        });
        let fields = message.as_object_mut().unwrap();
        fields.extend(group.map(|group| ("media_group_id".to_owned(), json!(group))));
        let Value::Object(more) = more else {
            panic!("the fields of a message");
        };
        fields.extend(more);
        json!({ "update_id": id, "message": message })
    }

    fn read(updates: Vec<Value>) -> Vec<ReceivedMessage> {
        let bot = Bot {
            id: 7,
            username: "gate_bot".to_owned(),
        };
        let updates = updates.into_iter();
        let updates = updates.map(|update| serde_json::from_value(update).unwrap());
        messages_of(updates.collect(), &bot, &mut Texts::default())
    }

    fn files(message: &ReceivedMessage) -> Vec<&str> {
        message.files.iter().map(|file| &*file.id).collect()
    }

    #[test]
    fn the_parts_of_an_album_are_one_message() {
        let forwarded = json!({ "forward_origin": { "type": "user" } });
        let read = read(vec![
            photo(1, Some("a"), json!({})),
            photo(2, None, json!({})),
            photo(3, Some("a"), json!({ "caption": "These?" })),
            photo(4, Some("b"), forwarded),
            photo(
                5,
                Some("a"),
                json!({ "from": { "id": 43, "first_name": "Eve" } }),
            ),
        ]);
        assert_eq!(read.len(), 4);
        assert_eq!(
            (files(&read[0]), read[0].text.as_deref()),
            (vec!["f1", "f3"], Some("These?"))
        );
        assert_eq!((read[0].message_id.as_str(), read[0].is_own), ("1:1", true));
        assert_eq!(files(&read[1]), ["f2"]);
        assert!(!read[2].is_own);
        assert_eq!(read[3].person, "43");
    }

    #[test]
    fn an_album_in_a_group_is_named_by_one_caption() {
        let group = json!({ "chat": { "id": -1, "type": "group" } });
        let mut named = group.clone();
        named["caption"] = json!("@gate_bot these");
        named["caption_entities"] = json!([{ "type": "mention", "offset": 0, "length": 9 }]);
        let found = read(vec![
            photo(1, Some("a"), group.clone()),
            photo(2, Some("a"), named),
            photo(3, Some("b"), group),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(files(&found[0]), ["f1", "f2"]);
    }

    #[test]
    fn an_album_that_may_continue_is_left_to_the_next_request() {
        let batch = |count: i64| -> Vec<Value> {
            let before = (1..=count - 3).map(|id| photo(id, None, json!({})));
            let album = (count - 2..=count).map(|id| photo(id, Some("a"), json!({})));
            before.chain(album).collect()
        };
        let most = i64::try_from(UPDATES).unwrap();
        assert_eq!(without_part(batch(most)).len(), UPDATES - 3);
        assert_eq!(without_part(batch(most - 1)).len(), UPDATES - 1);
        let alone: Vec<Value> = (0..most)
            .map(|id| photo(id, Some("a"), json!({})))
            .collect();
        assert_eq!(without_part(alone).len(), UPDATES);
    }
}
