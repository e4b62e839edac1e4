//! `calc`.

use crate::harness::Harness;
use gatehouse_agents::Audience;
use gatehouse_tools::ToolsSettings;
use serde_json::json;

async fn harness() -> Harness {
    Harness::open(false, ToolsSettings::default()).await
}

#[tokio::test]
async fn the_three_built_in_tools_are_public() {
    let harness = harness().await;
    assert_eq!(harness.names(), ["calc", "web_fetch", "web_search"]);
    for tool in harness.agents.tools().all() {
        assert_eq!(tool.audience(), Audience::Public);
        assert_eq!(tool.parameters()["type"], "object");
        assert_eq!(tool.parameters()["additionalProperties"], false);
    }
}

#[tokio::test]
async fn it_calculates() {
    let harness = harness().await;
    for (expression, expected) in [
        ("1 + 1", "2"),
        ("2^64 - 1", "18446744073709551615"),
        ("15% of 240", "36"),
        ("0.1 + 0.2", "0.3"),
        ("sqrt(2) to 5 dp", "approx. 1.41421"),
        ("10 km/h to m/s to 2 dp", "approx. 2.78 m / s"),
        ("0xff to binary", "11111111"),
        ("100!/98!", "9900"),
        ("10 choose 3", "120"),
        ("sin(pi/2)", "1"),
        ("5! == 120", "true"),
    ] {
        let result = harness
            .call("calc", json!({ "expression": expression }))
            .await;
        assert_eq!(result.as_deref(), Ok(expected), "{expression}");
    }
}

/// Models copy the examples of the description, so each must work.
#[tokio::test]
async fn every_example_of_the_description_works() {
    let harness = harness().await;
    let tools = harness.agents.tools().all();
    let calc = tools.iter().find(|tool| tool.name() == "calc").unwrap();
    let (_, examples) = calc.description().split_once("Examples: ").unwrap();
    let examples: Vec<_> = examples.split('`').skip(1).step_by(2).collect();
    assert_eq!(examples.len(), 7);
    let mut results = Vec::new();
    for example in examples {
        let result = harness.call("calc", json!({ "expression": example })).await;
        results.push(result.unwrap_or_else(|error| panic!("{example}: {error}")));
    }
    assert_eq!(
        results,
        [
            "18446744073709551615",
            "36",
            "2469",
            "approx. 1.4142135624",
            "180.34 cm",
            "11111111",
            "9900",
        ]
    );
}

#[tokio::test]
async fn nothing_is_remembered_and_mistakes_are_said() {
    let harness = harness().await;
    for (expression, said) in [
        ("1 +", "cannot be calculated"),
        ("1 / 0", "cannot be calculated"),
        ("a = 5", "variables and functions are not"),
        ("_", "cannot be calculated"),
        ("ans", "cannot be calculated"),
        ("5 USD to EUR", "cannot be calculated"),
        ("today", "`today` is not supported"),
        ("1,5 + 1", "a comma is allowed only between"),
        ("", "1 to 1000"),
    ] {
        let refusal = harness
            .refusal("calc", json!({ "expression": expression }))
            .await;
        assert!(refusal.contains(said), "{expression}: {refusal}");
    }
    let refusal = harness
        .refusal("calc", json!({"expression": "1", "x": 1}))
        .await;
    assert!(refusal.contains("unknown field"), "{refusal}");
}

#[tokio::test]
async fn what_explodes_ends_soon_and_the_next_calculation_works() {
    let harness = harness().await;
    for expression in [
        "9^9^9",
        "9^9^9^9",
        "2^(10^9)",
        "1e999999999",
        "(10^7)!",
        "fib(10^9)",
        "(2^(10^6))^(10^6)",
        "1/3 to 100000000 dp",
        "10^(10^7) to words",
        "2^0.0000000000001^99999999999",
        &"9!".repeat(400),
        &format!("{}2{}", "sqrt(".repeat(39), ")".repeat(39)),
    ] {
        // A result or a refusal is fine. A hang or a crash is not.
        if let Ok(result) = harness
            .call("calc", json!({ "expression": expression }))
            .await
        {
            assert!(result.len() <= 4096, "{expression}: {}", result.len());
        }
    }
    let next = harness.call("calc", json!({"expression": "6 * 7"})).await;
    assert_eq!(next.as_deref(), Ok("42"));
}

#[tokio::test]
async fn lengths_at_and_past_the_limit() {
    let harness = harness().await;
    let sum =
        |characters: usize| json!({"expression": format!("1{}", "+1".repeat(characters / 2))});
    let padded = json!({"expression": format!("{}1", " ".repeat(999))});
    assert_eq!(harness.call("calc", sum(999)).await.as_deref(), Ok("500"));
    assert_eq!(harness.call("calc", padded).await.as_deref(), Ok("1"));
    assert!(
        harness
            .refusal("calc", sum(1001))
            .await
            .contains("1 to 1000")
    );
    let digits = |count: usize| json!({"expression": format!("10^{}", count - 1)});
    assert_eq!(
        harness.call("calc", digits(4096)).await.unwrap().len(),
        4096
    );
    assert!(
        harness
            .refusal("calc", digits(4097))
            .await
            .contains("too long")
    );
}

#[tokio::test]
async fn deep_input_does_not_overflow_the_stack() {
    let harness = harness().await;
    for expression in [
        format!("{}1{}", "(".repeat(40), ")".repeat(40)),
        format!("{}1", "-".repeat(999)),
        format!("{}1", "+".repeat(999)),
        format!("1{}", "!".repeat(999)),
        format!("2{}", "^1".repeat(499)),
        format!("1{}", "/1".repeat(499)),
        "sin ".repeat(240),
        format!("{}1", "(-".repeat(40)),
        format!("1{}", " to m".repeat(199)),
        format!("{}x", "1 of ".repeat(190)),
        "a ".repeat(490),
        "(".repeat(40) + &")".repeat(40),
        format!("{}1{}", "(1+".repeat(40), ")".repeat(40)),
        format!("{}1{}", "2^(".repeat(40), ")".repeat(40)),
        format!("{}1{}", "abs(".repeat(40), ")".repeat(40)),
    ] {
        let _ = harness
            .call("calc", json!({ "expression": expression }))
            .await;
    }
    let next = harness.call("calc", json!({"expression": "1 + 2"})).await;
    assert_eq!(next.as_deref(), Ok("3"));
}
