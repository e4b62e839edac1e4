//! Detects a model that repeats a call although the answer does not change. Such a call is answered but not run. Only
//! `max_turns` limits how long the model may continue.

use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The maximum number of consecutive equal answers to a call. After that, the call is not run again.
const MAX_SAME: u32 = 3;

/// The calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    calls: HashMap<u64, Seen>,
}

#[derive(Debug)]
struct Seen {
    answer: u64,
    times: u32,
}

/// Identifies a tool and its input, independent of field order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallKey(u64);

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl CallKey {
    pub(crate) fn of(name: &str, input: &Value) -> Self {
        let mut input = input.clone();
        input.sort_all_objects();
        Self(hash((name, input.to_string())))
    }
}

impl Repeats {
    /// Returns whether the call is no longer run, because it has returned the same answer too
    /// often.
    pub(crate) fn is_too_often(&self, call: CallKey) -> bool {
        let seen = self.calls.get(&call.0);
        seen.is_some_and(|seen| seen.times >= MAX_SAME)
    }

    /// Records the answer of a call.
    pub(crate) fn note(&mut self, call: CallKey, answer: &str) {
        let answer = hash(answer);
        let seen = self
            .calls
            .entry(call.0)
            .or_insert(Seen { answer, times: 0 });
        if seen.answer == answer {
            seen.times += 1;
        } else {
            *seen = Seen { answer, times: 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_call_with_the_same_answer_is_made_three_times() {
        let mut repeats = Repeats::default();
        let one = CallKey::of("calc", &json!({ "a": 1, "b": 2 }));
        let same = CallKey::of("calc", &json!({ "b": 2, "a": 1 }));
        for _ in 0..3 {
            assert!(!repeats.is_too_often(one));
            repeats.note(same, "3");
        }
        assert!(!repeats.is_too_often(CallKey::of("other", &json!({}))));
        for _ in 0..10 {
            assert!(repeats.is_too_often(one));
        }
    }

    #[test]
    fn a_call_whose_answer_changes_may_go_on() {
        let mut repeats = Repeats::default();
        let call = CallKey::of("deliveries", &json!({}));
        for n in 0..20 {
            assert!(!repeats.is_too_often(call));
            repeats.note(call, &n.to_string());
        }
    }
}
