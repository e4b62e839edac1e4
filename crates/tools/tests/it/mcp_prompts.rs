//! Prompts of MCP servers as people use them.

use crate::harness::Harness;
use crate::mcp_stdio::{SCRIPT, connected, interpreter, program, settings, until};
use gatehouse_domain::Problem;
use gatehouse_tools::McpPromptText;
use std::collections::BTreeMap;

async fn started() -> Harness {
    let server = program(interpreter(), &[SCRIPT, "offers"], &[]);
    let harness = Harness::open(false, settings(vec![("py", server)])).await;
    harness.background();
    until(&harness, "py", connected).await;
    harness
}

async fn fill(
    harness: &Harness,
    name: &str,
    arguments: &[(&str, &str)],
) -> Result<McpPromptText, Problem> {
    let arguments = arguments.iter();
    let arguments: BTreeMap<String, String> = arguments
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let filled = harness.tools.mcp().prompt("py", name, arguments).await;
    filled.map_err(Problem::from)
}

#[tokio::test]
async fn prompts_are_listed_and_bad_ones_are_left_out() {
    let harness = started().await;
    let offers = harness.tools.mcp().find("py").unwrap().offers;
    let names: Vec<&str> = offers
        .prompts
        .iter()
        .map(|prompt| prompt.name.as_str())
        .collect();
    assert_eq!(names, ["broken", "review", "talk"]);
    let review = &offers.prompts[1];
    assert_eq!(review.title.as_deref(), Some("Review code"));
    let arguments: Vec<(&str, bool)> = review
        .arguments
        .iter()
        .map(|argument| (argument.name.as_str(), argument.required))
        .collect();
    assert_eq!(arguments, [("code", true), ("style", false)]);
    harness.stop().await;
}

#[tokio::test]
async fn a_prompt_becomes_a_text_without_invisible_characters() {
    let harness = started().await;
    let filled = fill(
        &harness,
        "review",
        &[("code", "let x = 1;\n  x"), ("style", "short")],
    )
    .await;
    assert_eq!(
        filled.unwrap(),
        McpPromptText {
            text: "Review in the style short:\nlet x = 1;\n  x".to_owned(),
            hidden: 1,
        }
    );
    let talk = fill(&harness, "talk", &[]).await.unwrap();
    assert_eq!(
        talk.text,
        "User: Hello.\n\nAssistant: Hi.\n\nUser: inside\n\nUser: [image image/png, 72 bytes]"
    );
    harness.stop().await;
}

#[tokio::test]
async fn what_cannot_be_filled_in_is_refused_with_a_reason() {
    let harness = started().await;
    for (name, arguments, code) in [
        ("review", vec![], "INVALID_PARAMS"),
        (
            "review",
            vec![("code", "x"), ("other", "y")],
            "INVALID_PARAMS",
        ),
        ("none", vec![], "NOT_FOUND"),
        ("broken", vec![], "PROVIDER_FAILED"),
    ] {
        let refused = fill(&harness, name, &arguments).await.unwrap_err();
        assert_eq!(refused.code.name(), code, "{name}");
        if code == "PROVIDER_FAILED" {
            assert_eq!(
                refused.details["provider_message"],
                "The MCP server py refused: not here"
            );
        }
    }
    let mcp = harness.tools.mcp();
    let elsewhere = mcp.prompt("other", "review", BTreeMap::new()).await;
    let code = |error| Problem::from(error).code.name();
    assert_eq!(code(elsewhere.unwrap_err()), "NOT_FOUND");
    harness.stop().await;
}
