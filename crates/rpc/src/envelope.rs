//! JSON-RPC 2.0 messages (<https://www.jsonrpc.org/specification>): parses requests and builds responses. Independent
//! of methods and connections.
//!
//! Params stay unparsed text until the method's type reads them, so a large message needs no more memory
//! than its own size.

mod answer;
mod id;

pub(crate) use answer::answer_parts;
pub use answer::{Outcome, answer, batch_answer, notification, refusal};
use gatehouse_domain::{ErrorCode, Problem};
pub use id::Id;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// The maximum number of messages in a batch.
pub const MAX_BATCH: usize = 64;

/// One call.
#[derive(Debug)]
pub struct Request<'a> {
    /// `None` for a notification.
    pub id: Option<Id>,
    pub method: String,
    /// The params, not parsed yet. A null value counts as absent.
    pub params: Option<&'a RawValue>,
}

/// A message that is valid JSON but not a valid call.
#[derive(Debug)]
pub struct Malformed {
    /// The message's ID, or null if it could not be read.
    pub id: Id,
    pub problem: Problem,
}

/// One message, alone or in a batch.
pub type Item<'a> = Result<Request<'a>, Malformed>;

/// A whole incoming text.
#[derive(Debug)]
pub enum Incoming<'a> {
    Single(Item<'a>),
    /// 1 to [`MAX_BATCH`] calls with one combined response.
    Batch(Vec<Item<'a>>),
}

impl<'a> Incoming<'a> {
    /// Returns the calls, in their order.
    pub(crate) fn items(&self) -> &[Item<'a>] {
        match self {
            Self::Single(item) => std::slice::from_ref(item),
            Self::Batch(items) => items,
        }
    }

    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.items().len()
    }

    /// Always false, because a message contains at least one call.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the calls, and whether their responses form an array.
    pub fn into_items(self) -> (Vec<Item<'a>>, bool) {
        match self {
            Self::Single(item) => (vec![item], false),
            Self::Batch(items) => (items, true),
        }
    }
}

/// The error message for an unknown method.
pub(crate) const NO_METHOD: &str = "The method does not exist.";

/// Reads a message as text.
pub(crate) fn utf8(message: &[u8]) -> Result<&str, Problem> {
    let not_utf8 = |_| Problem::new(ErrorCode::ParseError, "The message is not UTF-8.");
    std::str::from_utf8(message).map_err(not_utf8)
}

/// Parses a message. An error is the single response to the whole message, with a null ID.
pub fn parse(text: &str) -> Result<Incoming<'_>, Problem> {
    match text
        .trim_start_matches([' ', '\t', '\n', '\r'])
        .as_bytes()
        .first()
    {
        Some(b'{') => {
            let whole: &RawValue = serde_json::from_str(text).map_err(|_| parse_error())?;
            Ok(Incoming::Single(read_item(whole)))
        }
        Some(b'[') => {
            let batch: Batch<'_> = serde_json::from_str(text).map_err(|_| parse_error())?;
            if batch.too_long {
                return Err(invalid(&format!(
                    "A batch must contain at most {MAX_BATCH} messages."
                )));
            }
            if batch.items.is_empty() {
                return Err(invalid("A batch must contain at least one message."));
            }
            Ok(Incoming::Batch(
                batch.items.into_iter().map(read_item).collect(),
            ))
        }
        _ => match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Err(invalid("A message must be a JSON object.")),
            Err(_) => Err(parse_error()),
        },
    }
}

fn parse_error() -> Problem {
    Problem::new(ErrorCode::ParseError, "The message is not valid JSON.")
}

fn invalid(message: &str) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, message)
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    // Distinguishes an ID of null from a missing ID. A plain `Option` cannot.
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn read_item(raw: &RawValue) -> Item<'_> {
    let nameless = |message: &str| Malformed {
        id: Id::null(),
        problem: invalid(message),
    };
    if !raw.get().starts_with('{') {
        return Err(nameless("A message must be a JSON object."));
    }
    // The only remaining error is a duplicate member.
    let wire: Wire<'_> = serde_json::from_str(raw.get())
        .map_err(|_| nameless("A member of the message is duplicated."))?;
    let id = match wire.id.map(|raw| Id::read(raw).ok_or(())) {
        Some(Err(())) => return Err(nameless("`id` must be a string, a number or null.")),
        Some(Ok(id)) => Some(id),
        None => None,
    };
    let refuse = |message: &str| Malformed {
        id: id.clone().unwrap_or_else(Id::null),
        problem: invalid(message),
    };
    if wire
        .jsonrpc
        .is_some_and(|version| version.get() != "\"2.0\"")
    {
        return Err(refuse("`jsonrpc` must be \"2.0\"."));
    }
    let method = wire
        .method
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    let method = method.ok_or_else(|| refuse("`method` must be a string."))?;
    Ok(Request {
        id,
        method,
        params: wire.params,
    })
}

/// A batch. Collecting stops at the limit, so a hostile batch uses little memory.
struct Batch<'a> {
    items: Vec<&'a RawValue>,
    too_long: bool,
}

impl<'de> Deserialize<'de> for Batch<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Batch<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of messages")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Batch<'de>, A::Error> {
                let mut batch = Batch {
                    items: Vec::new(),
                    too_long: false,
                };
                while batch.items.len() < MAX_BATCH {
                    match seq.next_element()? {
                        Some(item) => batch.items.push(item),
                        None => return Ok(batch),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    batch.too_long = true;
                }
                Ok(batch)
            }
        }
        deserializer.deserialize_seq(Collect)
    }
}

#[cfg(test)]
mod tests;
