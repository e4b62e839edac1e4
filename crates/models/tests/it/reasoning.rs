//! Reasoning is separate from the answer and returned with tool results to the model that wrote it. The doubles refuse
//! a conversation without it, as the real vendors do.

use crate::harness::{Collected, Harness, collected, hello, listen, model_of, one};
use crate::vendor::{Answer, ReceivedRequest, Rule, Vendor, events};
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use gatehouse_models::{
    ChatMessage, ChatRequest, ModelFacts, ModelRef, ProviderKind, ReasoningEffort, StopReason,
    ToolSpec,
};
use serde_json::{Value, json};

const DONE: &str = r#"{"choices":[{"index":0,"delta":{"content":"42"},"finish_reason":"stop"}]}"#;

fn openai(frames: &[Value]) -> Answer {
    let mut texts: Vec<String> = frames.iter().map(Value::to_string).collect();
    texts.push("[DONE]".to_owned());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Answer::stream([events(&texts)])
}

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

fn anthropic(frames: &[Value]) -> Answer {
    let frames = frames.iter().map(|frame| {
        let name = frame["type"].as_str().unwrap();
        format!("event: {name}\ndata: {frame}\n\n")
    });
    Answer::stream([frames.collect::<String>()])
}

pub(crate) fn with_tool() -> ChatRequest {
    ChatRequest {
        tools: vec![ToolSpec {
            name: "calc".to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
            strict: None,
        }],
        ..hello()
    }
}

/// Returns one tool step and the answer: the first answer, and the second request.
pub(crate) async fn tool_step(
    kind: ProviderKind,
    name: &str,
    vendor: &Vendor,
    mut request: ChatRequest,
) -> Collected {
    let harness = Harness::new().await;
    let models = harness.models(one(kind, &vendor.url));
    let model = ModelRef {
        provider: "p".to_owned(),
        model: name.to_owned(),
    };
    let (first, failed) = listen(&models, &model, request.clone()).await;
    assert!(failed.is_none(), "{failed:?}");
    request.messages.push(ChatMessage::Assistant {
        text: first.text.clone(),
        tool_calls: first.calls.clone(),
        state: first.state.clone(),
    });
    for call in &first.calls {
        request.messages.push(ChatMessage::Tool {
            call_id: call.id.clone(),
            name: call.name.clone(),
            text: "42".to_owned(),
        });
    }
    let (second, failed) = listen(&models, &model, request).await;
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(second.text, "42");
    first
}

/// `DeepSeek`, "Thinking Mode", "Tool Calls".
fn deepseek(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    for message in asked.body["messages"].as_array().unwrap() {
        let called = message.get("tool_calls").is_some();
        if called && !message["reasoning_content"].is_string() {
            return Err((
                400,
                json!({ "error": {
                "message": "The reasoning_content in the thinking mode must be passed back to the API.",
                "type": "invalid_request_error", "param": null, "code": "invalid_request_error" } }),
            ));
        }
    }
    Ok(())
}

fn calc_call() -> Value {
    json!({ "index": 0, "id": "call_a", "type": "function",
        "function": { "name": "calc", "arguments": "{}" } })
}

#[tokio::test]
async fn deepseek_gets_its_reasoning_back_with_the_result() {
    for pieces in [&["Let me ", "see."][..], &[""][..]] {
        let mut frames: Vec<Value> = pieces
            .iter()
            .map(|text| delta(&json!({ "content": null, "reasoning_content": text })))
            .collect();
        frames.push(delta(&json!({ "tool_calls": [calc_call()] })));
        let second = serde_json::from_str(DONE).unwrap();
        let vendor = Vendor::strict([deepseek as Rule], [openai(&frames), openai(&[second])]).await;
        let first = tool_step(Openai, "deepseek-reasoner", &vendor, with_tool()).await;
        assert_eq!(first.text, "");
        assert_eq!(first.reasoning, pieces.concat());
        let sent = &vendor.asked()[1].body["messages"][1];
        assert_eq!(sent["reasoning_content"], pieces.concat());
    }
}

/// Gemini, "Thought signatures", for function calls of the current turn.
fn gemini(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    for message in asked.body["messages"].as_array().unwrap() {
        let first = message["tool_calls"]
            .as_array()
            .and_then(|calls| calls.first());
        let signature =
            |call: &Value| call["extra_content"]["google"]["thought_signature"] == "c2lnbmVk";
        if first.is_some_and(|call| !signature(call)) {
            return Err((
                400,
                json!([{ "error": { "code": 400, "status": "INVALID_ARGUMENT",
                "message": "Function call is missing a thought_signature in functionCall parts." } }]),
            ));
        }
    }
    Ok(())
}

#[tokio::test]
async fn gemini_gets_its_signature_back_with_the_call() {
    let mut call = calc_call();
    call["extra_content"] = json!({ "google": { "thought_signature": "c2lnbmVk" } });
    let second = serde_json::from_str(DONE).unwrap();
    let frames = [delta(&json!({ "role": "assistant", "tool_calls": [call] }))];
    let vendor = Vendor::strict([gemini as Rule], [openai(&frames), openai(&[second])]).await;
    tool_step(Openai, "gemini-3-pro-preview", &vendor, with_tool()).await;
}

#[tokio::test]
async fn openrouter_gets_its_details_back_unchanged() {
    let detail = |more: Value| {
        let mut detail =
            json!({ "type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0 });
        for (name, value) in more.as_object().unwrap() {
            detail[name] = value.clone();
        }
        delta(&json!({ "reasoning": more["text"], "reasoning_details": [detail] }))
    };
    let frames = [
        detail(json!({ "text": "Six " })),
        detail(json!({ "text": "times seven." })),
        detail(json!({ "signature": "sig" })),
        delta(&json!({ "tool_calls": [calc_call()] })),
    ];
    let second = serde_json::from_str(DONE).unwrap();
    let vendor = Vendor::new([openai(&frames), openai(&[second])]).await;
    let first = tool_step(Openai, "anthropic/claude-sonnet-4.5", &vendor, with_tool()).await;
    assert_eq!(first.reasoning, "Six times seven.");
    let sent = &vendor.asked()[1].body["messages"][1]["reasoning_details"];
    let whole = json!([{ "type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0,
        "text": "Six times seven.", "signature": "sig" }]);
    assert_eq!(*sent, whole);
}

/// Anthropic, "Preserving thinking blocks". With thinking, a message with calls begins with its blocks.
pub(crate) fn claude(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    let body = &asked.body;
    let refuse = |message: &str| {
        let error = json!({ "type": "error",
            "error": { "type": "invalid_request_error", "message": message } });
        Err((400, error))
    };
    if body["thinking"]["type"] == "enabled" {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap();
        if budget < 1024 || budget >= body["max_tokens"].as_u64().unwrap() {
            return refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
        }
        if body.get("temperature").is_some_and(|t| t != 1.0) {
            return refuse("`temperature` may only be set to 1 when thinking is enabled.");
        }
    }
    for message in body["messages"].as_array().unwrap() {
        let blocks = message["content"].as_array().unwrap();
        let called = blocks.iter().any(|block| block["type"] == "tool_use");
        let kind = blocks[0]["type"].as_str().unwrap();
        if body.get("thinking").is_some() && called && !kind.ends_with("thinking") {
            return refuse(
                "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
            );
        }
        for block in blocks {
            if block["type"] == "thinking" && block["signature"] != "EqQBCg==" {
                return refuse("messages.1.content.0: Invalid `signature` in `thinking` block");
            }
        }
    }
    Ok(())
}

fn claude_start() -> Value {
    json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-sonnet-4-5", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 } } })
}

pub(crate) fn claude_step() -> Answer {
    anthropic(&[
        claude_start(),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "Six times " } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "seven." } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "EqQBCg==" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "redacted_thinking", "data": "EmwKAhgB" } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "content_block_start", "index": 2, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 2, "delta": { "type": "text_delta", "text": "I calculate." } }),
        json!({ "type": "content_block_stop", "index": 2 }),
        json!({ "type": "content_block_start", "index": 3, "content_block": { "type": "tool_use", "id": "toolu_1", "name": "calc", "input": {} } }),
        json!({ "type": "content_block_stop", "index": 3 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null }, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ])
}

pub(crate) fn claude_answer() -> Answer {
    anthropic(&[
        claude_start(),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "42" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ])
}

#[tokio::test]
async fn claude_gets_its_signed_and_redacted_thinking_back() {
    let vendor = Vendor::strict([claude as Rule], [claude_step(), claude_answer()]).await;
    let request = ChatRequest {
        effort: Some(ReasoningEffort::Medium),
        temperature: Some(0.3),
        ..with_tool()
    };
    let first = tool_step(Anthropic, "claude-sonnet-4-5", &vendor, request).await;
    assert_eq!(first.text, "I calculate.");
    assert_eq!(first.reasoning, "Six times seven.");
    let asked = vendor.asked();
    assert_eq!(
        asked[0].body["thinking"],
        json!({ "type": "enabled", "budget_tokens": 8192 })
    );
    let sent = asked[1].body["messages"][1]["content"].clone();
    let blocks = json!([
        { "type": "thinking", "thinking": "Six times seven.", "signature": "EqQBCg==" },
        { "type": "redacted_thinking", "data": "EmwKAhgB" },
        { "type": "text", "text": "I calculate." },
        { "type": "tool_use", "id": "toolu_1", "name": "calc", "input": {} },
    ]);
    assert_eq!(sent, blocks);
}

#[tokio::test]
async fn a_step_of_another_model_turns_thinking_off_instead_of_failing() {
    let vendor = Vendor::strict([claude as Rule], [claude_answer()]).await;
    let harness = Harness::new().await;
    let mut request = ChatRequest {
        effort: Some(ReasoningEffort::High),
        ..with_tool()
    };
    request.messages.push(ChatMessage::Assistant {
        text: String::new(),
        tool_calls: vec![crate::harness::call("call_1", "calc", "{}")],
        state: None,
    });
    let models = harness.models(one(Anthropic, &vendor.url));
    let (second, failed) = listen(&models, &model_of("p", "claude-sonnet-4-5"), request).await;
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(second.text, "42");
    assert!(vendor.only().body.get("thinking").is_none());
}

#[tokio::test]
async fn newer_models_get_an_effort_and_a_model_that_refuses_it_the_other_form() {
    fn adaptive_only(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
        match asked.body["thinking"]["type"].as_str() {
            Some("enabled") => Err((
                400,
                json!({ "type": "error", "error": {
                "type": "invalid_request_error",
                "message": "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior." } }),
            )),
            _ => Ok(()),
        }
    }
    let harness = Harness::new().await;
    for (name, requests) in [("claude-opus-5", 1), ("claude-haiku-4-5-next", 2)] {
        let vendor = Vendor::strict([adaptive_only as Rule], [claude_answer()]).await;
        let models = harness.models(one(Anthropic, &vendor.url));
        let request = ChatRequest {
            effort: Some(ReasoningEffort::Low),
            ..hello()
        };
        let (_, failed) = listen(&models, &model_of("p", name), request).await;
        assert!(failed.is_none(), "{failed:?}");
        let asked = vendor.asked();
        assert_eq!(asked.len(), requests, "{name}");
        let last = &asked.last().unwrap().body;
        assert_eq!(last["thinking"], json!({ "type": "adaptive" }));
        assert_eq!(last["output_config"], json!({ "effort": "low" }));
    }
}

#[tokio::test]
async fn thinking_fits_into_a_small_limit_or_is_left_out() {
    let harness = Harness::new().await;
    for (max_tokens, max_output, budget) in [
        (Some(3000), None, Some(2999)),
        (Some(1024), None, None),
        (None, Some(4096), Some(4095)),
    ] {
        let vendor = Vendor::strict([claude as Rule], [claude_answer()]).await;
        let mut settings = one(Anthropic, &vendor.url);
        let facts = ModelFacts {
            max_output,
            ..ModelFacts::default()
        };
        let provider = settings.providers.get_mut("p").unwrap();
        provider.facts.insert("claude-sonnet-4-5".to_owned(), facts);
        let request = ChatRequest {
            effort: Some(ReasoningEffort::High),
            max_tokens,
            ..hello()
        };
        let models = harness.models(settings);
        let (_, failed) = listen(&models, &model_of("p", "claude-sonnet-4-5"), request).await;
        assert!(failed.is_none(), "{failed:?}");
        let thinking = &vendor.only().body["thinking"];
        assert_eq!(thinking["budget_tokens"].as_u64(), budget);
    }
}

#[tokio::test]
async fn thinking_in_tags_is_reasoning_and_a_document_has_it_too() {
    let frames = [
        delta(&json!({ "content": "<thi" })),
        delta(&json!({ "content": "nk>Hm.</think>\n\n4" })),
        serde_json::from_str(&DONE.replace("42", "2")).unwrap(),
    ];
    let document = json!({ "choices": [{ "index": 0, "finish_reason": "stop",
        "message": { "role": "assistant", "content": "<think>Hm.</think>42" } }] });
    for answer in [openai(&frames), Answer::json(200, &document)] {
        let vendor = Vendor::new([answer]).await;
        let harness = Harness::new().await;
        let collected = collected(&harness.models(one(Openai, &vendor.url)), hello()).await;
        assert_eq!(
            (collected.text.as_str(), collected.reasoning.as_str()),
            ("42", "Hm.")
        );
        assert_eq!(collected.end.unwrap().1, StopReason::End);
    }
}

#[tokio::test]
async fn mistrals_thinking_parts_are_reasoning() {
    let frames = [
        delta(
            &json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }] }),
        ),
        serde_json::from_str(DONE).unwrap(),
    ];
    let vendor = Vendor::new([openai(&frames)]).await;
    let harness = Harness::new().await;
    let collected = collected(&harness.models(one(Openai, &vendor.url)), hello()).await;
    assert_eq!(
        (collected.text.as_str(), collected.reasoning.as_str()),
        ("42", "Hm.")
    );
}

#[tokio::test]
async fn a_server_that_does_not_know_the_reasoning_is_asked_without_it() {
    fn strict(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
        let messages = asked.body["messages"].as_array().unwrap();
        if messages
            .iter()
            .any(|message| message.get("reasoning_content").is_some())
        {
            let detail = json!([{ "loc": ["body", "messages", 1, "reasoning_content"],
                "msg": "Extra inputs are not permitted", "type": "extra_forbidden" }]);
            return Err((422, json!({ "detail": detail })));
        }
        Ok(())
    }
    let frames = [
        delta(&json!({ "reasoning_content": "Hm." })),
        delta(&json!({ "tool_calls": [calc_call()] })),
    ];
    let second = serde_json::from_str(DONE).unwrap();
    let vendor = Vendor::strict([strict as Rule], [openai(&frames), openai(&[second])]).await;
    tool_step(Openai, "m", &vendor, with_tool()).await;
    assert_eq!(vendor.asked().len(), 3);
}
