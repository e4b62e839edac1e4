use super::*;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use proptest::prelude::*;
use serde_json::json;

pub(crate) fn row(turn: i64, role: &str, content: &str) -> ChatMessageRow {
    let empty = ChatMessageRow::new(
        SessionId::from_text("ses_1"),
        TurnId::from_text("turn_1"),
        MessageId::from_text("msg_1"),
        role,
        "owner",
        Timestamp::from_millis(0),
    );
    ChatMessageRow {
        turn_no: turn,
        content: content.to_owned(),
        ..empty
    }
}

pub(crate) fn calling(turn: i64, content: &str, calls: &[(&str, &str)]) -> ChatMessageRow {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, arguments)| json!({ "id": id, "name": "calc", "arguments": arguments }))
        .collect();
    ChatMessageRow {
        tool_calls: Some(json!(calls).to_string()),
        model: Some("p/m".to_owned()),
        ..row(turn, "assistant", content)
    }
}

pub(crate) fn answering(turn: i64, call: &str, content: &str) -> ChatMessageRow {
    ChatMessageRow {
        tool_call_id: Some(call.to_owned()),
        tool_name: Some("calc".to_owned()),
        ..row(turn, "tool", content)
    }
}

const WHOLE: Caps = Caps {
    turn: 9,
    old: usize::MAX,
    current: usize::MAX,
};

fn sent(rows: &[ChatMessageRow]) -> Vec<ChatMessage> {
    messages(Vec::new(), rows, WHOLE, "p/m", &Files::default())
}

#[test]
fn calls_that_were_never_answered_are_answered() {
    let found = sent(&[
        row(1, "user", "a"),
        calling(1, "", &[("c1", "{}"), ("c2", "{\"x\":1}")]),
        answering(1, "c2", "two"),
        row(2, "user", "b"),
    ]);
    let [
        _,
        _,
        ChatMessage::Tool { call_id, text, .. },
        ChatMessage::Tool { text: second, .. },
        _,
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!(call_id, "c1");
    assert!(text.contains("interrupted"), "{text}");
    assert!(second.contains("two"), "{second}");
}

#[test]
fn answers_to_nothing_and_empty_messages_are_left_out() {
    let found = sent(&[
        answering(1, "c0", "orphan"),
        row(1, "user", "a"),
        row(1, "assistant", ""),
        row(1, "system", "a note"),
        row(2, "user", "b"),
    ]);
    assert_eq!(found, [ChatMessage::user("a\n\nb")]);
}

#[test]
fn arguments_that_are_no_object_are_not_sent_again() {
    for bad in ["{", "1", "[]", "", "null"] {
        let found = sent(&[row(1, "user", "a"), calling(1, "x", &[("c", bad)])]);
        let ChatMessage::Assistant { tool_calls, .. } = &found[1] else {
            panic!("{found:?}");
        };
        assert_eq!(tool_calls[0].arguments, "{}", "{bad}");
    }
}

#[test]
fn output_is_marked_and_shortened_by_turn() {
    let rows = [
        row(1, "user", "a"),
        calling(1, "", &[("c", "{}")]),
        answering(1, "c", "äbcdef"),
        row(2, "user", "b"),
        calling(2, "", &[("d", "{}")]),
        answering(2, "d", "äbcdef"),
    ];
    let caps = Caps {
        turn: 2,
        old: 2,
        current: 6,
    };
    let texts: Vec<String> = messages(Vec::new(), &rows, caps, "p/m", &Files::default())
        .into_iter()
        .filter_map(|message| match message {
            ChatMessage::Tool { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(
        texts[0],
        "<tool_output id=\"msg_1\">\näb\n[… shortened: 7 bytes in all]\n</tool_output id=\"msg_1\">"
    );
    assert_eq!(
        texts[1],
        "<tool_output id=\"msg_1\">\näbcdef\n</tool_output id=\"msg_1\">"
    );
}

#[test]
fn a_transcript_keeps_the_newest() {
    let rows: Vec<_> = (0..100)
        .map(|n| row(n, "user", &format!("text {n}")))
        .collect();
    let text = transcript(Some("before"), &rows, &Files::default(), 100);
    assert!(text.chars().count() <= 100, "{text}");
    assert!(text.ends_with("user: text 99\n"), "{text}");
    assert!(
        text.starts_with("Summary of the earlier messages: before"),
        "{text}"
    );
    assert!(!text.contains("text 50"), "{text}");
    assert!(transcript(None, &rows, &Files::default(), 0).is_empty());
    // With enough space, a part of every message is kept.
    let rows: Vec<_> = (0..9)
        .map(|n| row(n, "user", &format!("text {n} {}", "x".repeat(1000))))
        .collect();
    let text = transcript(None, &rows, &Files::default(), 3_000);
    for n in 0..9 {
        assert!(text.contains(&format!("text {n}")), "{text}");
    }
    assert!(text.chars().count() <= 3_000);
}

#[test]
fn names_are_sent_as_vendors_take_them() {
    for (given, sent) in [
        ("no such tool!", "no_such_tool_"),
        ("mcp__x-1__A", "mcp__x-1__A"),
        ("ä", "_"),
        ("", "unknown"),
        (&"n".repeat(64), &"n".repeat(64)),
        (&"n".repeat(65), &"n".repeat(64)),
    ] {
        assert_eq!(sendable_name(given), sent, "{given}");
    }
}

fn any_rows() -> impl Strategy<Value = Vec<ChatMessageRow>> {
    let one = (0..4, 0..3_usize, "[a-c]{0,3}").prop_map(|(kind, id, text)| {
        let id = format!("c{id}");
        match kind {
            0 => row(1, "user", &text),
            1 => row(1, "assistant", &text),
            2 => calling(1, &text, &[(&id, "{}"), ("d", &text)]),
            _ => answering(1, &id, &text),
        }
    });
    proptest::collection::vec(one, 0..20)
}

proptest! {
    #[test]
    fn whatever_is_stored_what_is_sent_is_valid(rows in any_rows()) {
        let found = sent(&rows);
        let mut open: Vec<String> = Vec::new();
        let mut before_user = false;
        for message in found {
            match message {
                ChatMessage::User { .. } => {
                    prop_assert!(open.is_empty() && !before_user);
                    before_user = true;
                }
                ChatMessage::Assistant {
                    tool_calls, text, ..
                } => {
                    prop_assert!(open.is_empty());
                    prop_assert!(!text.is_empty() || !tool_calls.is_empty());
                    open = tool_calls.into_iter().map(|call| call.id).collect();
                    before_user = false;
                }
                ChatMessage::Tool { call_id, .. } => {
                    prop_assert_eq!(open.remove(0), call_id);
                    before_user = false;
                }
            }
        }
        prop_assert!(open.is_empty());
    }
}

fn ids(messages: &[ChatMessage]) -> Vec<(String, bool)> {
    let mut ids = Vec::new();
    for message in messages {
        match message {
            ChatMessage::Assistant { tool_calls, .. } => {
                ids.extend(tool_calls.iter().map(|call| (call.id.clone(), true)));
            }
            ChatMessage::Tool { call_id, .. } => ids.push((call_id.clone(), false)),
            ChatMessage::User { .. } => {}
        }
    }
    ids
}

#[test]
fn ids_fit_the_asked_model() {
    let own = [
        calling(1, "", &[("toolu_a", "{}"), ("call_0", "{}")]),
        answering(1, "call_0", "x"),
        answering(1, "toolu_a", "y"),
        // The same ID again.
        calling(1, "", &[("call_0", "{}")]),
        answering(1, "call_0", "z"),
    ];
    let sent_ids = ids(&sent(&own));
    let calls: Vec<_> = sent_ids.iter().filter(|(_, is_call)| *is_call).collect();
    assert_eq!(
        (calls[0].0.as_str(), calls[1].0.as_str()),
        ("toolu_a", "call_0")
    );
    assert_ne!(calls[2].0, "call_0");

    let for_another = messages(Vec::new(), &own, WHOLE, "p/other", &Files::default());
    let sent_ids = ids(&for_another);
    let fits = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    assert!(sent_ids.iter().all(|(id, _)| fits(id)), "{sent_ids:?}");
    let calls: HashSet<_> = sent_ids.iter().filter(|(_, is_call)| *is_call).collect();
    assert_eq!(calls.len(), 3);
    let texts: Vec<_> = for_another
        .iter()
        .filter_map(|message| match message {
            ChatMessage::Tool { call_id, text, .. } => Some((call_id, text)),
            _ => None,
        })
        .collect();
    assert!(texts[0].1.contains('y') && texts[1].1.contains('x') && texts[2].1.contains('z'));
}

#[test]
fn of_an_interrupted_answer_a_model_sees_what_was_heard() {
    let interrupted = |heard: &str| ChatMessageRow {
        heard: Some(heard.to_owned()),
        ..row(1, "assistant", "One. Two. Three.")
    };
    for (answer, expected) in [
        (row(1, "assistant", "One. Two. Three."), "One. Two. Three."),
        (
            interrupted("One."),
            "One. [interrupted: the rest was not heard]",
        ),
        (interrupted(""), "[interrupted before anything was heard]"),
    ] {
        let found = sent(&[row(1, "user", "a"), answer, row(2, "user", "b")]);
        let [_, ChatMessage::Assistant { text, .. }, _] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(text, expected);
    }
}
