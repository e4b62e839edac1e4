//! `tools.*`.

use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::{Value, json};

#[tokio::test]
async fn the_tools_are_listed_by_name_with_their_audience() {
    let (server, owner) = light_owner(Options::default()).await;
    let reader = server.api_key(&owner, &["operator.read"]).await;
    let list = reader.rpc("tools.list", json!({})).await.unwrap();
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    let find = |name: &str| -> &Value { tools.iter().find(|tool| tool["name"] == name).unwrap() };
    for (name, audience) in [
        ("calc", "public"),
        ("web_search", "public"),
        ("web_fetch", "public"),
        ("webhook", "trusted"),
        ("speak", "trusted"),
    ] {
        let tool = find(name);
        assert_eq!(tool["audience"], audience, "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 10, "{tool}");
        assert!(tool.get("mcp_server").is_none(), "{tool}");
    }
    let first = reader
        .rpc("tools.list", json!({ "limit": 1 }))
        .await
        .unwrap();
    assert_eq!(first["tools"][0], list["tools"][0]);
    let rest = json!({ "cursor": first["next_cursor"] });
    let rest = reader.rpc("tools.list", rest).await.unwrap();
    assert_eq!(rest["tools"][0], list["tools"][1]);
}
