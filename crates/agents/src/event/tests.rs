//! Tests of the parent module.

use super::*;
use crate::session::Source;
use crate::taint::AskReason;
use crate::taint::Effect;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{ErrorCode, Problem};
use serde_json::Value;
use serde_json::json;

fn params(event: &AgentEvent) -> Value {
    serde_json::to_value(event).unwrap()
}

#[test]
fn events_are_as_the_contract_says() {
    let (session, turn_id) = (SessionId::from_text("ses_1"), TurnId::from_text("turn_1"));
    let delta = AgentEvent::Delta(Arc::new(Delta {
        session: session.clone(),
        turn_id: turn_id.clone(),
        text: "a".to_owned(),
        at: 3,
    }));
    assert_eq!(delta.name(), "chat.delta");
    assert_eq!(
        params(&delta),
        json!({ "session": "ses_1", "turn_id": "turn_1", "text": "a", "at": 3 })
    );
    let tool = AgentEvent::Tool(Arc::new(ToolProgress {
        session: session.clone(),
        turn_id: turn_id.clone(),
        id: "call_1".to_owned(),
        name: "calc".to_owned(),
        state: ToolState::Running,
        summary: None,
    }));
    assert_eq!(
        params(&tool),
        json!({ "session": "ses_1", "turn_id": "turn_1", "id": "call_1", "name": "calc",
            "state": "running" })
    );
    let problem = Problem::new(ErrorCode::NotConfigured, "No.").with("what", "models");
    let failure = Failure(problem.clone());
    let stored = serde_json::to_string(&failure).unwrap();
    assert_eq!(Failure::read(&stored), Some(failure));
    assert_eq!(Failure::read("{}"), None);
    let done = AgentEvent::Done(Arc::new(Done {
        session: session.clone(),
        turn_id,
        usage: Usage::default(),
        stop: Stop::Error,
        error: Some(Failure(problem)),
        answered: None,
    }));
    assert_eq!(
        params(&done),
        json!({ "session": "ses_1", "turn_id": "turn_1",
            "usage": { "input_tokens": 0, "output_tokens": 0 }, "stop": "error",
            "error": { "code": "NOT_CONFIGURED", "message": "No.", "what": "models" } })
    );
    let part = AgentEvent::Audio(Arc::new(AudioPart {
        session: session.clone(),
        message_id: MessageId::from_text("msg_1"),
        audio_id: Some("aud_1".to_owned()),
        part: 0,
        last: false,
        recording: None,
        error: None,
    }));
    assert_eq!(part.name(), "chat.audio");
    assert_eq!(
        params(&part),
        json!({ "session": "ses_1", "message_id": "msg_1", "audio_id": "aud_1", "part": 0,
            "last": false })
    );
}

#[test]
fn a_request_for_approval_is_as_the_contract_says() {
    let asked = AgentEvent::ApprovalRequested(Arc::new(Approval {
        id: ApprovalId::from_text("apr_1"),
        agent: "default".to_owned(),
        tool: "speak".to_owned(),
        arguments: json!({ "text": "x" }),
        shown: Shown::of("spe\u{ad}ak", &json!({ "text": "a\u{202e}b\nc" })),
        reason: AskReason::Tainted,
        effect: Effect::Spend,
        session: SessionId::from_text("ses_1"),
        conversation: Some(AskingConversation::of(
            "a\u{202e}\nb",
            Source::Webhook,
            Some("Shop\u{ad}"),
        )),
        expires_at: Timestamp::from_millis(0),
    }));
    assert!(asked.is_for_approvers());
    assert_eq!(
        params(&asked),
        json!({ "id": "apr_1", "agent": "default", "tool": "speak", "arguments": { "text": "x" },
            "shown": { "tool": "spe\\u{AD}ak", "hidden": 2,
                "arguments": "{\n  \"text\": \"a\\u{202E}b\\nc\"\n}" },
            "reason": "tainted", "effect": "spend", "session": "ses_1",
            "conversation": { "label": "a\\u{202E}\\u{A}b", "source": "webhook", "from": "Shop\\u{AD}" },
            "expires_at": "1970-01-01T00:00:00.000Z" })
    );
}

#[test]
fn a_long_label_is_cut_before_it_is_escaped() {
    let label = |count| {
        let label = "\u{ad}".repeat(count);
        AskingConversation::of(&label, Source::User, None).label
    };
    assert_eq!(label(MAX_LABEL_CHARS), "\\u{AD}".repeat(MAX_LABEL_CHARS));
    let cut = format!("{}…", "\\u{AD}".repeat(MAX_LABEL_CHARS));
    assert_eq!(label(MAX_LABEL_CHARS + 1), cut);
}
