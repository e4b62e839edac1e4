//! Chat completions and responses with `OpenAI`'s own clients.

use super::Gateway;
use super::clients::clients;
use serde_json::{Value, json};

fn question() -> Value {
    json!({ "role": "user", "content": "The weather in Rome?" })
}

fn parameters() -> Value {
    json!({ "type": "object", "properties": { "city": { "type": "string" } } })
}

#[tokio::test]
async fn they_chat() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let function = json!({ "name": "weather", "parameters": parameters() });
    let tools = json!([{ "type": "function", "function": function }]);
    for client in &clients {
        let language = client.language;
        let job = |kind: &str, with: Value| json!({ "do": kind, "with": with });
        let jobs = [
            job(
                "chat",
                json!({ "model": "agent/default", "messages": [question()] }),
            ),
            job(
                "chat_stream",
                json!({ "model": "agent/default", "messages": [question()] }),
            ),
            job(
                "chat",
                json!({ "model": "vendor/m1", "messages": [question()], "tools": tools }),
            ),
            job(
                "chat_stream",
                json!({ "model": "vendor/m1", "messages": [question()], "tools": tools }),
            ),
        ];
        let answers = client.run_jobs(&gateway, &gateway.key, &jobs).await;
        let said = "You said: The weather in Rome?";
        let ok: Vec<&Value> = answers.iter().map(|answer| &answer["ok"]).collect();
        let choice = &ok[0]["choices"][0];
        assert_eq!(
            choice["message"]["content"], said,
            "{language} {}",
            answers[0]
        );
        assert_eq!(ok[0]["usage"]["total_tokens"], 8, "{language}");
        let chunks = ok[1].as_array().unwrap();
        let pieces = chunks
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
        assert_eq!(pieces.collect::<String>(), said, "{language}");
        assert_eq!(
            chunks.last().unwrap()["usage"]["total_tokens"],
            8,
            "{language}"
        );
        let call = &ok[2]["choices"][0]["message"]["tool_calls"][0];
        assert_eq!(
            call["function"]["name"], "weather",
            "{language} {}",
            answers[2]
        );
        let chunks = ok[3].as_array().unwrap();
        let calls = chunks
            .iter()
            .map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"][0]);
        let calls: Vec<&Value> = calls.filter(|call| !call.is_null()).collect();
        assert_eq!(calls[0]["function"], call["function"], "{language}");

        // Send the client library's own objects back.
        let result = json!({ "role": "tool", "tool_call_id": call["id"], "content": "sunny" });
        let messages = json!([question(), ok[2]["choices"][0]["message"], result]);
        let job = job(
            "chat",
            json!({ "model": "vendor/m1", "messages": messages, "tools": tools }),
        );
        let answer = client
            .run_jobs(&gateway, &gateway.key, &[job])
            .await
            .remove(0);
        let said = &answer["ok"]["choices"][0]["message"]["content"];
        assert_eq!(said, "You said: sunny", "{language} {answer}");
    }
    gateway.check_keys();
}

#[tokio::test]
async fn they_respond() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let tools = json!([{ "type": "function", "name": "weather", "parameters": parameters(),
        "strict": false }]);
    for client in &clients {
        let language = client.language;
        let job = |kind: &str, with: Value| json!({ "do": kind, "with": with });
        let with_tools = json!({ "model": "vendor/m1", "input": [question()], "tools": tools });
        let jobs = [
            job(
                "respond",
                json!({ "model": "agent/default", "input": "Hello." }),
            ),
            job(
                "respond_stream",
                json!({ "model": "agent/default", "input": "Hello." }),
            ),
            job("respond", with_tools.clone()),
            job("respond_stream", with_tools),
        ];
        let answers = client.run_jobs(&gateway, &gateway.key, &jobs).await;
        let ok: Vec<&Value> = answers.iter().map(|answer| &answer["ok"]).collect();
        for n in [0, 1] {
            assert_eq!(
                ok[n]["text"], "You said: Hello.",
                "{language} {}",
                answers[n]
            );
        }
        let call = &ok[2]["output"][0];
        assert_eq!(call["name"], "weather", "{language} {}", answers[2]);
        for (n, kind) in [(1, "output_text"), (3, "function_call_arguments")] {
            let done = json!(format!("response.{kind}.done"));
            let kinds = ok[n]["kinds"].as_array().unwrap();
            assert!(kinds.contains(&done), "{language} {}", answers[n]);
            assert_eq!(
                kinds.last(),
                Some(&json!("response.completed")),
                "{language}"
            );
        }
        let output = json!({ "type": "function_call_output", "call_id": call["call_id"],
            "output": "sunny" });
        let with = json!({ "model": "vendor/m1", "input": [question(), call, output] });
        let answer = client
            .run_jobs(&gateway, &gateway.key, &[job("respond", with)])
            .await
            .remove(0);
        assert_eq!(
            answer["ok"]["text"], "You said: sunny",
            "{language} {answer}"
        );
    }
    gateway.check_keys();
}

#[tokio::test]
async fn a_refusal_has_a_message() {
    let clients = clients();
    if clients.is_empty() {
        return;
    }
    let gateway = Gateway::new().await;
    gateway.unseal().await;
    let job = |model: &str, n: u32| json!({ "do": "chat", "with": { "model": model, "n": n, "messages": [question()] } });
    for client in &clients {
        let jobs = [
            (job("agent/nobody", 1), (404, "NotFoundError")),
            (job("vendor/m1", 2), (400, "BadRequestError")),
        ];
        let messages = client.refused(&gateway, &gateway.key, &jobs).await;
        assert!(messages[0].contains("agent/<id>"), "{messages:?}");
        assert!(messages[1].contains("only 1 is supported"), "{messages:?}");
    }
}
