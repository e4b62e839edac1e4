//! Chat completions, after the examples in <https://platform.openai.com/docs/api-reference/chat>.

use crate::harness::{Collected, Harness, ask, call, collected, hello, model_of, one, usage, user};
use crate::vendor::{Answer, Vendor, events};
use gatehouse_models::ProviderKind::Openai;
use gatehouse_models::{
    ChatMessage, ChatRequest, OpenaiOptions, StopReason, ToolChoice, ToolSpec, Usage,
};
use serde_json::{Value, json};

/// The streamed example of the reference, followed by the frame of `include_usage`.
const HELLO: &[&str] = &[
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":", wörld"},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#,
    "[DONE]",
];

fn hello_said() -> Collected {
    Collected {
        text: "Hello, wörld".to_owned(),
        end: Some((usage(9, 12), StopReason::End)),
        ..Collected::default()
    }
}

fn calc() -> ToolSpec {
    ToolSpec {
        name: "calc".to_owned(),
        description: "Calculates.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "x": { "type": "string" } } }),
        strict: None,
    }
}

#[tokio::test]
async fn what_is_sent_and_what_comes_back() {
    let vendor = Vendor::new([Answer::stream([events(HELLO)])]).await;
    let harness = Harness::new().await;
    let request = ChatRequest {
        system: Some("Be kind.".to_owned()),
        messages: vec![user("Hello!")],
        tools: vec![ToolSpec {
            strict: Some(true),
            ..calc()
        }],
        temperature: Some(0.5),
        max_tokens: Some(77),
        effort: None,
        tool_choice: Some(ToolChoice::Required),
        top_p: Some(0.9),
        stop: vec!["END".to_owned()],
        response_format: Some(json!({ "type": "json_object" })),
        openai: OpenaiOptions {
            parallel_tool_calls: Some(false),
            seed: Some(7),
            frequency_penalty: Some(-2.0),
            presence_penalty: Some(0.5),
        },
    };
    let collected = collected(&harness.models(one(Openai, &vendor.url)), request).await;
    assert_eq!(collected, hello_said());
    let asked = vendor.only();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(asked.header("authorization"), Some("Bearer sk-test"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    let tool = json!({
        "name": "calc",
        "description": "Calculates.",
        "parameters": { "type": "object", "properties": { "x": { "type": "string" } } },
        "strict": true,
    });
    let body = json!({
        "model": "m",
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": "Hello!" },
        ],
        "tools": [{ "type": "function", "function": tool }],
        "tool_choice": "required",
        "temperature": 0.5,
        "max_tokens": 77,
        "top_p": 0.9,
        "stop": ["END"],
        "response_format": { "type": "json_object" },
        "parallel_tool_calls": false,
        "seed": 7,
        "frequency_penalty": -2.0,
        "presence_penalty": 0.5,
    });
    assert_eq!(asked.body, body);
}

#[tokio::test]
async fn what_is_not_said_is_not_sent() {
    let vendor = Vendor::new([Answer::stream([events(HELLO)])]).await;
    let harness = Harness::new().await;
    collected(&harness.models(one(Openai, &vendor.url)), hello()).await;
    let body = vendor.only().body;
    for name in [
        "tools",
        "temperature",
        "max_tokens",
        "max_completion_tokens",
    ] {
        assert!(body.get(name).is_none(), "{name}");
    }
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_of_ones_own_gets_no_key() {
    let vendor = Vendor::new([Answer::stream([events(HELLO)])]).await;
    let harness = Harness::new().await;
    let mut settings = one(Openai, &vendor.url);
    settings.providers.get_mut("p").unwrap().api_key = None;
    collected(&harness.models(settings), hello()).await;
    assert_eq!(vendor.only().header("authorization"), None);
}

#[tokio::test]
async fn however_the_bytes_are_cut() {
    let whole = events(HELLO);
    let returns = whole.replace('\n', "\r\n");
    let spelled = format!("\u{feff}: a comment\n\nevent: x\nid: 1\n{whole}");
    for text in [&whole, &returns, &spelled] {
        for size in [1, 2, 7, 64, 500] {
            let vendor = Vendor::new([Answer::stream(text.as_bytes().chunks(size))]).await;
            let (collected, error) = ask(Openai, &vendor).await;
            assert!(error.is_none(), "{size}: {error:?}");
            assert_eq!(collected, hello_said(), "{size}");
        }
    }
}

/// `OpenAI`'s details (<https://platform.openai.com/docs/api-reference/chat/object>), and `DeepSeek`'s count of cached
/// tokens (<https://api-docs.deepseek.com/guides/kv_cache>).
#[tokio::test]
async fn cached_tokens_and_those_of_reasoning_are_counted() {
    for (more, cached_tokens, reasoning_tokens) in [
        (
            r#""prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":4}"#,
            6,
            4,
        ),
        (
            r#""prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":4"#,
            5,
            0,
        ),
        (
            r#""prompt_tokens_details":null,"completion_tokens_details":{}"#,
            0,
            0,
        ),
    ] {
        let end = format!(
            r#"{{"choices":[],"usage":{{"prompt_tokens":9,"completion_tokens":12,{more}}}}}"#
        );
        let text = events(&[HELLO[1], HELLO[2], HELLO[3], &end, "[DONE]"]);
        let vendor = Vendor::new([Answer::stream([&text])]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert!(error.is_none(), "{more}: {error:?}");
        let used = Usage {
            cached_tokens,
            reasoning_tokens,
            ..usage(9, 12)
        };
        assert_eq!(collected.end.unwrap().0, used, "{more}");
    }
}

#[tokio::test]
async fn endings_that_compatible_servers_send() {
    let without_done = events(&HELLO[..5]);
    let without_usage = events(&[HELLO[1], HELLO[2], HELLO[3], "[DONE]"]);
    let without_last_line = whole_without_end();
    for (text, tokens) in [
        (without_done, usage(9, 12)),
        (without_usage, usage(0, 0)),
        (without_last_line, usage(9, 12)),
    ] {
        let vendor = Vendor::new([Answer::stream([&text])]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert!(error.is_none(), "{text}: {error:?}");
        assert_eq!(collected.text, "Hello, wörld");
        assert_eq!(collected.end, Some((tokens, StopReason::End)));
    }
}

fn whole_without_end() -> String {
    events(HELLO).trim_end().to_owned()
}

fn delta(delta: &Value) -> String {
    json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string()
}

fn finish(reason: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string()
}

fn call_delta(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> String {
    let mut call = json!({ "function": { "arguments": arguments } });
    if let Some(index) = index {
        call["index"] = index.into();
    }
    if let Some(id) = id {
        call["id"] = id.into();
        call["type"] = "function".into();
    }
    if let Some(name) = name {
        call["function"]["name"] = name.into();
    }
    delta(&json!({ "tool_calls": [call] }))
}

async fn heard(frames: &[String]) -> Collected {
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let vendor = Vendor::new([Answer::stream([events(&frames)])]).await;
    let (collected, error) = ask(Openai, &vendor).await;
    assert!(error.is_none(), "{error:?}");
    collected
}

#[tokio::test]
async fn calls_grow_by_their_index_and_unknown_tools_are_passed_on() {
    let collected = heard(&[
        delta(&json!({ "role": "assistant", "content": null })),
        call_delta(Some(0), Some("call_a"), Some("calc"), ""),
        call_delta(Some(0), None, None, "{\"x\":"),
        call_delta(Some(1), Some("call_b"), Some("no_such_tool"), "{"),
        call_delta(Some(0), None, None, "\"1\"}"),
        call_delta(Some(1), None, None, "not json"),
        call_delta(Some(2), Some("call_c"), Some("calc"), ""),
        finish("tool_calls"),
        "[DONE]".to_owned(),
    ])
    .await;
    let calls = [
        call("call_a", "calc", "{\"x\":\"1\"}"),
        call("call_b", "no_such_tool", "{not json"),
        call("call_c", "calc", "{}"),
    ];
    assert_eq!(collected.calls, calls);
    assert_eq!(collected.end, Some((usage(0, 0), StopReason::ToolUse)));
}

#[tokio::test]
async fn calls_that_compatible_servers_send() {
    // All calls have number 0 and are complete, and the reason is "stop".
    let collected = heard(&[
        call_delta(Some(0), Some("a"), Some("calc"), "{}"),
        call_delta(Some(0), Some("b"), Some("calc"), "{}"),
        finish("stop"),
        "[DONE]".to_owned(),
    ])
    .await;
    assert_eq!(
        collected.calls,
        [call("a", "calc", "{}"), call("b", "calc", "{}")]
    );
    assert_eq!(collected.end.unwrap().1, StopReason::ToolUse);
    // The call has no number and no ID, and its arguments are an object.
    let bare =
        json!({ "tool_calls": [{ "function": { "name": "calc", "arguments": { "x": 1 } } }] });
    let collected = heard(&[delta(&bare), finish("tool_calls"), "[DONE]".to_owned()]).await;
    assert_eq!(collected.calls, [call("call_0", "calc", "{\"x\":1}")]);
    let collected = heard(&[
        call_delta(None, Some("a"), Some("calc"), "{"),
        call_delta(None, Some("a"), None, "}"),
        call_delta(None, Some("b"), Some("calc"), "{}"),
        finish("tool_calls"),
        "[DONE]".to_owned(),
    ])
    .await;
    assert_eq!(
        collected.calls,
        [call("a", "calc", "{}"), call("b", "calc", "{}")]
    );
    // The name and the ID are repeated in every piece.
    let collected = heard(&[
        call_delta(Some(0), Some("a"), Some("calc"), "{"),
        call_delta(Some(0), Some("a"), Some("calc"), "}"),
        finish("tool_calls"),
        "[DONE]".to_owned(),
    ])
    .await;
    assert_eq!(collected.calls, [call("a", "calc", "{}")]);
}

#[tokio::test]
async fn reasons_to_stop() {
    for (reason, stop) in [
        ("stop", StopReason::End),
        ("length", StopReason::Length),
        ("model_length", StopReason::Length),
        ("content_filter", StopReason::Filtered),
        ("eos", StopReason::End),
    ] {
        let frames = [
            delta(&json!({ "content": "x" })),
            finish(reason),
            "[DONE]".to_owned(),
        ];
        assert_eq!(heard(&frames).await.end.unwrap().1, stop, "{reason}");
    }
    let refusal = [
        delta(&json!({ "refusal": "I cannot." })),
        finish("stop"),
        "[DONE]".to_owned(),
    ];
    let refused = heard(&refusal).await;
    assert_eq!(refused.text, "I cannot.");
    assert_eq!(refused.end.unwrap().1, StopReason::Refused);
    // Azure sends only the reason when the whole answer is filtered.
    let filtered = heard(&[finish("content_filter"), "[DONE]".to_owned()]).await;
    assert_eq!(filtered.end.unwrap().1, StopReason::Filtered);
    let parts = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "thinking" }] });
    let parts = [delta(&parts), finish("stop"), "[DONE]".to_owned()];
    assert_eq!(heard(&parts).await.text, "a");
}

/// `{}` would be a complete call, but with arguments that the model did not intend.
#[tokio::test]
async fn a_call_that_was_cut_before_its_arguments_gets_none() {
    for (reason, last) in [("length", ""), ("tool_calls", "{}"), ("stop", "{}")] {
        let collected = heard(&[
            call_delta(Some(0), Some("a"), Some("list"), ""),
            call_delta(Some(1), Some("b"), Some("delete"), ""),
            finish(reason),
            "[DONE]".to_owned(),
        ])
        .await;
        let calls = [call("a", "list", "{}"), call("b", "delete", last)];
        assert_eq!(collected.calls, calls, "{reason}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_with_a_reason_is_a_failure() {
    for reason in ["error", "insufficient_system_resource"] {
        let text = delta(&json!({ "content": "So far" }));
        let frames = events(&[&text, &finish(reason), "[DONE]"]);
        let vendor = Vendor::new([Answer::stream([frames])]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert_eq!(
            (collected.text.as_str(), collected.end),
            ("So far", None),
            "{reason}"
        );
        assert!(error.unwrap().is_retryable(), "{reason}");
    }
}

#[tokio::test]
async fn a_conversation_with_tools_goes_back_as_it_was() {
    let called = events(&[
        &call_delta(Some(0), Some("call_a"), Some("calc"), "{\"x\":\"6*7\"}"),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    let vendor = Vendor::new([Answer::stream([called]), Answer::stream([events(HELLO)])]).await;
    let harness = Harness::new().await;
    let models = harness.models(one(Openai, &vendor.url));
    let mut request = hello();
    request.tools = vec![calc()];
    let first = collected(&models, request.clone()).await;
    request.messages.push(ChatMessage::Assistant {
        text: first.text,
        tool_calls: first.calls.clone(),
        state: first.state,
    });
    request.messages.push(ChatMessage::Tool {
        call_id: first.calls[0].id.clone(),
        name: "calc".to_owned(),
        text: "42".to_owned(),
    });
    assert_eq!(collected(&models, request).await, hello_said());
    let function = json!({ "name": "calc", "arguments": "{\"x\":\"6*7\"}" });
    let messages = json!([
        { "role": "user", "content": "Hello" },
        {
            "role": "assistant",
            "content": null,
            "tool_calls": [{ "id": "call_a", "type": "function", "function": function }],
        },
        { "role": "tool", "tool_call_id": "call_a", "content": "42" },
    ]);
    assert_eq!(vendor.asked()[1].body["messages"], messages);
}

#[tokio::test]
async fn half_a_pair_does_not_spoil_the_conversation() {
    let vendor = Vendor::new([Answer::stream([events(HELLO)])]).await;
    let harness = Harness::new().await;
    let mut request = hello();
    request.messages.insert(
        0,
        ChatMessage::Assistant {
            text: "Wait.".to_owned(),
            tool_calls: vec![call("call_a", "calc", "{broken")],
            state: None,
        },
    );
    collected(&harness.models(one(Openai, &vendor.url)), request).await;
    let messages = vendor.only().body["messages"].clone();
    assert_eq!(messages[0]["content"], "Wait.");
    let arguments = messages[0]["tool_calls"][0]["function"]["arguments"].as_str();
    let sent: Value = serde_json::from_str(arguments.unwrap()).unwrap();
    assert_eq!(sent, json!({ "not_json": "{broken" }));
    assert_eq!(messages[1]["tool_call_id"], "call_a");
    assert_eq!(messages[2]["role"], "user");
}

#[tokio::test]
async fn a_server_that_does_not_know_the_question_for_usage_is_asked_without() {
    let unknown = json!({ "detail": [{ "loc": ["body", "stream_options"], "msg": "Extra" }] });
    let answers = [Answer::json(422, &unknown), Answer::stream([events(HELLO)])];
    let vendor = Vendor::new(answers).await;
    let (collected, error) = ask(Openai, &vendor).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(collected, hello_said());
    let asked = vendor.asked();
    assert!(asked[0].body.get("stream_options").is_some());
    assert!(asked[1].body.get("stream_options").is_none());
}

#[tokio::test]
async fn a_model_may_have_slashes_in_its_name() {
    let vendor = Vendor::new([Answer::stream([events(HELLO)])]).await;
    let harness = Harness::new().await;
    let models = harness.models(one(Openai, &vendor.url));
    let model = model_of("p", "meta/llama-3");
    assert_eq!(model.to_string(), "p/meta/llama-3");
    let (_, error) = crate::harness::listen(&models, &model, hello()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(vendor.only().body["model"], "meta/llama-3");
}
