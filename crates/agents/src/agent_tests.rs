use super::check::check_id;
use super::*;
use crate::AgentsError;
use gatehouse_domain::input;
use serde_json::json;

fn agent() -> Agent {
    Agent {
        id: "a".to_owned(),
        name: "A".to_owned(),
        budget: None,
        config: AgentConfig::default(),
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    }
}

fn refused(change: impl FnOnce(&mut Agent)) -> Option<&'static str> {
    let mut agent = agent();
    change(&mut agent);
    match agent.check() {
        Ok(()) => None,
        Err(AgentsError::Invalid { field, .. }) => Some(field),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn each_limit_at_and_past_it() {
    let text = |length| "x".repeat(length);
    assert_eq!(refused(|a| a.id = text(64)), None);
    assert_eq!(refused(|a| a.id = text(65)), Some("id"));
    assert_eq!(refused(|a| a.id = "a b".into()), Some("id"));
    assert_eq!(refused(|a| a.id = String::new()), Some("id"));
    assert_eq!(refused(|a| a.name = "ä".repeat(100)), None);
    assert_eq!(refused(|a| a.name = text(101)), Some("name"));
    for bad in ["", " ", "a\nb", "a\0"] {
        assert_eq!(refused(|a| a.name = bad.into()), Some("name"), "{bad:?}");
    }
    assert_eq!(refused(|a| a.config.model = Some(text(200))), None);
    assert_eq!(refused(|a| a.config.model = Some(text(201))), Some("model"));
    assert_eq!(
        refused(|a| a.config.provider = Some(String::new())),
        Some("provider")
    );
    assert_eq!(
        refused(|a| a.config.system_prompt = Some("ä".repeat(65_536))),
        None
    );
    assert_eq!(
        refused(|a| a.config.system_prompt = Some(text(65_537))),
        Some("system_prompt")
    );
    assert_eq!(refused(|a| a.config.tools.allow = vec![text(1); 200]), None);
    assert_eq!(
        refused(|a| a.config.tools.allow = vec![text(1); 201]),
        Some("allow")
    );
    assert_eq!(
        refused(|a| a.config.tools.deny = vec![String::new()]),
        Some("deny")
    );
    for (value, good) in [
        (0.0, true),
        (2.0, true),
        (2.01, false),
        (-0.01, false),
        (f64::NAN, false),
    ] {
        let found = refused(|a| a.config.temperature = Some(value));
        assert_eq!(found.is_none(), good, "{value}");
    }
    for (value, good) in [(0, false), (1, true), (100, true), (101, false)] {
        assert_eq!(
            refused(|a| a.config.max_turns = value).is_none(),
            good,
            "{value}"
        );
    }
}

#[test]
fn null_clears_and_absence_keeps() {
    let mut found = agent();
    found.config.model = Some("m".to_owned());
    found.config.temperature = Some(1.0);
    found.config.max_turns = 3;
    found.config.tools.deny = vec!["calc".to_owned()];
    let before = found.clone();
    let nothing: AgentChanges = input::from_value(json!({ "id": "a" })).unwrap();
    nothing.apply(&mut found);
    assert_eq!(found, before);
    let nulls =
        json!({ "id": "a", "model": null, "temperature": null, "max_turns": null, "tools": null });
    let nulls: AgentChanges = input::from_value(nulls).unwrap();
    nulls.apply(&mut found);
    assert_eq!(found.config, AgentConfig::default());
    let some: AgentChanges =
        input::from_value(json!({ "id": "a", "name": " B ", "model": "p/m" })).unwrap();
    some.apply(&mut found);
    assert_eq!(
        (found.name.as_str(), found.config.model.as_deref()),
        ("B", Some("p/m"))
    );
}

#[test]
fn what_is_unknown_or_of_the_wrong_type_is_named() {
    let field = |value| {
        let problem = input::from_value::<AgentChanges>(value).unwrap_err();
        problem.details["field"].as_str().unwrap().to_owned()
    };
    assert_eq!(field(json!({ "id": "a", "colour": 1 })), "colour");
    assert_eq!(field(json!({ "id": "a", "tools": { "alow": [] } })), "alow");
    assert_eq!(field(json!({ "id": "a", "max_turns": "x" })), "max_turns");
    assert_eq!(field(json!({})), "id");
}

#[test]
fn an_agent_reads_back_as_it_was_stored() {
    let mut stored = agent();
    stored.config.temperature = Some(0.3);
    stored.config.tools.allow = vec!["calc".to_owned()];
    assert_eq!(Agent::of(stored.row().unwrap()).unwrap(), stored);
    let damaged = AgentRow {
        config: "{".to_owned(),
        ..stored.row().unwrap()
    };
    assert!(Agent::of(damaged).is_err());
}

#[test]
fn ids_are_made_from_names() {
    assert_eq!(id_after("Release Notes!", 1), "release-notes");
    assert_eq!(id_after("Release Notes!", 2), "release-notes-2");
    assert_eq!(id_after("日本", 1), "agent");
    assert_eq!(id_after("日本", 3), "agent-3");
    for name in ["x".repeat(100), format!("{} y", "x".repeat(55))] {
        assert!(check_id(&id_after(&name, 4_000_000)).is_ok());
    }
}
