//! Tests of the parent module.

use super::*;
use serde_json::json;

fn text(content: Value) -> Result<String, Problem> {
    let content: Content = serde_json::from_value(content).unwrap();
    content.text("messages")
}

#[test]
fn only_text_is_content() {
    assert_eq!(text(json!("a")).unwrap(), "a");
    let parts = json!([{ "type": "text", "text": "a" }, { "type": "refusal", "refusal": "b" }]);
    assert_eq!(text(parts).unwrap(), "a\nb");
    for part in [json!({ "type": "image_url" }), json!({ "type": "text" })] {
        let refused = text(json!([part])).unwrap_err();
        assert_eq!(refused.details["field"], "messages");
    }
}

#[test]
fn results_name_their_calls() {
    let mut conversation = Conversation::default();
    let call = ToolCall {
        id: "c1".to_owned(),
        name: "calc".to_owned(),
        arguments: "{}".to_owned(),
    };
    conversation.push_assistant(String::new(), vec![call]);
    conversation
        .push_result("c1".to_owned(), "42".to_owned(), "messages")
        .unwrap();
    let unknown = conversation.push_result("c2".to_owned(), "1".to_owned(), "messages");
    assert!(unknown.is_err());
    let (system, messages) = conversation.finish();
    assert_eq!((system, messages.len()), (None, 2));
}

#[test]
fn numbers_have_limits() {
    assert_eq!(within(Some(2.0), 0.0..=2.0, "temperature"), Ok(Some(2.0)));
    assert!(within(Some(2.1), 0.0..=2.0, "temperature").is_err());
    assert!(within(Some(f64::NAN), 0.0..=2.0, "temperature").is_err());
    assert!(effort(Some("much"), "reasoning_effort").is_err());
    assert!(tool_name("a b").is_err() && tool_name("a-b_1").is_ok());
}
