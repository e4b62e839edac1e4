use super::*;
use serde_json::json;

fn reason(status: u16, body: &str) -> Reason {
    let refusal = with_status(status, body.as_bytes());
    assert_eq!(refusal.status, Some(status));
    refusal.reason
}

#[test]
fn a_conversation_that_is_too_long() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"x","type":"exceed_context_size_error","n_ctx":8}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}"#,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"x"}}"#,
        ),
        (413, ""),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 8 tokens.","code":400}"#,
        ),
        (400, r#"{"error":"input exceeds the CONTEXT LENGTH"}"#),
        (422, r#"{"detail":[{"msg":"Too many tokens"}]}"#),
        (
            500,
            "the request exceeds the available context size, try increasing it",
        ),
        (
            400,
            r#"[{"error":{"message":"exceeds the maximum number of tokens allowed"}}]"#,
        ),
    ] {
        assert_eq!(reason(status, body), Reason::ContextTooLong, "{body}");
        assert!(!with_status(status, body.as_bytes()).is_retryable());
    }
}

/// Messages as the vendors document or send them.
const REFUSALS: &[(u16, &str, Reason)] = &[
    (
        400,
        "registry.ollama.ai/library/gemma3:4b does not support tools",
        Reason::NoTools,
    ),
    (
        400,
        "Unsupported parameter: 'tools' is not supported with this model.",
        Reason::NoTools,
    ),
    (
        404,
        "No endpoints found that support tool use.",
        Reason::NoTools,
    ),
    (
        400,
        "`tool calling` is not supported with this model",
        Reason::NoTools,
    ),
    (
        400,
        "deepseek-reasoner does not support Function Calling",
        Reason::NoTools,
    ),
    (
        400,
        "Function calling is not enabled for this model",
        Reason::NoTools,
    ),
    (
        400,
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        Reason::NoTools,
    ),
    (500, "tools param requires --jinja flag", Reason::NoTools),
    (
        400,
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        Reason::NoTemperature,
    ),
    (
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        Reason::OtherLimit,
    ),
    (
        400,
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        Reason::NoEffort,
    ),
    (
        400,
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 169 instead.",
        Reason::TooManyTools,
    ),
    (
        400,
        "Invalid schema for function 'find': schema must have type 'object' and not have 'oneOf' at the top level.",
        Reason::InvalidToolSchema,
    ),
    (
        400,
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
        Reason::InvalidToolSchema,
    ),
    (
        400,
        "GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[tags].items: missing field.",
        Reason::InvalidToolSchema,
    ),
    (
        400,
        "Function call is missing a thought_signature in functionCall parts.",
        Reason::ReasoningState,
    ),
    (
        400,
        "The reasoning_content in the thinking mode must be passed back to the API.",
        Reason::ReasoningState,
    ),
    (
        400,
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        Reason::ReasoningState,
    ),
    (
        422,
        "messages.1.reasoning_content: Extra inputs are not permitted",
        Reason::NoReasoningState,
    ),
    (
        400,
        "Your credit balance is too low to access the Anthropic API.",
        Reason::NoCredit,
    ),
    (402, "Insufficient Balance", Reason::NoCredit),
    (
        404,
        "model \"x\" not found, try pulling it first",
        Reason::UnknownModel,
    ),
    (401, "invalid x-api-key", Reason::KeyRejected),
    (403, "no", Reason::KeyRejected),
    (429, "Rate limit reached", Reason::RateLimited),
    (529, "Overloaded", Reason::Overloaded),
    (500, "boom", Reason::ServerError),
    (400, "no", Reason::BadRequest),
    (418, "no", Reason::Other),
];

#[test]
fn each_vendors_reason_has_a_name() {
    for (status, message, expected) in REFUSALS {
        let body = json!({ "error": { "message": message } }).to_string();
        assert_eq!(reason(*status, &body), *expected, "{message}");
    }
    let coded = |code: &str| json!({ "error": { "message": "x", "code": code } }).to_string();
    assert_eq!(reason(400, &coded("content_filter")), Reason::Filtered);
    assert_eq!(reason(400, &coded("model_not_found")), Reason::UnknownModel);
    let param = r#"{"error":{"message":"Unsupported value","param":"temperature"}}"#;
    assert_eq!(reason(400, param), Reason::NoTemperature);
}

#[test]
fn anything_else_keeps_its_status() {
    for (status, retryable) in [
        (400, false),
        (401, false),
        (404, false),
        (408, true),
        (429, true),
        (500, true),
        (503, true),
        (529, true),
        (302, false),
    ] {
        let refusal = with_status(status, br#"{"error":{"message":"no"}}"#);
        assert_eq!(refusal.is_retryable(), retryable, "{status}");
    }
    // The phrases count only for statuses of invalid requests, and only in the message.
    let body = r#"{"error":{"message":"context length"}}"#;
    assert_eq!(reason(401, body), Reason::KeyRejected);
    let body = r#"{"error":{"message":"no","input":"context length"}}"#;
    assert_eq!(reason(400, body), Reason::BadRequest);
}

#[test]
fn missing_credit_is_not_retried() {
    let refusal = with_status(429, br#"{"error":{"code":"insufficient_quota"}}"#);
    assert_eq!(refusal.reason, Reason::NoCredit);
    assert!(refusal.is_retryable() && !refusal.is_worth_a_retry());
}

#[test]
fn errors_in_a_stream_stand_for_a_status() {
    for (error, status) in [
        (
            json!({"type": "overloaded_error", "message": "Overloaded"}),
            Some(529),
        ),
        (json!({"type": "rate_limit_error"}), Some(429)),
        (json!({"type": "api_error"}), Some(500)),
        (json!({"code": 502, "message": "bad gateway"}), Some(502)),
        (json!({"code": 7}), None),
        (json!("something"), None),
        (json!({"type": "new_error"}), None),
    ] {
        assert_eq!(in_stream(&error).status, status, "{error}");
    }
    let error = json!({"type": "invalid_request_error", "message": "prompt is too long"});
    assert_eq!(in_stream(&error).reason, Reason::ContextTooLong);
}

#[test]
fn a_server_that_does_not_know_the_question_for_usage() {
    let body = r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs"}]}"#;
    assert_eq!(reason(422, body), Reason::NoStreamOptions);
}

#[test]
fn geminis_error_tells_how_long_to_wait() {
    let body = |detail: &serde_json::Value| {
        let error = json!({ "code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
            { "@type": "type.googleapis.com/google.rpc.Help", "links": [] }, detail] });
        json!([{ "error": error }]).to_string()
    };
    let info = |delay: &str| {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        asked_wait(body(&json!({ "@type": kind, "retryDelay": delay })).as_bytes())
    };
    assert_eq!(info("31s"), Some(Duration::from_secs(31)));
    assert_eq!(info("34.5s"), Some(Duration::from_millis(34_500)));
    for bad in ["31", "-1s", "NaNs", "1e300s", "s", ""] {
        assert_eq!(info(bad), None, "{bad}");
    }
    assert_eq!(asked_wait(body(&json!(null)).as_bytes()), None);
    assert_eq!(asked_wait(b"busy"), None);
}
