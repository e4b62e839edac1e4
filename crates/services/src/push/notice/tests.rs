//! Tests of the parent module.

use super::*;
use crate::push::encrypt::MAX_TEXT_BYTES;
use gatehouse_agents::{Answered, Usage};
use gatehouse_domain::id::{InboxMessageId, SessionId, TurnId};

fn message(source: &str, text: &str) -> InboxMessage {
    InboxMessage {
        id: InboxMessageId::from_text("in_1"),
        channel: "inbox".to_owned(),
        text: text.to_owned(),
        source: source.to_owned(),
        at: Timestamp::from_millis(0),
        read: false,
        webhook_id: None,
        delivery_id: None,
    }
}

fn body_of(text: &str) -> String {
    let notice = Notice::of_message(&message("m", text), Timestamp::from_millis(0));
    notice.text.body.unwrap()
}

#[test]
fn a_text_of_more_than_200_characters_ends_with_an_ellipsis() {
    let limit = "ä".repeat(MAX_CHARS);
    assert_eq!(body_of(&limit), limit);
    let cut = format!("{}…", "ä".repeat(MAX_CHARS - 1));
    assert_eq!(body_of(&format!("{limit}b")), cut);
}

#[test]
fn the_longest_notification_fits_into_a_message() {
    // A control character takes six bytes in JSON.
    let long = "\u{1}".repeat(MAX_CHARS + 1);
    let notice = Notice::of_message(&message(&long, &long), Timestamp::from_millis(0));
    let bytes = serde_json::to_vec(&notice.text).unwrap().len();
    assert!(bytes <= MAX_TEXT_BYTES, "{bytes}");
}

#[test]
fn only_a_browser_is_notified_of_its_answer_and_not_of_a_turn_that_was_stopped() {
    let done = |caller: &str, stop| Done {
        session: SessionId::from_text("ses_1"),
        turn_id: TurnId::from_text("turn_1"),
        usage: Usage::default(),
        stop,
        error: None,
        answered: Some(Answered {
            caller: caller.to_owned(),
            text: "pong".to_owned(),
        }),
    };
    let notice = |caller, stop| {
        let notice = Notice::of_answer(&done(caller, stop), Timestamp::from_millis(0));
        notice.map(|notice| notice.only)
    };
    for caller in ["session as_1", "device dev_1"] {
        assert_eq!(notice(caller, Stop::End), Some(Some(caller.to_owned())));
        assert_eq!(notice(caller, Stop::Aborted), None);
    }
    for caller in ["api_key key_1", "system", "cli"] {
        assert_eq!(notice(caller, Stop::End), None);
    }
}

#[test]
fn a_topic_has_at_most_32_characters() {
    let id = "0123456789abcdef0123456789abcdef";
    assert_eq!(topic_of(&format!("apr_{id}")), id);
    assert_eq!(topic_of(&format!("ses_{id}")), id);
}

#[test]
fn closing_is_kept_while_the_call_would_have_waited_and_for_a_minute_at_least() {
    let id = ApprovalId::from_text("apr_1");
    let at = Timestamp::from_millis;
    let until = |expires_at| Notice::closed(&id, at(expires_at), ShownBy::default(), at(0)).until;
    assert_eq!(until(60_001), at(60_001));
    assert_eq!(until(59_999), at(60_000));
}
