//! Requests are adapted to the fields that a family or a model accepts. The doubles refuse what the real vendors
//! refuse, with the same messages.

use crate::harness::{Harness, collected, hello, listen, model, model_of, one};
use crate::vendor::{Answer, ReceivedRequest, Rule, Vendor, events};
use gatehouse_domain::Problem;
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use gatehouse_models::{
    ChatRequest, ModelError, ModelFacts, ModelRef, ProviderKind, Reason, ReasoningEffort, ToolSpec,
};
use serde_json::{Value, json};

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#;

fn good() -> Answer {
    Answer::stream([events(&[TEXT, "[DONE]"])])
}

fn error(message: &str) -> Value {
    json!({ "error": { "message": message, "type": "invalid_request_error", "param": null } })
}

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters,
        strict: None,
    }
}

fn with_everything() -> ChatRequest {
    ChatRequest {
        tools: vec![tool("calc", json!({ "type": "object" }))],
        temperature: Some(0.2),
        max_tokens: Some(500),
        effort: Some(ReasoningEffort::Low),
        ..hello()
    }
}

/// Returns a model that accepts none of the optional fields, one refusal at a time.
fn plain_model() -> Vec<Rule> {
    vec![
        |asked| match asked.body.get("tools") {
            None => Ok(()),
            // Ollama, server/routes.go.
            Some(_) => Err((
                400,
                error("registry.ollama.ai/library/m does not support tools"),
            )),
        },
        |asked| match asked.body.get("temperature") {
            None => Ok(()),
            Some(_) => Err((
                400,
                json!({ "error": {
                    "message": "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                    "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value" } }),
            )),
        },
        |asked| match asked.body.get("max_tokens") {
            None => Ok(()),
            Some(_) => Err((
                400,
                error(
                    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                ),
            )),
        },
        |asked| match asked.body.get("reasoning_effort") {
            None => Ok(()),
            Some(_) => Err((
                400,
                json!({ "error": { "message": "Unrecognized request argument supplied: reasoning_effort" } }),
            )),
        },
    ]
}

#[tokio::test]
async fn what_a_model_refuses_is_learned_once_and_left_out_from_then_on() {
    let vendor = Vendor::strict(plain_model(), [good(), good(), good()]).await;
    let harness = Harness::new().await;
    let models = harness.models(one(Openai, &vendor.url));
    assert_eq!(collected(&models, with_everything()).await.text, "Hello");
    assert_eq!(vendor.asked().len(), 5, "one refusal per field");
    assert_eq!(collected(&models, with_everything()).await.text, "Hello");
    let asked = vendor.asked();
    assert_eq!(asked.len(), 6, "nothing is refused twice");
    let body = &asked[5].body;
    assert_eq!(body["max_completion_tokens"], 500);
    // Requests to another model of the provider are complete.
    let other = model_of("p", "other");
    listen(&models, &other, with_everything()).await;
    assert!(vendor.asked()[6].body["tools"].is_array());
    // New settings, such as another server, may change the result.
    models.update_settings(one(Openai, &vendor.url));
    listen(&models, &model(), with_everything()).await;
    assert!(vendor.asked().last().unwrap().body["stream_options"].is_object());
}

#[tokio::test]
async fn a_refusal_of_something_that_was_not_sent_is_not_repeated() {
    let refusal = error("Unsupported value: 'temperature' does not support this.");
    let vendor = Vendor::new([Answer::json(400, &refusal), good()]).await;
    let harness = Harness::new().await;
    let models = harness.models(one(Openai, &vendor.url));
    let (_, failed) = listen(&models, &model(), hello()).await;
    assert!(failed.is_some());
    vendor.only();
}

#[tokio::test]
async fn a_model_that_is_known_to_have_no_tools_gets_none() {
    let vendor = Vendor::strict(plain_model(), [good()]).await;
    let harness = Harness::new().await;
    let mut settings = one(Openai, &vendor.url);
    let facts = ModelFacts {
        tools: Some(false),
        ..ModelFacts::default()
    };
    let provider = settings.providers.get_mut("p").unwrap();
    provider.facts.insert("m".to_owned(), facts);
    let request = ChatRequest {
        tools: vec![tool("calc", json!({ "type": "object" }))],
        ..hello()
    };
    assert_eq!(
        collected(&harness.models(settings), request).await.text,
        "Hello"
    );
    vendor.only();
}

/// Returns the reason that a caller sees.
async fn reason(kind: ProviderKind, status: u16, body: &Value) -> (Reason, Problem) {
    let vendor = Vendor::new(vec![Answer::json(status, body); 4]).await;
    let harness = Harness::new().await;
    let mut own = crate::harness::tuning();
    own.timeouts.retries_total = std::time::Duration::ZERO;
    let models = harness.models_with(one(kind, &vendor.url), own);
    let (_, failed) = listen(&models, &model(), hello()).await;
    match failed {
        Some(ModelError::Failed {
            reason: Some(reason),
            provider,
            status,
            retryable,
            retry_after,
            vendor_message,
        }) => {
            let error = ModelError::Failed {
                provider,
                status,
                reason: Some(reason),
                retryable,
                retry_after,
                vendor_message,
            };
            (reason, error.into())
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_refusal_names_its_reason_and_not_the_vendors_words() {
    for (kind, status, body, expected, sentence) in [
        (
            Openai,
            400,
            json!({ "error": { "message": "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 169 instead.", "param": "tools", "code": "array_above_max_length" } }),
            Reason::TooManyTools,
            "accepts fewer tools",
        ),
        (
            Anthropic,
            400,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API." } }),
            Reason::NoCredit,
            "no credit",
        ),
        (
            Openai,
            404,
            json!({ "error": { "message": "The model `m` does not exist", "code": "model_not_found" } }),
            Reason::UnknownModel,
            "does not offer this model",
        ),
        (
            Openai,
            400,
            json!({ "error": { "message": "The response was filtered", "code": "content_filter", "status": 400 } }),
            Reason::Filtered,
            "content filter",
        ),
    ] {
        let (reason, problem) = reason(kind, status, &body).await;
        assert_eq!(reason, expected);
        assert_eq!(problem.details["reason"], expected.as_str());
        assert!(problem.message.contains(sentence), "{}", problem.message);
        assert!(!problem.message.contains("169"));
    }
}

/// Checks a function's schema as `OpenAI` requires it.
fn openai_schemas(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    for tool in asked.body["tools"].as_array().into_iter().flatten() {
        let schema = &tool["function"]["parameters"];
        let name = &tool["function"]["name"];
        let is_plain = ["oneOf", "anyOf", "allOf", "enum", "not"]
            .iter()
            .all(|word| schema.get(word).is_none());
        if schema["type"] != "object" || !is_plain {
            let message = format!(
                "Invalid schema for function {name}: schema must have type 'object' and not have \
                 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
            );
            return Err((400, error(&message)));
        }
        every_array_has_items(schema)?;
    }
    Ok(())
}

fn every_array_has_items(schema: &Value) -> Result<(), (u16, Value)> {
    if schema["type"] == "array" && schema.get("items").is_none() {
        let message = "Invalid schema for function: array schema missing items.";
        return Err((400, error(message)));
    }
    for part in schema["properties"].as_object().into_iter().flatten() {
        every_array_has_items(part.1)?;
    }
    Ok(())
}

/// Gemini: an unknown field is "Invalid JSON payload received. Unknown name …".
fn gemini_schemas(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    fn check(schema: &Value) -> Result<(), (u16, Value)> {
        for refused in ["$ref", "oneOf", "additionalProperties", "const", "$schema"] {
            if schema.get(refused).is_some() {
                let message = format!(
                    "Invalid JSON payload received. Unknown name \"{refused}\" at 'tools[0].function_declarations[0].parameters': Cannot find field."
                );
                return Err((
                    400,
                    json!([{ "error": { "code": 400, "message": message, "status": "INVALID_ARGUMENT" } }]),
                ));
            }
        }
        for part in schema["properties"].as_object().into_iter().flatten() {
            check(part.1)?;
        }
        Ok(())
    }
    for tool in asked.body["tools"].as_array().into_iter().flatten() {
        check(&tool["function"]["parameters"])?;
    }
    Ok(())
}

/// Anthropic: "`input_schema` does not support oneOf, allOf, or anyOf at the top level".
fn anthropic_schemas(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    for tool in asked.body["tools"].as_array().into_iter().flatten() {
        let schema = &tool["input_schema"];
        let is_plain = ["oneOf", "anyOf", "allOf"]
            .iter()
            .all(|word| schema.get(word).is_none());
        if schema["type"] != "object" || !is_plain {
            let message = "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level";
            return Err((400, error(message)));
        }
    }
    Ok(())
}

#[tokio::test]
async fn schemas_that_a_family_refuses_are_rewritten_for_it() {
    let hard = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "oneOf": [
            { "properties": { "id": { "$ref": "#/$defs/Id" } }, "required": ["id"] },
            { "properties": { "tags": { "type": "array" } }, "additionalProperties": false },
        ],
        "$defs": { "Id": { "type": "string", "format": "uuid" } },
    });
    let anthropic = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let harness = Harness::new().await;
    let request = || ChatRequest {
        tools: vec![tool("find", hard.clone())],
        ..hello()
    };
    for (kind, name, rule, answer) in [
        (Openai, "gpt-5", openai_schemas as Rule, good()),
        (
            Openai,
            "google/gemini-3-pro",
            gemini_schemas as Rule,
            good(),
        ),
        (
            Anthropic,
            "claude-sonnet-4-5",
            anthropic_schemas as Rule,
            Answer::stream([anthropic]),
        ),
    ] {
        let vendor = Vendor::strict([rule], [answer]).await;
        let models = harness.models(one(kind, &vendor.url));
        let to = ModelRef {
            provider: "p".to_owned(),
            model: name.to_owned(),
        };
        let (_, failed) = listen(&models, &to, request()).await;
        assert!(failed.is_none(), "{name}: {failed:?}");
        let tools = vendor.only().body["tools"].clone();
        assert_eq!(tools.as_array().unwrap().len(), 1, "{tools}");
    }
}
