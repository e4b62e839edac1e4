//! Outgoing texts and the bytes charged for them until they are written.

use crate::envelope::{Id, Outcome, answer_parts, refusal};
use crate::events::Event;
use crate::memory_budget::Share;
use gatehouse_domain::{ErrorCode, Problem};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A text for a caller. Its bytes stay charged until it is dropped.
pub struct Reply(Text);

enum Text {
    /// A text that is too small to be charged.
    Small(String),
    Counted {
        text: String,
        _share: Share,
    },
    /// Shared by all listeners.
    Event(Arc<Event>),
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self(Text::Small(text))
    }
}

impl From<Arc<Event>> for Reply {
    fn from(event: Arc<Event>) -> Self {
        Self(Text::Event(event))
    }
}

impl Deref for Reply {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Text::Small(text) | Text::Counted { text, .. } => text,
            Text::Event(event) => &event.frame,
        }
    }
}

impl AsRef<[u8]> for Reply {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// The responses to the calls of one message, in one buffer.
pub(crate) struct Answers {
    text: Vec<u8>,
    share: Share,
    /// The maximum total size of the responses of a batch, in bytes.
    max_bytes: usize,
    listed: bool,
    /// The reason why the remaining calls do not run.
    stop: Option<Problem>,
}

impl Answers {
    /// Creates a buffer without responses. Charges `share` for the text. `listed` responses form an
    /// array.
    pub(crate) const fn new(share: Share, listed: bool, max_bytes: usize) -> Self {
        Self {
            text: Vec::new(),
            share,
            max_bytes,
            listed,
            stop: None,
        }
    }

    /// Returns the reason why no more calls should run.
    pub(crate) const fn stop(&self) -> Option<&Problem> {
        self.stop.as_ref()
    }

    /// Adds the response to a call. A result that does not fit becomes an error, and no further call runs.
    pub(crate) fn push(&mut self, id: &Id, outcome: &Outcome) {
        let refused = match outcome {
            Ok(result) => {
                let parts = answer_parts(id, result);
                let length = parts.iter().map(|part| part.len()).sum();
                match self.room(length) {
                    Ok(()) => return self.write(&parts),
                    Err(problem) => problem,
                }
            }
            Err(problem) => return self.write(&[&refusal(id, problem)]),
        };
        self.write(&[&refusal(id, &refused)]);
        self.stop = Some(refused);
    }

    /// Reserves space for a result.
    fn room(&mut self, length: usize) -> Result<(), Problem> {
        let length = length.saturating_add(2);
        let whole = self.text.len().saturating_add(length);
        // A single response may be larger than the caller's own limit.
        if !self.text.is_empty() && whole > self.max_bytes {
            let message = "The responses to this batch are too large. Send the remaining calls \
                           in another batch.";
            let problem = Problem::new(ErrorCode::PayloadTooLarge, message);
            return Err(problem.with("max_bytes", self.max_bytes));
        }
        let most = self.max_bytes.saturating_add(2);
        if self.share.reserve(&mut self.text, length, most) {
            return Ok(());
        }
        Err(no_room())
    }

    fn write(&mut self, parts: &[&str]) {
        if self.listed {
            self.text
                .push(if self.text.is_empty() { b'[' } else { b',' });
        }
        for part in parts {
            self.text.extend_from_slice(part.as_bytes());
        }
    }

    /// Returns the combined response, or `None` if all calls were notifications.
    pub(crate) fn finish(mut self) -> Option<Reply> {
        if self.text.is_empty() {
            return None;
        }
        if self.listed {
            self.text.push(b']');
        }
        // The buffer contains only complete strings.
        let text = String::from_utf8(self.text).unwrap_or_default();
        Some(Reply(Text::Counted {
            text,
            _share: self.share,
        }))
    }
}

fn no_room() -> Problem {
    let mut problem = Problem::rate_limited(1000);
    "There is not enough memory for the response. The call was completed. Request its result again."
        .clone_into(&mut problem.message);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_budget::{ByteBudget, Holder, Limits};
    use serde_json::value::{RawValue, to_raw_value};
    use serde_json::{Value, json};

    fn result(bytes: usize) -> Box<RawValue> {
        to_raw_value(&"x".repeat(bytes - 2)).unwrap()
    }

    /// Returns the outcome codes of calls with results of these sizes.
    fn codes(budget: usize, max_bytes: usize, listed: bool, sizes: &[usize]) -> Vec<String> {
        let budget = ByteBudget::new(Limits::flat(budget));
        let share = budget.share(Holder::Known("a".into()));
        let mut answers = Answers::new(share, listed, max_bytes);
        for size in sizes {
            match answers.stop().cloned() {
                Some(problem) => answers.push(&Id::null(), &Err(problem)),
                None => answers.push(&Id::null(), &Ok(result(*size))),
            }
        }
        let reply = answers.finish().unwrap();
        assert_eq!(
            budget.held_bytes() > 0,
            reply.contains("\"result\""),
            "{reply:?}"
        );
        let whole: Value = serde_json::from_str(&reply).unwrap();
        drop(reply);
        assert_eq!(budget.held_bytes(), 0);
        let all = if listed { whole } else { json!([whole]) };
        let code = |one: &Value| one["error"]["data"]["code"].as_str().unwrap_or("ok").into();
        all.as_array().unwrap().iter().map(code).collect()
    }

    #[test]
    fn a_batch_is_answered_up_to_its_limit() {
        // An envelope and a separator take 38 bytes.
        let sizes = [962, 962, 100, 100];
        let large = [
            "ok",
            "PAYLOAD_TOO_LARGE",
            "PAYLOAD_TOO_LARGE",
            "PAYLOAD_TOO_LARGE",
        ];
        assert_eq!(codes(100_000, 1999, true, &sizes), large);
        assert_eq!(codes(100_000, 2100, true, &sizes)[..2], ["ok", "ok"]);
        assert_eq!(codes(100_000, 10, false, &[5000]), ["ok"], "one call");
    }

    #[test]
    fn without_memory_the_result_becomes_an_error() {
        assert_eq!(codes(4000, 100_000, false, &[5000]), ["RATE_LIMITED"]);
        let all = codes(4096, 100_000, true, &[1000, 5000, 10]);
        assert_eq!(all, ["ok", "RATE_LIMITED", "RATE_LIMITED"]);
    }

    #[test]
    fn notifications_are_not_answered() {
        let budget = ByteBudget::new(Limits::flat(10));
        let share = budget.share(Holder::Known("a".into()));
        assert!(Answers::new(share, true, 10).finish().is_none());
    }
}
