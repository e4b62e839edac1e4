//! The list of models.

use super::Harness;
use serde_json::{Value, json};

fn ids(list: &Value) -> Vec<&str> {
    assert_eq!(list["object"], "list");
    let data = list["data"].as_array().unwrap().iter();
    data.map(|model| model["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn agents_and_models_are_listed() {
    let harness = Harness::new().await;
    let agent = json!({ "id": "ada", "name": "Ada" });
    harness.owner.rpc("agents.create", agent).await.unwrap();
    let list = harness.client.get("/v1/models").await.expect(200);
    assert_eq!(
        ids(&list),
        ["agent/ada", "agent/default", "fake/lab/m2", "fake/m1"]
    );
    for model in list["data"].as_array().unwrap() {
        let path = format!("/v1/models/{}", model["id"].as_str().unwrap());
        assert_eq!(harness.client.get(&path).await.expect(200), *model);
    }
    // `OpenAI`'s clients encode the slashes.
    for model in list["data"].as_array().unwrap() {
        let id = model["id"].as_str().unwrap().replace('/', "%2F");
        let one = harness.client.get(&format!("/v1/models/{id}")).await;
        assert_eq!(one.expect(200), *model);
    }
    let missing = harness.client.get("/v1/models/agent%2Fnobody").await;
    missing.refused(404, "NOT_FOUND");
    let ambiguous = harness.client.get("/v1/models/agent%2F%2Fdefault").await;
    ambiguous.refused(400, "INVALID_REQUEST");
    assert_eq!(list["data"][3]["owned_by"], "fake");
    let missing = harness.client.get("/v1/models/agent/nobody").await;
    let received = missing.refused(404, "NOT_FOUND");
    assert_eq!(received["error"]["param"], "model");
    let reader = harness.server.api_key(&harness.owner, &["operator.read"]);
    reader.await.get("/v1/models").await.expect(200);
}

#[tokio::test]
async fn a_key_for_another_purpose_sees_no_agents() {
    let harness = Harness::new().await;
    let body = json!({ "label": "voice", "scopes": ["operator.read", "operator.write"],
        "only": ["/v1/audio/*", "/v1/models"] });
    let made = harness
        .owner
        .post("/api/auth/api-keys", body)
        .await
        .expect(200);
    let key = harness.server.local().bearer(made["key"].as_str().unwrap());
    let list = key.get("/v1/models").await.expect(200);
    assert!(ids(&list).is_empty(), "{list}");
}
