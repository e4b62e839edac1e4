//! Anthropic's own clients for Python and Node against the doubles of these tests: what a double says is what the
//! vendor's client understands, and a request of this crate is one that the vendor's client builds.
//! `GATEHOUSE_TEST_ANTHROPIC_CLIENTS` names the directory where `tests/anthropic-clients` is installed (`cargo xtask
//! test` does that).

use crate::anthropic::{CALLS, HELLO, OVERLOADED};
use crate::clients::{Client, clients};
use crate::documents;
use crate::harness::{Harness, ask, call, collected, listen, model_of, one, user};
use crate::reasoning::{claude, claude_answer, claude_step, tool_step, with_tool};
use crate::vendor::{Answer, ReceivedRequest, Rule, Vendor, events};
use gatehouse_models::ProviderKind::Anthropic;
use gatehouse_models::{ChatMessage, ChatRequest, ModelError, ReasoningEffort, ToolChoice};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const KEY: &str = "sk-test";

fn sdk() -> Vec<Client> {
    clients("Anthropic's clients", "GATEHOUSE_TEST_ANTHROPIC_CLIENTS")
}

/// Runs jobs with a client. It adds `/v1` to the address.
async fn run(client: &Client, vendor: &Vendor, jobs: &[Value]) -> Vec<Value> {
    let mut url = vendor.url.clone();
    url.set_path("");
    let order = json!({ "base_url": url.as_str(), "key": KEY, "jobs": jobs });
    let Value::Array(answers) = client.run(&order).await else {
        panic!("{}: not a list", client.language);
    };
    answers
}

fn question() -> Value {
    json!({ "model": "m", "max_tokens": 100, "messages": [{ "role": "user", "content": "Hello" }] })
}

fn job(what: &str) -> Value {
    json!({ "do": what, "with": question() })
}

/// Events with their names, which the clients need.
fn named(frames: &[&str]) -> Answer {
    let frames = frames.iter().map(|frame| {
        let parsed: Value = serde_json::from_str(frame).unwrap();
        let name = parsed["type"].as_str().unwrap();
        format!("event: {name}\ndata: {frame}\n\n")
    });
    Answer::stream([frames.collect::<String>()])
}

#[tokio::test]
async fn the_clients_read_every_answer_of_the_doubles() {
    for client in sdk() {
        let language = client.language;
        let content = json!([{ "type": "thinking", "thinking": "…", "signature": "s" },
            { "type": "text", "text": "Hello" }]);
        let vendor = Vendor::new([
            Answer::stream([HELLO]),
            named(CALLS),
            claude_step(),
            claude_answer(),
            Answer::json(200, &documents::anthropic(&content, "max_tokens")),
        ])
        .await;
        let jobs = ["stream", "stream", "stream", "stream", "create"].map(job);
        let answers = run(&client, &vendor, &jobs).await;
        let message = |n: usize| match jobs[n]["do"].as_str() {
            Some("stream") => &answers[n]["ok"]["message"],
            _ => &answers[n]["ok"],
        };
        let show = format!("{language}: {answers:#?}");
        assert_eq!(message(0)["content"][0]["text"], "Hello!", "{show}");
        assert_eq!(message(0)["stop_reason"], "end_turn", "{show}");
        assert_eq!(message(0)["usage"]["input_tokens"], 25, "{show}");
        assert_eq!(message(0)["usage"]["output_tokens"], 15, "{show}");

        let called: Vec<(&Value, &Value)> = blocks(message(1), "tool_use")
            .map(|block| (&block["id"], &block["input"]))
            .collect();
        let (first, third) = (json!({ "location": "Zürich" }), json!({ "x": 1 }));
        let expected = [
            (&json!("toolu_01"), &first),
            (&json!("toolu_02"), &json!({})),
            (&json!("toolu_03"), &third),
        ];
        assert_eq!(called, expected, "{show}");
        let used = &message(1)["usage"];
        assert_eq!(used["cache_read_input_tokens"], 8, "{show}");
        assert_eq!(used["cache_creation_input_tokens"], 20, "{show}");
        assert_eq!(used["output_tokens"], 89, "{show}");

        let thinking = json!([
            { "type": "thinking", "thinking": "Six times seven.", "signature": "EqQBCg==" },
            { "type": "redacted_thinking", "data": "EmwKAhgB" },
            { "type": "text", "text": "I calculate." },
            { "type": "tool_use", "id": "toolu_1", "name": "calc", "input": {} },
        ]);
        for (found, expected) in message(2)["content"]
            .as_array()
            .unwrap()
            .iter()
            .zip(thinking.as_array().unwrap())
        {
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(found[name], *value, "{show}");
            }
        }
        assert_eq!(message(2)["stop_reason"], "tool_use", "{show}");
        assert_eq!(message(3)["content"][0]["text"], "42", "{show}");
        assert_eq!(message(4)["content"][1]["text"], "Hello", "{show}");
        assert_eq!(message(4)["stop_reason"], "max_tokens", "{show}");
        assert_eq!(message(4)["usage"]["cache_read_input_tokens"], 7, "{show}");
    }
}

fn blocks<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let blocks = message["content"].as_array().unwrap().iter();
    blocks.filter(move |block| block["type"] == kind)
}

fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
}

#[tokio::test]
async fn the_clients_read_every_refusal_of_the_doubles() {
    for client in sdk() {
        let language = client.language;
        let refusals = [
            (400, "invalid_request_error", "BadRequestError"),
            (401, "authentication_error", "AuthenticationError"),
            (403, "permission_error", "PermissionDeniedError"),
            (404, "not_found_error", "NotFoundError"),
            (429, "rate_limit_error", "RateLimitError"),
            (500, "api_error", "InternalServerError"),
            (529, "overloaded_error", "OverloadedError"),
        ];
        let answers = refusals.map(|(status, kind, _)| Answer::json(status, &error(kind, "Why.")));
        let vendor = Vendor::new(answers).await;
        let jobs = refusals.map(|_| job("stream"));
        let answers = run(&client, &vendor, &jobs).await;
        for ((status, _, class), answer) in refusals.iter().zip(answers) {
            assert_eq!(answer["status"], *status, "{language} {answer}");
            assert_eq!(answer["error"], *class, "{language} {answer}");
            let message = answer["message"].as_str().unwrap();
            assert!(message.contains("Why."), "{language} {answer}");
        }
        // An error in the stream has no separate status.
        let begun = HELLO.split_once("event: content_block_stop").unwrap().0;
        let overloaded = format!("event: error\n{}", events(&[OVERLOADED]));
        let vendor = Vendor::new([Answer::stream([begun, &overloaded])]).await;
        let answer = run(&client, &vendor, &[job("stream")]).await.remove(0);
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("verloaded"), "{language} {answer}");
    }
}

/// A 429 with `retry-after` makes a client wait. This crate reports the same time.
#[tokio::test]
async fn the_clients_wait_as_long_as_a_429_says() {
    let limited =
        || Answer::json(429, &error("rate_limit_error", "Slow down.")).with("retry-after", "1");
    for client in sdk() {
        let vendor = Vendor::new([limited(), Answer::stream([HELLO])]).await;
        let mut patient = job("stream");
        patient["retries"] = json!(1);
        let begun = Instant::now();
        let answer = run(&client, &vendor, &[patient]).await.remove(0);
        let text = &answer["ok"]["message"]["content"][0]["text"];
        assert_eq!(text, "Hello!", "{} {answer}", client.language);
        assert!(begun.elapsed() >= Duration::from_secs(1));
        assert_eq!(vendor.asked().len(), 2);
    }
    let slow = || limited().with("retry-after", "3600");
    let mut answer = slow();
    answer.headers.retain(|(_, value)| value != "1");
    let vendor = Vendor::new([answer]).await;
    let (_, failed) = ask(Anthropic, &vendor).await;
    let Some(ModelError::Failed { retry_after, .. }) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(retry_after, Some(Duration::from_hours(1)));
}

/// Returns the requests of this crate: everything that the format has, a tool step with thinking, an effort, a history
/// with calls but without tools, and the list of models.
async fn own_requests() -> Vec<ReceivedRequest> {
    let harness = Harness::new().await;
    let mut asked = Vec::new();
    let vendor = Vendor::new([
        Answer::stream([HELLO]),
        claude_answer(),
        claude_answer(),
        claude_answer(),
    ])
    .await;
    let models = harness.models(one(Anthropic, &vendor.url));
    let everything = ChatRequest {
        system: Some("Be kind.".to_owned()),
        temperature: Some(0.5),
        max_tokens: Some(77),
        tool_choice: Some(ToolChoice::Tool("calc".to_owned())),
        top_p: Some(0.9),
        stop: vec!["END".to_owned()],
        ..with_tool()
    };
    collected(&models, everything).await;
    let required = ChatRequest {
        tool_choice: Some(ToolChoice::Required),
        ..with_tool()
    };
    collected(&models, required).await;
    let effort = ChatRequest {
        effort: Some(ReasoningEffort::Low),
        ..with_tool()
    };
    let newer = model_of("p", "claude-opus-5");
    let (_, failed) = listen(&models, &newer, effort).await;
    assert!(failed.is_none(), "{failed:?}");
    let history = ChatRequest {
        messages: vec![
            user("one"),
            ChatMessage::Assistant {
                text: "Well.".to_owned(),
                tool_calls: vec![call("a.1", "calc", "{\"x\":1}")],
                state: None,
            },
            ChatMessage::Tool {
                call_id: "a.1".to_owned(),
                name: "calc".to_owned(),
                text: "1".to_owned(),
            },
        ],
        ..ChatRequest::default()
    };
    collected(&models, history).await;
    asked.extend(vendor.asked());
    let vendor = Vendor::strict([claude as Rule], [claude_step(), claude_answer()]).await;
    let thinks = ChatRequest {
        effort: Some(ReasoningEffort::Medium),
        ..with_tool()
    };
    tool_step(Anthropic, "claude-sonnet-4-5", &vendor, thinks).await;
    asked.extend(vendor.asked());
    asked
}

#[tokio::test]
async fn a_request_is_one_that_the_clients_build() {
    let sdk = sdk();
    if sdk.is_empty() {
        return;
    }
    let own = own_requests().await;
    assert_eq!(own.len(), 6);
    for client in sdk {
        let language = client.language;
        let vendor = Vendor::new(vec![claude_answer(); own.len()]).await;
        let jobs: Vec<Value> = own
            .iter()
            .map(|asked| json!({ "do": "send", "with": asked.body }))
            .collect();
        let answers = run(&client, &vendor, &jobs).await;
        for ((own, theirs), answer) in own.iter().zip(vendor.asked()).zip(answers) {
            assert_eq!(answer["ok"][0], "message_start", "{language} {answer}");
            assert_eq!(theirs.body, own.body, "{language}");
            assert_eq!((&theirs.method, &theirs.path), (&own.method, &own.path));
            assert_eq!(theirs.header("content-type"), own.header("content-type"));
            // The client for Node speaks the API version that sends keys differently.
            if language == "Python" {
                for name in ["anthropic-version", "x-api-key", "authorization"] {
                    assert_eq!(theirs.header(name), own.header(name), "{name}");
                }
            } else {
                assert_eq!(theirs.header("anthropic-version"), Some("2026-10-21"));
            }
        }
        if language != "Python" {
            continue;
        }
        // The types that the client declares. Every field is known, and every required field is
        // present.
        let mut checks: Vec<Value> = own
            .iter()
            .map(|asked| json!({ "do": "check", "with": asked.body }))
            .collect();
        let mut wrong = own[0].body.clone();
        wrong["messages"][0]["content"][0]["cache_contrl"] = json!({});
        wrong["tool_choice"]["type"] = json!("some");
        wrong.as_object_mut().unwrap().remove("max_tokens");
        checks.push(json!({ "do": "check", "with": wrong }));
        let mut found = run(&client, &vendor, &checks).await;
        let wrong = found.pop().unwrap()["ok"].to_string();
        for part in [
            "cache_contrl: unknown",
            "tool_choice",
            "max_tokens: missing",
        ] {
            assert!(wrong.contains(part), "{wrong}");
        }
        for (own, found) in own.iter().zip(found) {
            assert_eq!(found["ok"], json!([]), "{}", own.body);
        }
    }
}

#[tokio::test]
async fn the_clients_read_the_list_of_models() {
    for client in sdk() {
        let entry = json!({ "type": "model", "id": "claude-opus-5", "display_name": "Claude Opus 5",
            "created_at": "2026-08-01T00:00:00Z", "max_input_tokens": 1_000_000, "max_tokens": 128_000 });
        let page = json!({ "data": [entry], "first_id": "claude-opus-5", "last_id": "claude-opus-5",
            "has_more": false });
        let vendor = Vendor::new([Answer::json(200, &page)]).await;
        let order = [json!({ "do": "models" })];
        let answer = run(&client, &vendor, &order).await.remove(0);
        assert_eq!(answer["ok"][0]["id"], "claude-opus-5", "{answer}");
        let theirs = vendor.only();
        let harness = Harness::new().await;
        let own = Vendor::new([Answer::json(200, &page)]).await;
        let tested = harness
            .models(one(Anthropic, &own.url))
            .test("p", None)
            .await;
        assert_eq!(tested.unwrap().models, Some(1));
        assert_eq!(own.only().path, theirs.path, "{}", client.language);
    }
}
