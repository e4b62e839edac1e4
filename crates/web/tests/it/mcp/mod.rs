//! `/mcp`: the gateway as an MCP server.

mod access;
mod progress;
mod protocol;
mod tools;

use gatehouse_testkit::{Actor, Reply, TestServer};
use serde_json::{Value, json};

const MCP: &str = "/mcp";
const VERSION: &str = "2025-06-18";

/// A client that has negotiated the newest version.
struct Client(Actor);

impl Client {
    fn of(actor: &Actor) -> Self {
        let accept = "application/json, text/event-stream";
        let actor = actor.clone().with("accept", accept);
        Self(actor.with("mcp-protocol-version", VERSION))
    }

    async fn send(&self, body: Value) -> Reply {
        self.0.post(MCP, body).await
    }

    /// Makes a request; returns its response.
    async fn ask(&self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": "a-1", "method": method, "params": params });
        let reply = self.send(request).await;
        let response = reply.expect(200);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(response["jsonrpc"], "2.0", "{response}");
        assert_eq!(response["id"], "a-1", "{response}");
        response
    }

    /// Returns the names of the tools.
    async fn tools(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params).await
    }

    /// Calls a tool that must succeed; returns its result.
    async fn content(&self, tool: &str, arguments: Value) -> Vec<Value> {
        let response = self.call(tool, arguments).await;
        let result = &response["result"];
        assert_eq!(result["isError"], false, "{response}");
        result["content"].as_array().unwrap().clone()
    }

    /// Calls a tool that must succeed; returns the JSON in its text.
    async fn use_tool(&self, tool: &str, arguments: Value) -> Value {
        let content = self.content(tool, arguments).await;
        let [content] = &content[..] else {
            panic!("{content:?}")
        };
        json_of(content)
    }

    /// Calls a tool that must fail; returns the error in its text.
    async fn failure(&self, tool: &str, arguments: Value) -> Value {
        let response = self.call(tool, arguments).await;
        let result = &response["result"];
        assert_eq!(result["isError"], true, "{response}");
        json_of(&result["content"][0])
    }

    /// Makes a request that must be refused; returns the code.
    async fn refusal(&self, method: &str, params: Value) -> (i64, String) {
        let response = self.ask(method, params).await;
        let error = &response["error"];
        let code = error["data"]["code"].as_str();
        let code = code.unwrap_or_else(|| panic!("{response}"));
        (error["code"].as_i64().unwrap(), code.to_owned())
    }
}

fn json_of(content: &Value) -> Value {
    assert_eq!(content["type"], "text", "{content}");
    serde_json::from_str(content["text"].as_str().unwrap()).unwrap()
}

async fn client(server: &TestServer, owner: &Actor, scopes: &[&str]) -> Client {
    Client::of(&server.api_key(owner, scopes).await)
}
