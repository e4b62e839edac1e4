//! Anthropic Messages, after the examples in <https://platform.claude.com/docs/en/api/messages> and
//! <https://platform.claude.com/docs/en/build-with-claude/streaming>.

use crate::harness::{Collected, Harness, ask, call, collected, hello, model, one, usage, user};
use crate::vendor::{Answer, Vendor, events};
use futures_util::StreamExt;
use gatehouse_models::ProviderKind::Anthropic;
use gatehouse_models::{
    CallProgress, ChatMessage, ChatRequest, ModelError, OpenaiOptions, StopReason, ToolChoice,
    ToolSpec, Usage,
};
use serde_json::json;

/// The basic example of the streaming page.
pub(crate) const HELLO: &str = r#"event: message_start
data: {"type": "message_start", "message": {"id": "msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY", "type": "message", "role": "assistant", "content": [], "model": "claude-opus-4-1", "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 25, "output_tokens": 1}}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "!"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence":null}, "usage": {"output_tokens": 15}}

event: message_stop
data: {"type": "message_stop"}

"#;

fn hello_said() -> Collected {
    Collected {
        text: "Hello!".to_owned(),
        end: Some((usage(25, 15), StopReason::End)),
        ..Collected::default()
    }
}

/// The vendor reports the input first.
#[tokio::test]
async fn what_arrived_is_known_before_the_end() {
    let half = HELLO.find("event: content_block_stop").unwrap();
    let vendor = Vendor::new([Answer::stream([&HELLO[..half], &HELLO[half..]])]).await;
    let harness = Harness::new().await;
    let models = harness.models(one(Anthropic, &vendor.url));
    let progress = CallProgress::default();
    assert_eq!(progress.arrived(), None);
    let chunks = models.chat_noting(&model(), hello(), &progress).await;
    let mut chunks = chunks.unwrap();
    let first = progress.arrived().unwrap();
    assert_eq!(first.usage.input_tokens, 25);
    while chunks.next().await.is_some() {}
    let all = progress.arrived().unwrap();
    assert_eq!((all.usage, all.bytes), (usage(25, 15), "Hello!".len()));
}

#[tokio::test]
async fn what_is_sent_and_what_comes_back() {
    let vendor = Vendor::new([Answer::stream([HELLO])]).await;
    let harness = Harness::new().await;
    let request = ChatRequest {
        system: Some("Be kind.".to_owned()),
        messages: vec![user("Hello")],
        tools: vec![ToolSpec {
            name: "calc".to_owned(),
            description: "Calculates.".to_owned(),
            parameters: json!({ "type": "object" }),
            strict: None,
        }],
        temperature: Some(1.5),
        max_tokens: Some(77),
        effort: None,
        tool_choice: Some(ToolChoice::Tool("calc".to_owned())),
        top_p: Some(0.9),
        stop: vec!["END".to_owned()],
        response_format: None,
        openai: OpenaiOptions::default(),
    };
    let collected = collected(&harness.models(one(Anthropic, &vendor.url)), request).await;
    assert_eq!(collected, hello_said());
    let asked = vendor.only();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/v1/messages")
    );
    assert_eq!(asked.header("x-api-key"), Some("sk-test"));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked.header("authorization"), None);
    assert_eq!(asked.header("content-type"), Some("application/json"));
    let cache = json!({ "type": "ephemeral" });
    let body = json!({
        "model": "m",
        "max_tokens": 77,
        "stream": true,
        "system": [{ "type": "text", "text": "Be kind.", "cache_control": cache }],
        "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "Hello", "cache_control": cache }
        ] }],
        "tools": [{
            "name": "calc",
            "description": "Calculates.",
            "input_schema": { "type": "object", "properties": {} },
            "cache_control": cache,
        }],
        "tool_choice": { "type": "tool", "name": "calc" },
        "temperature": 1.0,
        "top_p": 0.9,
        "stop_sequences": ["END"],
    });
    assert_eq!(asked.body, body);
}

#[tokio::test]
async fn a_limit_of_tokens_is_always_sent() {
    let vendor = Vendor::new([Answer::stream([HELLO])]).await;
    let harness = Harness::new().await;
    collected(&harness.models(one(Anthropic, &vendor.url)), hello()).await;
    let body = vendor.only().body;
    assert_eq!(body["max_tokens"], 8192);
    assert!(body.get("system").is_none() && body.get("tools").is_none());
}

#[tokio::test]
async fn however_the_bytes_are_cut() {
    for size in [1, 3, 11, 97, 1000] {
        let vendor = Vendor::new([Answer::stream(HELLO.as_bytes().chunks(size))]).await;
        let (collected, error) = ask(Anthropic, &vendor).await;
        assert!(error.is_none(), "{size}: {error:?}");
        assert_eq!(collected, hello_said(), "{size}");
    }
}

/// The tool example of the streaming page, shortened, with blocks that the client ignores.
pub(crate) const CALLS: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":472,"cache_creation_input_tokens":20,"cache_read_input_tokens":8,"output_tokens":2}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Okay"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_01","name":"get_weather","input":{}}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"location\":"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":" \"Zürich\"}"}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_02","name":"no_such_tool","input":{}}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_03","name":"calc","input":{"x":1}}}"#,
    r#"{"type":"content_block_stop","index":5}"#,
    r#"{"type":"something_new","with":{"more":1}}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}"#,
    r#"{"type":"message_stop"}"#,
];

#[tokio::test]
async fn calls_and_what_is_passed_over() {
    let vendor = Vendor::new([Answer::stream([events(CALLS)])]).await;
    let (collected, error) = ask(Anthropic, &vendor).await;
    assert!(error.is_none(), "{error:?}");
    let calls = [
        call("toolu_01", "get_weather", "{\"location\": \"Zürich\"}"),
        call("toolu_02", "no_such_tool", "{}"),
        call("toolu_03", "calc", "{\"x\":1}"),
    ];
    assert_eq!(collected.text, "Okay");
    assert_eq!(collected.calls, calls);
    let used = Usage {
        cached_tokens: 8,
        ..usage(500, 89)
    };
    assert_eq!(collected.end, Some((used, StopReason::ToolUse)));
}

/// `{}` would be a complete call, but with arguments that the model did not intend.
#[tokio::test]
async fn a_call_that_was_cut_before_its_arguments_gets_none() {
    for (reason, last) in [("max_tokens", ""), ("tool_use", "{}")] {
        let begun = |index: u64, id: &str, name: &str| {
            let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            json!({ "type": "content_block_start", "index": index, "content_block": block })
                .to_string()
        };
        let ended =
            |index: u64| json!({ "type": "content_block_stop", "index": index }).to_string();
        let stop = json!({ "type": "message_delta", "delta": { "stop_reason": reason } });
        let frames = [
            begun(0, "a", "list"),
            ended(0),
            begun(1, "b", "delete"),
            ended(1),
            stop.to_string(),
            json!({ "type": "message_stop" }).to_string(),
        ];
        let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
        let vendor = Vendor::new([Answer::stream([events(&frames)])]).await;
        let (collected, error) = ask(Anthropic, &vendor).await;
        assert!(error.is_none(), "{error:?}");
        let calls = [call("a", "list", "{}"), call("b", "delete", last)];
        assert_eq!(collected.calls, calls, "{reason}");
    }
}

#[tokio::test]
async fn reasons_to_stop() {
    for (reason, stop) in [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("refusal", StopReason::Refused),
        ("pause_turn", StopReason::Length),
    ] {
        let text = HELLO.replace("end_turn", reason);
        let vendor = Vendor::new([Answer::stream([text])]).await;
        let (collected, _) = ask(Anthropic, &vendor).await;
        assert_eq!(collected.end.unwrap().1, stop, "{reason}");
    }
}

#[tokio::test]
async fn a_conversation_is_written_in_turns() {
    let vendor = Vendor::new([Answer::stream([HELLO])]).await;
    let harness = Harness::new().await;
    let result = |id: &str, text: &str| ChatMessage::Tool {
        call_id: id.to_owned(),
        name: "calc".to_owned(),
        text: text.to_owned(),
    };
    let request = ChatRequest {
        messages: vec![
            user("one"),
            user(" "),
            ChatMessage::Assistant {
                text: String::new(),
                tool_calls: vec![call("a.1", "calc", "{\"x\":1}"), call("b", "calc", "[]")],
                state: None,
            },
            result("a.1", "1"),
            result("b", ""),
            user("two"),
            ChatMessage::Assistant {
                text: "Well.\n".to_owned(),
                tool_calls: vec![],
                state: None,
            },
            ChatMessage::Assistant {
                text: " ".to_owned(),
                tool_calls: vec![],
                state: None,
            },
            user("three"),
        ],
        ..ChatRequest::default()
    };
    collected(&harness.models(one(Anthropic, &vendor.url)), request).await;
    let messages = json!([
        { "role": "user", "content": [
            { "type": "text", "text": "one" },
            { "type": "text", "text": "(empty)" },
        ] },
        { "role": "assistant", "content": [
            { "type": "tool_use", "id": "a_1", "name": "calc", "input": { "x": 1 } },
            { "type": "tool_use", "id": "b", "name": "calc", "input": { "not_json": "[]" } },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "a_1", "content": "1" },
            { "type": "tool_result", "tool_use_id": "b", "content": "" },
            { "type": "text", "text": "two" },
        ] },
        { "role": "assistant", "content": [{ "type": "text", "text": "Well." }] },
        { "role": "user", "content": [
            { "type": "text", "text": "three", "cache_control": { "type": "ephemeral" } }
        ] },
    ]);
    assert_eq!(vendor.only().body["messages"], messages);
}

#[tokio::test]
async fn a_conversation_that_begins_with_the_model_gets_a_beginning() {
    let vendor = Vendor::new([Answer::stream([HELLO])]).await;
    let harness = Harness::new().await;
    let request = ChatRequest {
        messages: vec![
            ChatMessage::Assistant {
                text: "Earlier.".to_owned(),
                tool_calls: vec![],
                state: None,
            },
            user("Now."),
        ],
        ..ChatRequest::default()
    };
    collected(&harness.models(one(Anthropic, &vendor.url)), request).await;
    let messages = vendor.only().body["messages"].clone();
    let roles: Vec<&str> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

/// The error from the streaming page's section "Error events".
pub(crate) const OVERLOADED: &str =
    r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;

#[tokio::test]
async fn an_error_in_the_stream() {
    // Before the first chunk, the request is retried.
    let overloaded = events(&[OVERLOADED]);
    let vendor = Vendor::new([Answer::stream([&overloaded]), Answer::stream([HELLO])]).await;
    let (collected, error) = ask(Anthropic, &vendor).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(collected, hello_said());
    // After the first chunk, the request is not retried.
    let (begun, _) = HELLO.split_once("event: content_block_stop").unwrap();
    let vendor = Vendor::new([
        Answer::stream([begun, &overloaded]),
        Answer::stream([HELLO]),
    ])
    .await;
    let (collected, error) = ask(Anthropic, &vendor).await;
    assert_eq!(collected.text, "Hello!");
    let expected = matches!(
        error,
        Some(ModelError::Failed {
            status: Some(529),
            retryable: true,
            ..
        })
    );
    assert!(expected, "{error:?}");
    vendor.only();
}

/// llama.cpp sends the error under the event name, without the outer object.
#[tokio::test]
async fn an_error_that_only_its_event_names() {
    let error =
        "event: error\ndata: {\"code\":500,\"message\":\"x\",\"type\":\"server_error\"}\n\n";
    let vendor = Vendor::new([Answer::stream([error]), Answer::stream([HELLO])]).await;
    let (collected, error) = ask(Anthropic, &vendor).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(collected, hello_said());
    assert_eq!(vendor.asked().len(), 2);
}

#[tokio::test]
async fn a_call_that_is_never_closed_is_no_call() {
    let open = events(&[CALLS[0], CALLS[7], CALLS[20], CALLS[21]]);
    let vendor = Vendor::new([Answer::stream([open])]).await;
    let (collected, error) = ask(Anthropic, &vendor).await;
    assert!(collected.calls.is_empty());
    let expected = matches!(
        error,
        Some(ModelError::Failed {
            retryable: false,
            ..
        })
    );
    assert!(expected, "{error:?}");
}
