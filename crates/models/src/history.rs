//! Makes a conversation valid for vendors: every tool call has a result, and every result has a call. Interrupted turns
//! and cut beginnings leave unmatched calls or results. Both vendors reject the whole conversation because of a single
//! one.

use crate::chat::{ChatMessage, ToolCall};

/// The result of a call that was never answered.
const BROKEN_OFF: &str = "There is no result: the turn was interrupted before the tool returned.";

/// Returns the conversation in the same order, with complete pairs only.
pub(crate) fn paired(said: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut out = Vec::with_capacity(said.len());
    let mut open: Vec<&ToolCall> = Vec::new();
    for message in said {
        if let ChatMessage::Tool { call_id, .. } = message {
            if let Some(at) = open.iter().position(|call| call.id == *call_id) {
                open.remove(at);
                out.push(message.clone());
            }
            continue;
        }
        close(&mut open, &mut out);
        out.push(message.clone());
        if let ChatMessage::Assistant { tool_calls, .. } = message {
            open.extend(tool_calls);
        }
    }
    close(&mut open, &mut out);
    out
}

fn close(open: &mut Vec<&ToolCall>, out: &mut Vec<ChatMessage>) {
    out.extend(open.drain(..).map(|call| ChatMessage::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: BROKEN_OFF.to_owned(),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn user(text: &str) -> ChatMessage {
        ChatMessage::user(text)
    }

    fn calls(ids: &[&str]) -> ChatMessage {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "calc".to_owned(),
            arguments: "{}".to_owned(),
        };
        ChatMessage::Assistant {
            text: String::new(),
            tool_calls: ids.iter().map(call).collect(),
            state: None,
        }
    }

    fn result(id: &str, text: &str) -> ChatMessage {
        ChatMessage::Tool {
            call_id: id.to_owned(),
            name: "calc".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn whole_pairs_stay_as_they_are() {
        let said = [
            user("a"),
            calls(&["1", "2"]),
            result("2", "x"),
            result("1", "y"),
            user("b"),
        ];
        assert_eq!(paired(&said), said);
    }

    #[test]
    fn halves_are_completed_or_left_out() {
        let said = [
            result("0", "x"),
            calls(&["1", "2"]),
            result("2", "y"),
            user("b"),
            result("1", "late"),
        ];
        let whole = [
            calls(&["1", "2"]),
            result("2", "y"),
            result("1", BROKEN_OFF),
            user("b"),
        ];
        assert_eq!(paired(&said), whole);
        assert_eq!(
            paired(&[calls(&["1"])]),
            [calls(&["1"]), result("1", BROKEN_OFF)]
        );
    }

    proptest! {
        #[test]
        fn every_call_has_its_answer_right_after_it(picks in proptest::collection::vec(0_usize..6, 0..20)) {
            let kinds = [user("u"), calls(&[]), calls(&["1"]), calls(&["1", "2"]), result("1", "r"), result("2", "r")];
            let said: Vec<ChatMessage> = picks.iter().map(|pick| kinds[*pick].clone()).collect();
            let whole = paired(&said);
            prop_assert_eq!(&paired(&whole), &whole);
            let mut open: Vec<String> = Vec::new();
            for message in &whole {
                match message {
                    ChatMessage::Tool { call_id, .. } => {
                        let at = open.iter().position(|id| id == call_id);
                        prop_assert!(at.is_some());
                        open.remove(at.unwrap());
                    }
                    ChatMessage::Assistant { tool_calls, .. } => {
                        prop_assert!(open.is_empty());
                        open = tool_calls.iter().map(|call| call.id.clone()).collect();
                    }
                    ChatMessage::User { .. } => prop_assert!(open.is_empty()),
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
