//! `/v1/responses`.

use super::{Harness, events};
use gatehouse_doubles::openai::{Part, Reaction, call, says};
use serde_json::{Value, json};

const RESPONSES: &str = "/v1/responses";

fn weather() -> Value {
    json!([{ "type": "function", "name": "weather", "description": "Reports.", "strict": false,
        "parameters": { "type": "object", "properties": { "city": { "type": "string" } } } }])
}

#[tokio::test]
async fn an_agent_responds() {
    let harness = Harness::new().await;
    harness.model.will([says(["It is ", "sunny."])]);
    let input = json!([
        { "role": "user", "content": "Hello." },
        { "type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
            "content": [{ "type": "output_text", "text": "Hello!", "annotations": [] }] },
        { "role": "user", "content": [{ "type": "input_text", "text": "The weather?" }] },
    ]);
    let body = json!({ "model": "agent/default", "instructions": "Be brief.", "input": input });
    let got = harness.client.post(RESPONSES, body).await.expect(200);
    assert_eq!(
        (&got["object"], &got["status"]),
        (&json!("response"), &json!("completed"))
    );
    assert_eq!(got["output"].as_array().unwrap().len(), 1);
    let item = &got["output"][0];
    assert_eq!(
        (&item["type"], &item["role"]),
        (&json!("message"), &json!("assistant"))
    );
    assert_eq!(item["content"][0]["type"], "output_text");
    assert_eq!(item["content"][0]["text"], "It is sunny.");
    assert_eq!(got["usage"]["total_tokens"], 13);
    assert_eq!(
        (&got["tools"], &got["tool_choice"]),
        (&json!([]), &json!("auto"))
    );
    let asked = harness.model.last();
    assert!(
        asked["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains("Be brief.")
    );
    assert_eq!(asked["messages"][2]["content"], "Hello!");
    assert_eq!(asked["messages"].as_array().unwrap().len(), 4);
    assert_eq!(harness.sessions().await, json!([]));
}

#[tokio::test]
async fn a_model_calls_the_callers_functions() {
    let harness = Harness::new().await;
    harness
        .model
        .will([call("weather", &json!({ "city": "Rome" }))]);
    let question = json!({ "role": "user", "content": "The weather in Rome?" });
    let choice = json!({ "type": "function", "name": "weather" });
    let body = json!({ "model": "fake/m1", "input": [question], "tools": weather(),
        "tool_choice": choice, "max_output_tokens": 50 });
    let got = harness.client.post(RESPONSES, body).await.expect(200);
    assert_eq!(got["output"].as_array().unwrap().len(), 1);
    let call = &got["output"][0];
    assert_eq!(
        (&call["type"], &call["name"]),
        (&json!("function_call"), &json!("weather"))
    );
    assert_eq!(call["arguments"], "{\"city\":\"Rome\"}");
    assert_eq!((&got["tools"], &got["tool_choice"]), (&weather(), &choice));
    let asked = harness.model.last();
    assert_eq!(asked["max_tokens"], 50);
    assert_eq!(asked["tool_choice"]["function"]["name"], "weather");

    harness.model.will([says(["Sunny."])]);
    let output = json!({ "type": "function_call_output", "call_id": call["call_id"],
        "output": "sunny" });
    let body = json!({ "model": "fake/m1", "input": [question, call, output], "tools": weather() });
    let got = harness.client.post(RESPONSES, body).await.expect(200);
    assert_eq!(got["output"][0]["content"][0]["text"], "Sunny.");
    let asked = harness.model.last();
    assert_eq!(asked["messages"][1]["tool_calls"][0]["id"], call["call_id"]);
    assert_eq!(asked["messages"][2]["content"], "sunny");
}

#[tokio::test]
async fn a_response_is_streamed() {
    let harness = Harness::new().await;
    let pieces = vec!["It ", "is sunny."];
    harness.model.will([says(pieces)]);
    let body = json!({ "model": "fake/m1", "input": "The weather?", "stream": true });
    let reply = harness.client.post(RESPONSES, body).await;
    let got = events(&reply);
    let kinds: Vec<&str> = got
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let mut expected = vec![
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds, expected);
    for (number, event) in got.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
        let name = format!("event: {}", event["type"].as_str().unwrap());
        assert!(reply.text.lines().any(|line| line == name), "{name}");
    }
    assert_eq!(got[6]["text"], "It is sunny.");
    let response = &got[9]["response"];
    assert_eq!(response["output"][0]["content"][0]["text"], "It is sunny.");
    assert_eq!(
        (&response["status"], &response["id"]),
        (&json!("completed"), &got[0]["response"]["id"])
    );
    assert_eq!(response["usage"]["total_tokens"], 13);

    harness.model.will([call("weather", &json!({}))]);
    let body = json!({ "model": "fake/m1", "input": "The weather?", "stream": true,
        "tools": weather() });
    let got = events(&harness.client.post(RESPONSES, body).await);
    let kinds: Vec<&str> = got
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    expected.splice(
        3..9,
        [
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ],
    );
    assert_eq!(kinds, expected);

    harness.model.will([Reaction::Break("It is".to_owned())]);
    let body = json!({ "model": "agent/default", "input": "The weather?", "stream": true });
    let last = events(&harness.client.post(RESPONSES, body).await)
        .pop()
        .unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["error"]["code"], "PROVIDER_FAILED");
}

#[tokio::test]
async fn an_answer_that_was_cut_or_filtered_is_incomplete() {
    let harness = Harness::new().await;
    for (finish, reason) in [
        ("length", "max_output_tokens"),
        ("content_filter", "content_filter"),
    ] {
        for model in ["agent/default", "fake/m1"] {
            let half = || Reaction::Finish("It is".to_owned(), finish.to_owned());
            harness.model.will([half(), half()]);
            let body = json!({ "model": model, "input": "The weather?" });
            let whole = harness.client.post(RESPONSES, body).await.expect(200);
            let body = json!({ "model": model, "input": "The weather?", "stream": true });
            let mut events = events(&harness.client.post(RESPONSES, body).await);
            let last = events.pop().unwrap();
            assert_eq!(last["type"], "response.incomplete", "{model} {finish}");
            let done = events.pop().unwrap();
            assert_eq!(
                (&done["type"], &done["item"]["status"]),
                (&json!("response.output_item.done"), &json!("incomplete"))
            );
            for response in [&whole, &last["response"]] {
                assert_eq!(response["status"], "incomplete", "{response}");
                assert_eq!(response["incomplete_details"], json!({ "reason": reason }));
                assert_eq!(response["error"], Value::Null);
                let item = &response["output"][0];
                assert_eq!(item["status"], "incomplete", "{response}");
                assert_eq!(item["content"][0]["text"], "It is");
                assert_eq!(response["usage"]["total_tokens"], 13);
            }
        }
    }
}

#[tokio::test]
async fn only_the_call_that_was_cut_is_incomplete() {
    let harness = Harness::new().await;
    let called = |id: &str, arguments: &str| {
        Part::Call(id.to_owned(), "weather".to_owned(), arguments.to_owned())
    };
    let answer = || {
        let whole = called("call_0", "{\"city\":\"Rome\"}");
        let parts = vec![Part::text("Let me see."), whole, called("call_1", "{\"ci")];
        Reaction::Parts(parts, "length".to_owned())
    };
    harness.model.will([answer(), answer()]);
    let mut body = json!({ "model": "fake/m1", "input": "The weather?", "tools": weather() });
    let whole = harness
        .client
        .post(RESPONSES, body.clone())
        .await
        .expect(200);
    body["stream"] = json!(true);
    let mut events = events(&harness.client.post(RESPONSES, body).await);
    let last = events.pop().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    let ended = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| event["item"].clone());
    let ended: Vec<Value> = ended.collect();
    assert_eq!(last["response"]["output"], json!(ended));
    for response in [&whole, &last["response"]] {
        let output = response["output"].as_array().unwrap();
        let items: Vec<_> = output
            .iter()
            .map(|item| {
                (
                    item["type"].as_str().unwrap(),
                    item["status"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            items,
            [
                ("message", "completed"),
                ("function_call", "completed"),
                ("function_call", "incomplete"),
            ]
        );
        assert_eq!(output[2]["arguments"], "{\"ci");
    }
}

#[tokio::test]
async fn how_tools_are_called_is_passed_on() {
    let harness = Harness::new().await;
    let mut tools = weather();
    tools[0]["strict"] = json!(true);
    let body = json!({
        "model": "fake/m1", "input": "Hi.", "tools": tools, "parallel_tool_calls": false,
    });
    let got = harness.client.post(RESPONSES, body).await.expect(200);
    assert_eq!(
        (&got["tools"], &got["parallel_tool_calls"]),
        (&tools, &json!(false))
    );
    let asked = harness.model.last();
    assert_eq!(asked["tools"][0]["function"]["strict"], true);
    assert_eq!(asked["parallel_tool_calls"], false);

    let mut function = tools[0].clone();
    function.as_object_mut().unwrap().remove("type");
    let tool = json!({ "type": "function", "function": function });
    let chat = json!({
        "model": "fake/m1", "messages": [{ "role": "user", "content": "Hi." }], "tools": [tool],
        "parallel_tool_calls": false, "seed": 7, "frequency_penalty": 2, "presence_penalty": -2,
    });
    harness.client.post(super::CHAT, chat).await.expect(200);
    let asked = harness.model.last();
    assert_eq!(asked["tools"][0]["function"]["strict"], true);
    assert_eq!(
        (&asked["parallel_tool_calls"], &asked["seed"]),
        (&json!(false), &json!(7))
    );
    assert_eq!(
        (&asked["frequency_penalty"], &asked["presence_penalty"]),
        (&json!(2.0), &json!(-2.0))
    );
}

#[tokio::test]
async fn options_that_state_the_default_are_not_passed_on() {
    let harness = Harness::new().await;
    let function =
        json!({ "name": "weather", "parameters": { "type": "object" }, "strict": false });
    let chat = json!({
        "model": "fake/m1", "messages": [{ "role": "user", "content": "Hi." }],
        "tools": [{ "type": "function", "function": function }],
        "parallel_tool_calls": true, "frequency_penalty": 0, "presence_penalty": 0,
    });
    harness.client.post(super::CHAT, chat).await.expect(200);
    let asked = harness.model.last();
    assert_eq!(asked["tools"][0]["function"]["name"], "weather");
    assert!(
        asked["tools"][0]["function"].get("strict").is_none(),
        "{asked}"
    );
    for option in [
        "parallel_tool_calls",
        "seed",
        "frequency_penalty",
        "presence_penalty",
    ] {
        assert!(asked.get(option).is_none(), "{option}: {asked}");
    }
}

#[tokio::test]
async fn a_format_is_passed_on() {
    let harness = Harness::new().await;
    let schema = json!({ "name": "weather", "schema": { "type": "object" }, "strict": true });
    let mut format = schema.clone();
    format["type"] = json!("json_schema");
    let nested = json!({ "type": "json_schema", "json_schema": schema });
    let mut body = json!({ "model": "fake/m1", "input": "Hi.", "text": { "format": format } });
    harness
        .client
        .post(RESPONSES, body.clone())
        .await
        .expect(200);
    assert_eq!(harness.model.last()["response_format"], nested);
    let messages = json!([{ "role": "user", "content": "Hi." }]);
    let chat = json!({ "model": "fake/m1", "messages": messages, "response_format": nested });
    harness.client.post(super::CHAT, chat).await.expect(200);
    assert_eq!(harness.model.last()["response_format"], nested);
    body["model"] = json!("agent/default");
    let refused = harness.client.post(RESPONSES, body).await;
    refused.refused(400, "INVALID_PARAMS");
}

#[tokio::test]
async fn what_is_not_supported_is_refused() {
    let harness = Harness::new().await;
    let computer = json!([{ "type": "computer_call" }]);
    for (name, value) in [
        ("input", json!([])),
        ("input", computer),
        ("input", json!([{ "role": "critic", "content": "x" }])),
        (
            "input",
            json!([{ "type": "function_call_output", "call_id": "c", "output": "x" }]),
        ),
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("conv_1")),
        ("background", json!(true)),
        ("text", json!({ "format": { "type": "xml" } })),
        ("tools", json!([{ "type": "web_search" }])),
        ("tool_choice", json!({ "type": "function", "name": "g" })),
        ("reasoning", json!({ "effort": "much" })),
    ] {
        let mut body = json!({ "model": "fake/m1", "input": "Hi." });
        body[name] = value;
        let received = harness.client.post(RESPONSES, body).await;
        let received = received.refused(400, "INVALID_PARAMS");
        assert_eq!(received["error"]["param"], name, "{received}");
    }
    let body = json!({ "model": "nobody/m1", "input": "Hi." });
    let received = harness.client.post(RESPONSES, body).await;
    assert_eq!(
        received.refused(404, "NOT_FOUND")["error"]["param"],
        "model"
    );
    assert!(harness.model.seen().is_empty());
}
