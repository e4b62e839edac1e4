//! Managing agents.

use crate::harness::{Harness, harnesses, problem_of};
use gatehouse_agents::{AgentChanges, NewAgent};
use gatehouse_domain::input;
use serde_json::{Value, json};

fn new(value: Value) -> NewAgent {
    input::from_value(value).unwrap()
}

fn changes(value: Value) -> AgentChanges {
    input::from_value(value).unwrap()
}

async fn ids(harness: &Harness) -> Vec<String> {
    let all = harness.agents.list_agents().await.unwrap();
    all.into_iter().map(|agent| agent.id).collect()
}

#[tokio::test]
async fn the_default_agent_always_exists() {
    for harness in harnesses().await {
        let agent = harness.agents.get_agent("default").await.unwrap();
        let record = serde_json::to_value(&agent).unwrap();
        assert_eq!(record["max_turns"], 12);
        assert_eq!(record["tools"], json!({ "allow": [], "deny": [] }));
        let (code, _) = problem_of(harness.agents.delete_agent("default").await.unwrap_err());
        assert_eq!(code, "CONFLICT");
        let changed = changes(json!({ "id": "default", "name": "Me", "max_turns": 3 }));
        harness.agents.update_agent(changed).await.unwrap();
        // A restart does not recreate the deleted agent.
        let harness = harness.restart().await;
        let agent = harness.agents.get_agent("default").await.unwrap();
        assert_eq!((agent.name.as_str(), agent.config.max_turns), ("Me", 3));
    }
}

#[tokio::test]
async fn agents_are_made_changed_and_deleted() {
    for harness in harnesses().await {
        let agents = &harness.agents;
        let made = agents
            .create_agent(new(json!({ "name": "Release Notes" })))
            .await
            .unwrap();
        assert_eq!(made.id, "release-notes");
        let second = agents
            .create_agent(new(json!({ "name": "Release notes" })))
            .await
            .unwrap();
        assert_eq!(second.id, "release-notes-2");
        let own = json!({ "id": "Mine.1", "name": "Mine", "system_prompt": "a\0b", "model": null });
        agents.create_agent(new(own.clone())).await.unwrap();
        let (code, _) = problem_of(agents.create_agent(new(own)).await.unwrap_err());
        assert_eq!(code, "CONFLICT");
        assert_eq!(
            ids(&harness).await,
            ["Mine.1", "default", "release-notes", "release-notes-2"]
        );

        let changed =
            changes(json!({ "id": "Mine.1", "temperature": 1, "tools": { "deny": ["calc"] } }));
        agents.update_agent(changed).await.unwrap();
        let mine = agents.get_agent("Mine.1").await.unwrap();
        assert_eq!(mine.config.system_prompt.as_deref(), Some("a\0b"));
        assert_eq!(
            (mine.config.temperature, mine.config.tools.deny.len()),
            (Some(1.0), 1)
        );
        let bad = changes(json!({ "id": "Mine.1", "temperature": 3 }));
        let refused = agents.update_agent(bad).await.unwrap_err();
        assert_eq!(
            problem_of(refused),
            ("INVALID_PARAMS", "temperature".to_owned())
        );
        let null = input::from_value::<AgentChanges>(json!({ "id": "Mine.1", "name": null }));
        let refused = null.unwrap_err();
        assert_eq!(problem_of(refused), ("INVALID_PARAMS", "name".to_owned()));
        let bad = new(json!({ "id": "a/b", "name": "x" }));
        assert_eq!(
            problem_of(agents.create_agent(bad).await.unwrap_err()).1,
            "id"
        );

        agents.delete_agent("Mine.1").await.unwrap();
        for missing in ["Mine.1", "\0"] {
            assert_eq!(
                problem_of(agents.delete_agent(missing).await.unwrap_err()).0,
                "NOT_FOUND"
            );
            assert_eq!(
                problem_of(agents.get_agent(missing).await.unwrap_err()).0,
                "NOT_FOUND"
            );
            let change = changes(json!({ "id": missing }));
            assert_eq!(
                problem_of(agents.update_agent(change).await.unwrap_err()).0,
                "NOT_FOUND"
            );
        }
    }
}
