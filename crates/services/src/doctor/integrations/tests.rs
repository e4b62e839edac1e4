//! Tests of the parent module.

use super::*;

fn server(state: McpState) -> McpStatus {
    McpStatus {
        name: "files".to_owned(),
        transport: "stdio",
        state,
        tools: 2,
        listed: Vec::new(),
        digest: String::new(),
        offers: std::sync::Arc::default(),
        reports: 1,
        run: 1,
        is_unauthorized: false,
        problem: None,
    }
}

#[test]
fn a_channel_that_receives_nothing_is_named_with_the_reason() {
    assert!(received_finding(&[]).ok);
    let why = "Another program receives the messages of this bot.";
    let check = received_finding(&[("bot".to_owned(), why.to_owned())]);
    assert!(!check.ok && check.message == format!("The channel bot: {why}"));
    assert_eq!(check.subjects[0].id, "bot");
}

#[test]
fn a_schedule_without_its_time_zone_is_named() {
    assert!(schedules_finding(&[]).ok);
    let check = schedules_finding(&[("wh_a".to_owned(), "Morning".to_owned())]);
    assert!(!check.ok);
    assert!(check.message.ends_with("time zone: Morning."));
    assert_eq!(check.subjects[0].id, "wh_a");
}

#[test]
fn a_webhook_that_cannot_be_read_is_named_with_its_id() {
    assert!(damaged_finding(&[]).ok);
    let check = damaged_finding(&[("wh_b".to_owned(), "Builds".to_owned())]);
    assert!(!check.ok);
    assert!(check.message.ends_with("cannot be read: Builds (wh_b)."));
    assert_eq!(check.subjects[0].id, "wh_b");
}

#[test]
fn webhooks_without_verification_are_named_and_the_rest_is_counted() {
    let found = |open| OpenWebhooks {
        all: 600,
        open,
        names: vec!["Doorbell".to_owned(), "Shop".to_owned()],
    };
    assert!(open_finding(&OpenWebhooks::default()).ok);
    let check = open_finding(&found(2));
    assert!(!check.ok);
    assert_eq!(
        check.message,
        "Webhooks without verification: Doorbell, Shop."
    );
    assert_eq!(
        open_finding(&found(503)).message,
        "Webhooks without verification: Doorbell, Shop and 501 more."
    );
}

#[test]
fn programs_that_get_nothing_of_the_vault_are_named() {
    let environment = gatehouse_config::Environment::from_pairs([
        ("SERVICE_MCP__SERVERS__BARE__COMMAND", "a"),
        ("SERVICE_MCP__SERVERS__LITERAL__COMMAND", "a"),
        ("SERVICE_MCP__SERVERS__LITERAL__ENV", "A=1"),
        ("SERVICE_MCP__SERVERS__NAMED__COMMAND", "a"),
        (
            "SERVICE_MCP__SERVERS__NAMED__ENV",
            r#"{"A": {"vault": "A"}}"#,
        ),
        ("SERVICE_MCP__SERVERS__FAR__URL", "https://mcp.example"),
    ]);
    let invocation = gatehouse_config::Invocation {
        data_dir: Some(std::env::temp_dir()),
        ..Default::default()
    };
    let layers = gatehouse_config::Layers::load(&environment, &invocation).unwrap();
    let resolved = layers.written().unwrap();
    let names = programs_without_variables(&resolved.settings);
    assert_eq!(names, ["bare", "literal"]);
}

#[test]
fn a_server_that_does_not_work_is_named() {
    assert!(mcp(&[]).is_none());
    let good = mcp(&[server(McpState::Connected), server(McpState::Starting)]).unwrap();
    assert!(good.ok && good.message.contains("4 tool(s)"), "{good:?}");
    let bad = mcp(&[server(McpState::Connected), server(McpState::Failed)]).unwrap();
    assert!(!bad.ok && bad.message.contains("files"), "{bad:?}");
    let waits = mcp(&[server(McpState::WaitingForVault)]).unwrap();
    assert!(!waits.ok, "{waits:?}");
}
