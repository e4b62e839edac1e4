//! Tests of the parent module.

use super::*;
use serde_json::json;

fn request(openai: OpenaiOptions, strict: Option<bool>) -> ChatRequest {
    let tool = ToolSpec {
        name: "calc".to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
        strict,
    };
    ChatRequest {
        tools: vec![tool],
        openai,
        ..ChatRequest::default()
    }
}

#[test]
fn only_options_that_differ_from_the_default_need_the_family() {
    let defaults = OpenaiOptions {
        parallel_tool_calls: Some(true),
        seed: None,
        frequency_penalty: Some(0.0),
        presence_penalty: Some(0.0),
    };
    for strict in [Some(true), Some(false), None] {
        assert_eq!(request(defaults, strict).openai_option(), None);
    }
    for (options, name) in [
        (
            OpenaiOptions {
                parallel_tool_calls: Some(false),
                ..defaults
            },
            "parallel_tool_calls",
        ),
        (
            OpenaiOptions {
                seed: Some(0),
                ..defaults
            },
            "seed",
        ),
        (
            OpenaiOptions {
                frequency_penalty: Some(0.1),
                ..defaults
            },
            "frequency_penalty",
        ),
        (
            OpenaiOptions {
                presence_penalty: Some(-0.1),
                ..defaults
            },
            "presence_penalty",
        ),
    ] {
        assert_eq!(request(options, None).openai_option(), Some(name));
    }
}
