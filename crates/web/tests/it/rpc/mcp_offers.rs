//! `mcp.resources`, `mcp.prompts` and `mcp.prompt`, with the server of the tests of the tools.

use super::mcp::{SCRIPT, python};
use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};

async fn started() -> (TestServer, Actor, Value) {
    let options = Options::default().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let (server, owner) = light_owner(options).await;
    let program = json!({ "name": "py", "command": python().await, "args": [SCRIPT, "offers"] });
    let made = owner.rpc("mcp.create", program).await.unwrap();
    assert_eq!(made["state"], "connected", "{made}");
    (server, owner, made)
}

#[tokio::test]
async fn resources_are_listed_in_pages() {
    let (_server, owner, made) = started().await;
    assert_eq!(
        (&made["resources"], &made["prompts"]),
        (&json!(7), &json!(3))
    );
    let page = async |params: Value| owner.rpc("mcp.resources", params).await;
    let first = page(json!({ "name": "py", "limit": 6 })).await.unwrap();
    assert_eq!(first["resources"].as_array().unwrap().len(), 6);
    assert_eq!(
        first["resources"][4],
        json!({ "uri": "file:///logs/{day}", "template": true, "name": "logs",
            "description": "The log of a day." })
    );
    let rest = json!({ "name": "py", "limit": 6, "cursor": first["next_cursor"] });
    assert_eq!(
        page(rest).await.unwrap(),
        json!({ "resources": [{ "uri": "file:///plan.txt", "template": false, "name": "plan.txt",
            "title": "The plan", "description": "What to do, and [1mwhen.", "type": "text/plain",
            "size": 12 }] })
    );
    let elsewhere = page(json!({ "name": "other" })).await;
    assert_eq!(elsewhere, Err("NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_prompt_is_listed_and_filled_in() {
    let (_server, owner, _) = started().await;
    let first = owner
        .rpc("mcp.prompts", json!({ "limit": 2 }))
        .await
        .unwrap();
    assert_eq!(
        first["prompts"][1],
        json!({ "server": "py", "name": "review", "title": "Review code",
            "description": "Asks for a review.", "arguments": [
                { "name": "code", "description": "What to review.", "required": true },
                { "name": "style", "required": false },
            ] })
    );
    let rest = json!({ "limit": 2, "cursor": first["next_cursor"] });
    let rest = owner.rpc("mcp.prompts", rest).await.unwrap();
    assert_eq!(
        rest,
        json!({ "prompts": [{ "server": "py", "name": "talk", "arguments": [] }] })
    );
    let fill = async |arguments: Value| {
        let params = json!({ "server": "py", "name": "review", "arguments": arguments });
        owner.rpc("mcp.prompt", params).await
    };
    assert_eq!(
        fill(json!({ "code": "x" })).await,
        Ok(json!({ "text": "Review in the style any:\nx", "hidden": 1 }))
    );
    assert_eq!(fill(json!({})).await, Err("INVALID_PARAMS".to_owned()));
    let sessions = owner.rpc("sessions.list", json!({})).await.unwrap();
    assert_eq!(sessions["sessions"], json!([]), "nothing is sent");
}
