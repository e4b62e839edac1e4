//! Single-document answers from servers without streaming, answers in other formats, and empty answers.
//!
//! Formats: <https://platform.openai.com/docs/api-reference/chat/object> and
//! <https://platform.claude.com/docs/en/api/messages>.

use crate::harness::{Harness, ask, call, hello, listen, model, one, tuning, usage};
use crate::vendor::{Answer, Then, Vendor, events};
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use gatehouse_models::{ModelError, StopReason, Usage};
use serde_json::{Value, json};

fn is_garbage(error: Option<&ModelError>) -> bool {
    matches!(
        error,
        Some(ModelError::Failed {
            status: None,
            retryable: false,
            ..
        })
    )
}

fn openai(message: &Value, reason: &str) -> Value {
    json!({ "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason }],
        "usage": { "prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29 } })
}

pub(crate) fn anthropic(content: &Value, reason: &str) -> Value {
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": { "input_tokens": 12, "cache_read_input_tokens": 7, "output_tokens": 10 } })
}

#[tokio::test]
async fn a_document_is_a_whole_answer() {
    let tool = |id: &str, arguments: &str| {
        json!({ "id": id, "type": "function",
            "function": { "name": "calc", "arguments": arguments } })
    };
    let calls = [tool("a", "{\"x\":1}"), tool("b", "")];
    let openai_calls = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    let openai_text = json!({ "role": "assistant", "content": "Hello", "refusal": null });
    let anthropic_text = json!([{ "type": "thinking", "thinking": "…", "signature": "s" },
        { "type": "text", "text": "Hel" }, { "type": "text", "text": "lo" }]);
    let anthropic_calls = json!([
        { "type": "tool_use", "id": "a", "name": "calc", "input": { "x": 1 } },
        { "type": "tool_use", "id": "b", "name": "calc", "input": {} }]);
    for (kind, body, text, stop) in [
        (
            Openai,
            openai(&openai_text, "stop"),
            "Hello",
            StopReason::End,
        ),
        (
            Openai,
            openai(&openai_calls, "tool_calls"),
            "",
            StopReason::ToolUse,
        ),
        (
            Anthropic,
            anthropic(&anthropic_text, "max_tokens"),
            "Hello",
            StopReason::Length,
        ),
        (
            Anthropic,
            anthropic(&anthropic_calls, "tool_use"),
            "",
            StopReason::ToolUse,
        ),
    ] {
        let vendor = Vendor::new([Answer::json(200, &body)]).await;
        let (collected, error) = ask(kind, &vendor).await;
        assert!(error.is_none(), "{body}: {error:?}");
        assert_eq!(collected.text, text);
        if text.is_empty() {
            let expected = [call("a", "calc", "{\"x\":1}"), call("b", "calc", "{}")];
            assert_eq!(collected.calls, expected);
        }
        let cached_tokens = if kind == Anthropic { 7 } else { 0 };
        let used = Usage {
            cached_tokens,
            ..usage(19, 10)
        };
        assert_eq!(collected.end, Some((used, stop)));
        vendor.only();
    }
}

#[tokio::test]
async fn calls_without_ids_stay_distinct_in_a_document() {
    let function = json!({ "name": "calc", "arguments": "{}" });
    let message = json!({ "tool_calls": [{ "function": function }, { "function": function }] });
    let answer = Answer::json(200, &openai(&message, "tool_calls"));
    let vendor = Vendor::new([answer]).await;
    let (collected, _) = ask(Openai, &vendor).await;
    let expected = [call("call_0", "calc", "{}"), call("call_1", "calc", "{}")];
    assert_eq!(collected.calls, expected);
}

#[tokio::test]
async fn a_document_that_is_no_answer_is_garbage() {
    for (kind, body) in [
        (Openai, json!({})),
        (Openai, json!({ "choices": [] })),
        (
            Openai,
            json!({ "choices": [{ "message": { "content": "" } }] }),
        ),
        (Openai, json!([])),
        (Anthropic, json!({})),
        (Anthropic, json!({ "content": [] })),
        (
            Anthropic,
            json!({ "content": [{ "type": "text", "text": "" }] }),
        ),
    ] {
        let vendor = Vendor::new([Answer::json(200, &body)]).await;
        let (collected, error) = ask(kind, &vendor).await;
        assert!(is_garbage(error.as_ref()), "{body}: {error:?}");
        assert!(collected.end.is_none());
        vendor.only();
    }
}

#[tokio::test]
async fn an_error_in_a_document_is_the_vendors() {
    let error = json!({ "type": "error", "error": { "type": "invalid_request_error",
        "code": "context_length_exceeded", "message": "x" } });
    for kind in [Openai, Anthropic] {
        let vendor = Vendor::new([Answer::json(200, &error)]).await;
        let (_, error) = ask(kind, &vendor).await;
        assert!(
            matches!(error, Some(ModelError::ContextTooLong { .. })),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_document_that_breaks_off_is_asked_for_again() {
    let whole = openai(&json!({ "content": "Hello" }), "stop");
    for then in [Then::End, Then::Break] {
        let mut half = Answer::json(200, &whole).then(then);
        half.pieces[0].truncate(40);
        let vendor = Vendor::new([half, Answer::json(200, &whole)]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            (collected.text.as_str(), vendor.asked().len()),
            ("Hello", 2),
            "the second answer"
        );
    }
}

#[tokio::test]
async fn a_document_at_the_limit_and_past_it() {
    let harness = Harness::new().await;
    let body = openai(&json!({ "content": "Hello" }), "stop");
    let length = body.to_string().len();
    for (limit, fits) in [(length, true), (length - 1, false)] {
        let vendor = Vendor::new([Answer::json(200, &body)]).await;
        let mut small = tuning();
        small.limits.event_bytes = limit;
        let models = harness.models_with(one(Openai, &vendor.url), small);
        let (_, error) = listen(&models, &model(), hello()).await;
        assert_eq!(error.is_none(), fits, "{error:?}");
        assert_eq!(is_garbage(error.as_ref()), !fits, "{error:?}");
    }
}

#[tokio::test]
async fn a_page_is_garbage_and_not_asked_for_again() {
    for kind in [Openai, Anthropic] {
        let mut page = Answer::stream(["<html><body>Welcome</body></html>"]);
        page.headers = vec![("content-type", "text/html; charset=utf-8".to_owned())];
        let vendor = Vendor::new([page]).await;
        let (_, error) = ask(kind, &vendor).await;
        assert!(is_garbage(error.as_ref()), "{error:?}");
        vendor.only();
    }
}

#[tokio::test]
async fn a_stream_with_nothing_in_it_is_no_answer() {
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#;
    for (kind, frames) in [
        (Openai, &["[DONE]"][..]),
        (
            Openai,
            &[
                r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}"#,
                "[DONE]",
            ],
        ),
        (
            Openai,
            &[
                r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
                "[DONE]",
            ],
        ),
        (Anthropic, &[start, r#"{"type":"message_stop"}"#]),
    ] {
        let vendor = Vendor::new([Answer::stream([events(frames)])]).await;
        let (collected, error) = ask(kind, &vendor).await;
        assert!(is_garbage(error.as_ref()), "{frames:?}: {error:?}");
        assert!(collected.end.is_none());
        vendor.only();
    }
}

#[tokio::test]
async fn a_model_may_end_its_turn_without_a_word() {
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#;
    for (kind, frames) in [
        (
            Openai,
            &[
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ][..],
        ),
        (Anthropic, &[delta, r#"{"type":"message_stop"}"#]),
    ] {
        let vendor = Vendor::new([Answer::stream([events(frames)])]).await;
        let (collected, error) = ask(kind, &vendor).await;
        assert!(error.is_none(), "{frames:?}: {error:?}");
        assert_eq!(collected.end.unwrap().1, StopReason::End);
    }
}
