//! Resources of MCP servers as agents use them.

use crate::harness::Harness;
use crate::mcp_stdio::{SCRIPT, connected, interpreter, program, settings, until};
use gatehouse_agents::{Audience, Effect, MAX_OUTPUT_BYTES};
use gatehouse_tools::{McpReview, McpStatus};
use serde_json::{Value, json};

const LIST: &str = "mcp__py__list_resources";
const READ: &str = "mcp__py__read_resource";

async fn started() -> (Harness, McpStatus) {
    let server = program(interpreter(), &[SCRIPT, "offers"], &[]);
    let harness = Harness::open(false, settings(vec![("py", server)])).await;
    harness.background();
    let status = until(&harness, "py", connected).await;
    (harness, status)
}

async fn read(harness: &Harness, uri: &str) -> String {
    harness.call(READ, json!({ "uri": uri })).await.unwrap()
}

#[tokio::test]
async fn resources_are_listed_with_their_templates_and_bad_ones_are_left_out() {
    let (harness, status) = started().await;
    let uris: Vec<&str> = status
        .offers
        .resources
        .iter()
        .map(|resource| resource.uri.as_str())
        .collect();
    let expected = [
        "file:///data.bin",
        "file:///dots.png",
        "file:///folder",
        "file:///large",
        "file:///logs/{day}",
        "file:///note",
        "file:///plan.txt",
    ];
    assert_eq!(uris, expected);
    let listed = harness.call(LIST, json!({})).await.unwrap();
    let lines: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(
        lines[4],
        json!({ "uri": "file:///logs/{day}", "template": true, "name": "logs",
            "description": "The log of a day." })
    );
    let plan = json!({ "uri": "file:///plan.txt", "name": "plan.txt", "title": "The plan",
        "description": "What to do, and [1mwhen.", "type": "text/plain", "size": 12 });
    assert_eq!(lines[6], plan);
    let found = harness.call(LIST, json!({ "search": "WHAT TO DO" })).await;
    assert_eq!(found.unwrap().trim_end(), plan.to_string());
    harness.stop().await;
}

#[tokio::test]
async fn contents_are_text_and_images_are_files() {
    let (harness, _) = started().await;
    assert_eq!(read(&harness, "file:///plan.txt").await, "Step[1m one.");
    assert_eq!(read(&harness, "file:///logs/monday").await, "log of monday");
    // The file is text according to its content.
    assert_eq!(read(&harness, "file:///note").await, "Ein schöner Text.");
    assert_eq!(
        read(&harness, "file:///data.bin").await,
        "[file application/octet-stream, 12 bytes]"
    );
    let large = read(&harness, "file:///large").await;
    assert!(large.len() == MAX_OUTPUT_BYTES && large.ends_with("x\n[cut]"));
    let refused = harness.refusal(READ, json!({ "uri": "file:///no" })).await;
    assert_eq!(refused, "The MCP server py refused: not here");

    let picture = json!({ "uri": "file:///dots.png" });
    let (text, files) = harness.call_for_files(READ, picture).await;
    assert_eq!(text.as_deref(), Ok("[image image/png, 72 bytes]"));
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].pixels, Some((2, 1)));
    // Four of five images are kept.
    let folder = json!({ "uri": "file:///folder" });
    let (text, files) = harness.call_for_files(READ, folder).await;
    let text = text.unwrap();
    assert!(
        text.starts_with("[file:///folder/a]\nfirst\n[file:///folder/0.png]\n[image"),
        "{text}"
    );
    assert!(text.ends_with("[file:///folder/4.png]\n[file image/png, 72 bytes]"));
    assert_eq!(files.len(), 4);
    harness.stop().await;
}

#[tokio::test]
async fn a_read_that_the_server_did_not_survive_can_be_repeated() {
    let (harness, _) = started().await;
    let died = harness.refusal(READ, json!({ "uri": "file:///logs/die" }));
    assert_eq!(
        died.await,
        "The MCP server py is restarting; try again in a moment."
    );
    harness.stop().await;
}

#[tokio::test]
async fn the_tools_of_resources_are_trusted_reviewed_and_only_those_of_servers_with_resources() {
    let (harness, status) = started().await;
    let mut tools = status.listed.iter();
    let list = tools.find(|tool| tool.name == LIST).unwrap();
    assert_eq!(list.review, McpReview::Approved);
    assert_eq!(list.approved.as_ref().unwrap().read_only, Some(true));
    let read = harness.agents.tools().find(READ).unwrap();
    assert_eq!(read.audience(), Audience::Trusted);
    assert!(read.reads_strangers() && read.returns_private(&json!({})));
    let effect = |uri: &str| read.effect(&json!({ "uri": uri }), true);
    assert_eq!(effect("file:///plan.txt"), Effect::None);
    assert_eq!(effect("file:///logs/a-secret"), Effect::Reveal);
    let list = harness.agents.tools().find(LIST).unwrap();
    assert_eq!(list.effect(&json!({}), true), Effect::None);
    harness.stop().await;

    let plain = program(interpreter(), &[SCRIPT], &[]);
    let harness = Harness::open(false, settings(vec![("py", plain)])).await;
    harness.background();
    let status = until(&harness, "py", connected).await;
    assert!(status.offers.resources.is_empty() && status.offers.prompts.is_empty());
    assert!(!harness.names().contains(&READ.to_owned()));
    harness.stop().await;
}

#[tokio::test]
async fn changed_resources_and_prompts_are_listed_again() {
    let (harness, _) = started().await;
    let call = async |tool: &str| {
        let called = harness.call(&format!("mcp__py__{tool}"), json!({})).await;
        assert_eq!(called.as_deref(), Ok("grew"));
    };
    call("grow_resources").await;
    let has_new = |status: &McpStatus| {
        let mut resources = status.offers.resources.iter();
        resources.any(|resource| resource.uri == "file:///new")
    };
    until(&harness, "py", has_new).await;
    let read = harness.agents.tools().find(READ).unwrap();
    let effect = read.effect(&json!({ "uri": "file:///new" }), true);
    assert_eq!(effect, Effect::None);
    call("grow_prompts").await;
    let has_new = |status: &McpStatus| {
        let mut prompts = status.offers.prompts.iter();
        prompts.any(|prompt| prompt.name == "new")
    };
    until(&harness, "py", has_new).await;
    harness.stop().await;
}
