//! Size limits of answers: at each limit, and one past it.

use crate::harness::{Collected, Harness, hello, listen, model, one, tuning};
use crate::vendor::{Answer, Vendor, events};
use gatehouse_models::ProviderKind::{self, Anthropic, Openai};
use gatehouse_models::{Limits, ModelError};
use serde_json::{Value, json};

async fn hear(kind: ProviderKind, text: &str, limits: Limits) -> (Collected, Option<ModelError>) {
    let harness = Harness::new().await;
    let vendor = Vendor::new([Answer::stream([text])]).await;
    let mut tuning = tuning();
    tuning.limits = limits;
    let models = harness.models_with(one(kind, &vendor.url), tuning);
    let heard = listen(&models, &model(), hello()).await;
    vendor.only();
    heard
}

async fn fits(kind: ProviderKind, text: &str, limits: Limits) -> bool {
    match hear(kind, text, limits).await {
        (_, None) => true,
        (
            _,
            Some(ModelError::Failed {
                status: None,
                retryable: false,
                ..
            }),
        ) => false,
        (_, error) => panic!("{error:?}"),
    }
}

fn openai(deltas: &[Value]) -> String {
    let frame = |delta: &Value| json!({ "choices": [{ "delta": delta }] }).to_string();
    let mut frames: Vec<String> = deltas.iter().map(frame).collect();
    frames.push("[DONE]".to_owned());
    events(&frames.iter().map(String::as_str).collect::<Vec<_>>())
}

fn openai_call(index: u64, arguments: &str) -> Value {
    let function = json!({ "name": "calc", "arguments": arguments });
    json!({ "tool_calls": [{ "index": index, "id": "id_1", "function": function }] })
}

fn anthropic(blocks: &[(u64, &str)]) -> String {
    let mut frames = Vec::new();
    for (index, arguments) in blocks {
        let block = json!({ "type": "tool_use", "id": "id_1", "name": "calc", "input": {} });
        let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
        frames
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        frames.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        frames.push(json!({ "type": "content_block_stop", "index": index }));
    }
    frames.push(json!({ "type": "message_stop" }));
    let frames: Vec<String> = frames.iter().map(Value::to_string).collect();
    events(&frames.iter().map(String::as_str).collect::<Vec<_>>())
}

#[tokio::test]
async fn the_whole_stream() {
    let text = openai(&[json!({ "content": "Hello" })]);
    // Without the last line feed, the answer still ends. With three bytes less, it is cut off.
    for (bytes, good) in [(text.len(), true), (text.len() - 3, false)] {
        let limits = Limits {
            reply_bytes: bytes,
            ..Limits::default()
        };
        assert_eq!(fits(Openai, &text, limits).await, good, "{bytes}");
    }
}

#[tokio::test]
async fn one_event() {
    let text = openai(&[json!({ "content": "Hello" })]);
    let line = text.lines().next().unwrap().len();
    for (bytes, good) in [(line, true), (line - 1, false)] {
        let limits = Limits {
            event_bytes: bytes,
            ..Limits::default()
        };
        assert_eq!(fits(Openai, &text, limits).await, good, "{bytes}");
    }
}

#[tokio::test]
async fn the_text() {
    let text = openai(&[json!({ "content": "Hel" }), json!({ "content": "lo" })]);
    for (bytes, good) in [(5, true), (4, false)] {
        let limits = Limits {
            text_bytes: bytes,
            ..Limits::default()
        };
        assert_eq!(fits(Openai, &text, limits).await, good, "{bytes}");
    }
}

#[tokio::test]
async fn one_call() {
    // "id_1" + "calc" + "123456"
    let texts = [
        (
            Openai,
            openai(&[openai_call(0, "123"), openai_call(0, "456")]),
        ),
        (Anthropic, anthropic(&[(0, "123456")])),
    ];
    for (kind, text) in texts {
        for (bytes, good) in [(14, true), (13, false)] {
            let limits = Limits {
                call_bytes: bytes,
                ..Limits::default()
            };
            assert_eq!(fits(kind, &text, limits).await, good, "{kind:?} {bytes}");
        }
    }
}

#[tokio::test]
async fn the_calls() {
    let texts = [
        (
            Openai,
            openai(&[openai_call(0, "{}"), openai_call(1, "{}")]),
        ),
        (Anthropic, anthropic(&[(0, "{}"), (1, "{}")])),
    ];
    for (kind, text) in texts {
        for (calls, good) in [(2, true), (1, false)] {
            let limits = Limits {
                calls,
                ..Limits::default()
            };
            assert_eq!(fits(kind, &text, limits).await, good, "{kind:?} {calls}");
        }
    }
}
