//! Tests of the parent module.

use super::messages::id;
use super::*;
use crate::ChatRequest;
use crate::chat::{ChatMessage, ToolCall, ToolSpec};

#[test]
fn old_models_answer_less() {
    let request = ChatRequest::default();
    let most = |model, max_output| {
        let call = ChatCall {
            model,
            max_output,
            ..to(&request)
        };
        max_tokens(&call)
    };
    assert_eq!(most("claude-3-haiku-20240307", None), 4096);
    assert_eq!(most("claude-sonnet-4-5", None), 8192);
    assert_eq!(most("claude-sonnet-4-5", Some(1000)), 1000);
}

fn to(request: &ChatRequest) -> ChatCall<'_> {
    static BASE: std::sync::LazyLock<url::Url> =
        std::sync::LazyLock::new(|| url::Url::parse("https://api.anthropic.com/v1").unwrap());
    ChatCall {
        base_url: &BASE,
        model: "m",
        request,
        learned: crate::learned::Learned::default(),
        max_output: None,
    }
}

#[test]
fn what_was_called_is_named_where_nothing_is_offered() {
    let called = |name: &str| ChatMessage::Assistant {
        text: String::new(),
        tool_calls: vec![ToolCall {
            id: "c".to_owned(),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        }],
        state: None,
    };
    let request = |messages, tools| ChatRequest {
        messages,
        tools,
        ..ChatRequest::default()
    };
    let spec = ToolSpec {
        name: "calc".to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
        strict: None,
    };
    let both = || vec![called("b"), called("a"), called("b")];
    let asked = request(both(), Vec::new());
    let offered = tools_of_history(&to(&asked)).unwrap();
    let names: Vec<_> = offered
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["name"])
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert!(tools_of_history(&to(&request(both(), vec![spec]))).is_none());
    assert!(tools_of_history(&to(&request(Vec::new(), Vec::new()))).is_none());
}

#[test]
fn ids_of_other_vendors_are_made_to_fit() {
    for (given, sent) in [
        ("toolu_1-A", "toolu_1-A"),
        ("a.b:c ä", "a_b_c__"),
        ("", "_"),
    ] {
        assert_eq!(id(given), sent);
    }
}
