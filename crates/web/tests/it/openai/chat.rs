//! Answers of agents and of models.

use super::{CHAT, Harness, events};
use gatehouse_doubles::openai::{Reaction, call, says};
use serde_json::{Value, json};

fn text_of(events: &[Value]) -> String {
    let pieces = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str());
    pieces.collect()
}

#[tokio::test]
async fn an_agent_answers_a_conversation() {
    let harness = Harness::new().await;
    harness.model.will([says(["It is ", "sunny."])]);
    let body = json!({ "model": "agent/default", "temperature": 0, "user": "me",
        "modalities": ["text"], "messages": [
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Hello." },
        { "role": "assistant", "content": "Hello!" },
        { "role": "user", "content": [{ "type": "text", "text": "The weather?" }] },
    ] });
    let got = harness.client.post(CHAT, body).await.expect(200);
    assert_eq!(got["object"], "chat.completion");
    assert_eq!(got["model"], "agent/default");
    assert!(got["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert!(got["created"].as_i64().unwrap() > 0);
    let choice = json!({ "index": 0, "finish_reason": "stop", "logprobs": null,
        "message": { "role": "assistant", "content": "It is sunny.", "refusal": null } });
    assert_eq!(got["choices"], json!([choice]));
    assert_eq!(
        got["usage"],
        json!({ "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13,
            "prompt_tokens_details": { "cached_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 0 } })
    );
    let asked = harness.model.last();
    let messages = asked["messages"].as_array().unwrap();
    let (system, rest) = messages.split_first().unwrap();
    let prompt = system["content"].as_str().unwrap();
    assert!(prompt.contains("Be brief.") && prompt.contains("the API key key_"));
    assert_eq!(
        rest,
        [
            json!({ "role": "user", "content": "Hello." }),
            json!({ "role": "assistant", "content": "Hello!" }),
            json!({ "role": "user", "content": "The weather?" }),
        ]
    );
    // The agent has its tools.
    assert!(!asked["tools"].as_array().unwrap().is_empty());
    // The conversation is not kept, but its usage is.
    assert_eq!(harness.sessions().await, json!([]));
    for by in ["agent", "model", "key"] {
        let rows = harness.usage(by).await;
        assert_eq!((rows.len(), &rows[0]["input_tokens"]), (1, &json!(10)));
    }
}

/// Open `WebUI` (`backend/open_webui/routers/openai.py`, `utils/payload.py`, `utils/middleware.py`): it lists the models,
/// streams each answer with the settings of the chat, and asks for a title and tags without a stream.
#[tokio::test]
async fn open_webui_lists_chats_and_asks_for_a_title() {
    let harness = Harness::new().await;
    let listed = harness.client.get("/v1/models").await.expect(200);
    let listed = listed["data"].as_array().unwrap();
    for id in ["agent/default", "fake/m1"] {
        let model = listed.iter().find(|model| model["id"] == id);
        assert_eq!(model.unwrap()["object"], "model", "{id}");
        harness.model.will([says(["It is ", "sunny."])]);
        let body = json!({
            "model": id, "stream": true, "stream_options": { "include_usage": true },
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Hello." },
                { "role": "assistant", "content": "Hello!" },
                { "role": "user", "content": [{ "type": "text", "text": "The weather?" }] },
            ],
            "temperature": 0.8, "top_p": 0.9, "max_tokens": 128, "frequency_penalty": 0.5,
            "presence_penalty": 0, "seed": 42, "stop": ["END"], "logit_bias": {},
            "user": { "name": "Ann", "id": "1", "email": "ann@a.example", "role": "user" },
        });
        let reply = harness.client.post(CHAT, body).await;
        let events = events(&reply);
        assert_eq!(text_of(&events), "It is sunny.", "{}", reply.text);
        assert_eq!(events.last().unwrap(), "[DONE]");

        harness.model.will([says(["{\"title\": \"Weather\"}"])]);
        let body = json!({ "model": id, "stream": false, "max_completion_tokens": 1000,
            "messages": [{ "role": "user", "content": "### Task: Generate a title." }] });
        let got = harness.client.post(CHAT, body).await.expect(200);
        let title = &got["choices"][0]["message"]["content"];
        assert_eq!(title, "{\"title\": \"Weather\"}");
    }
    assert_eq!(harness.sessions().await, json!([]));
}

#[tokio::test]
async fn an_agent_uses_its_tools() {
    let harness = Harness::new().await;
    let calls = || call("calc", &json!({ "expression": "6*7" }));
    harness.model.will([calls(), says(["It is 42."])]);
    let got = harness.ask("agent/default", "6*7?").await.expect(200);
    assert_eq!(got["choices"][0]["message"]["content"], "It is 42.");
    assert_eq!(got["usage"]["total_tokens"], 26);
    let seen = harness.model.last();
    let result = seen["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(result["role"], "tool");
    assert!(result["content"].as_str().unwrap().contains("42"));
}

#[tokio::test]
async fn an_answer_is_streamed() {
    let harness = Harness::new().await;
    for model in ["agent/default", "fake/m1"] {
        let pieces = vec!["It ", "is ", "sunny."];
        harness.model.will([says(pieces)]);
        let body = json!({ "model": model, "stream": true,
            "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": "The weather?" }] });
        let reply = harness.client.post(CHAT, body).await;
        let mut events = events(&reply);
        assert_eq!(events.pop().unwrap(), "[DONE]");
        assert_eq!(text_of(&events), "It is sunny.", "{model}");
        let usage = events.pop().unwrap();
        assert_eq!(usage["choices"], json!([]));
        assert_eq!(usage["usage"]["total_tokens"], 13);
        let last = events.pop().unwrap();
        assert_eq!(last["choices"][0]["finish_reason"], "stop");
        assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
        for event in &events {
            assert_eq!(event["object"], "chat.completion.chunk");
            assert_eq!(
                (&event["id"], &event["model"]),
                (&usage["id"], &json!(model))
            );
            assert_eq!(event["usage"], Value::Null);
            assert_eq!(event["choices"][0]["finish_reason"], Value::Null);
        }
    }
    assert_eq!(harness.sessions().await, json!([]));
    // Without `include_usage`, no chunk contains it.
    let body = json!({ "model": "fake/m1", "stream": true,
        "messages": [{ "role": "user", "content": "Hi." }] });
    let events = events(&harness.client.post(CHAT, body).await);
    assert!(events.iter().all(|event| event.get("usage").is_none()));
}

#[tokio::test]
async fn the_finish_reason_of_an_answer_that_was_cut_or_filtered_is_passed_on() {
    let harness = Harness::new().await;
    for reason in ["length", "content_filter"] {
        for model in ["agent/default", "fake/m1"] {
            let half = || Reaction::Finish("It is".to_owned(), reason.to_owned());
            harness.model.will([half(), half()]);
            let got = harness.ask(model, "The weather?").await.expect(200);
            let choice = &got["choices"][0];
            assert_eq!(choice["finish_reason"], reason, "{model}");
            assert_eq!(choice["message"]["content"], "It is");
            let body = json!({ "model": model, "stream": true,
                "messages": [{ "role": "user", "content": "The weather?" }] });
            let events = events(&harness.client.post(CHAT, body).await);
            assert_eq!(text_of(&events), "It is");
            let reasons = events
                .iter()
                .filter_map(|event| event["choices"][0]["finish_reason"].as_str());
            assert_eq!(reasons.collect::<Vec<_>>(), [reason], "{model}");
        }
    }
    // A call that was cut is no reason to make it.
    let calls = vec![("weather".to_owned(), "{\"ci".to_owned())];
    let cut = Reaction::CallThen(calls, "length".to_owned());
    harness.model.will([cut]);
    let got = harness.ask("fake/m1", "The weather?").await.expect(200);
    assert_eq!(got["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn a_streamed_answer_in_steps_is_one_text() {
    let harness = Harness::new().await;
    let call = call("calc", &json!({ "expression": "6*7" }));
    harness.model.will([call, says(["It is ", "42."])]);
    let body = json!({ "model": "agent/default", "stream": true,
        "messages": [{ "role": "user", "content": "6*7?" }] });
    let events = events(&harness.client.post(CHAT, body).await);
    assert_eq!(text_of(&events), "It is 42.");
    // The caller sees no calls of the agent's own tools.
    let calls = events
        .iter()
        .find(|event| !event["choices"][0]["delta"]["tool_calls"].is_null());
    assert_eq!(calls, None);
}

fn weather() -> Value {
    json!([{ "type": "function", "function": { "name": "weather", "description": "Reports.",
        "parameters": { "type": "object", "properties": { "city": { "type": "string" } } } } }])
}

#[tokio::test]
async fn a_model_calls_the_callers_tools() {
    let harness = Harness::new().await;
    let call = || call("weather", &json!({ "city": "Rome" }));
    harness.model.will([call(), call()]);
    let question = json!({ "role": "user", "content": "The weather in Rome?" });
    let mut body = json!({ "model": "fake/m1", "tools": weather(), "tool_choice": "required",
        "temperature": 0.5, "max_completion_tokens": 50, "top_p": 0.9, "stop": "END",
        "messages": [{ "role": "system", "content": "Be brief." }, question] });
    let got = harness.client.post(CHAT, body.clone()).await.expect(200);
    let choice = &got["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let call = json!({ "id": "call_0", "type": "function", "function": { "name": "weather",
        "arguments": "{\"city\":\"Rome\"}" } });
    assert_eq!(choice["message"]["tool_calls"], json!([call]));
    assert_eq!(choice["message"]["content"], Value::Null);
    let asked = harness.model.last();
    assert_eq!(asked["model"], "m1");
    assert_eq!(asked["tools"], weather());
    for (name, value) in [
        ("tool_choice", json!("required")),
        ("temperature", json!(0.5)),
        ("max_tokens", json!(50)),
        ("top_p", json!(0.9)),
        ("stop", json!(["END"])),
    ] {
        assert_eq!(asked[name], value, "{name}");
    }

    body["stream"] = json!(true);
    let events = events(&harness.client.post(CHAT, body.clone()).await);
    let calls: Vec<&Value> = events
        .iter()
        .map(|event| &event["choices"][0]["delta"]["tool_calls"])
        .filter(|calls| !calls.is_null())
        .collect();
    let mut streamed = call.clone();
    streamed["index"] = json!(0);
    assert_eq!(calls, [&json!([streamed])]);
    let reasons = events
        .iter()
        .filter_map(|event| event["choices"][0]["finish_reason"].as_str());
    assert_eq!(reasons.collect::<Vec<_>>(), ["tool_calls"]);

    // The results go back.
    harness.model.will([says(["Sunny."])]);
    let messages = json!([question, { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "call_0", "content": "sunny" }]);
    let body = json!({ "model": "fake/m1", "tools": weather(), "tool_choice": "auto",
        "messages": messages });
    let got = harness.client.post(CHAT, body).await.expect(200);
    assert_eq!(got["choices"][0]["message"]["content"], "Sunny.");
    let asked = harness.model.last();
    assert_eq!(asked["messages"][1]["tool_calls"], json!([call]));
    assert_eq!(
        asked["messages"][2],
        json!({ "role": "tool", "tool_call_id": "call_0", "content": "sunny" })
    );
    assert_eq!(asked.get("tool_choice"), None);
    // Nothing of it is a turn of an agent.
    assert!(harness.usage("agent").await.is_empty());
    let by_key = harness.usage("key").await;
    assert_eq!(
        (&by_key[0]["turns"], &by_key[0]["input_tokens"]),
        (&json!(3), &json!(30))
    );
    assert_eq!(harness.sessions().await, json!([]));
}

#[tokio::test]
async fn a_model_is_named_with_its_provider() {
    let harness = Harness::new().await;
    harness.ask("fake/lab/m2", "Hi.").await.expect(200);
    assert_eq!(harness.model.last()["model"], "lab/m2");
    assert_eq!(harness.usage("model").await[0]["model"], "fake/lab/m2");
}
