//! Conditions on the payload.

use super::{made, send};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::{Value, json};

const PAYLOAD: &str = r#"{"pull_request":{"draft":true,"labels":["bug"]}}"#;

#[tokio::test]
async fn a_delivery_that_does_not_meet_a_condition_is_answered_as_filtered() {
    let (server, owner) = light_owner(Options::default()).await;
    let conditions = json!([{ "path": "pull_request.draft", "is": "not_equals", "value": true }]);
    let members = json!({ "auth_mode": "none", "payload_filter": conditions });
    let hook = made(&owner, members).await;
    assert_eq!(hook.record["payload_filter"], conditions);
    let remote = server.remote();
    let answer = send(&remote, &hook.path(), &[], PAYLOAD).await.expect(200);
    assert_eq!(answer["status"], "filtered");
    let id = &answer["delivery_id"];
    let delivery = owner
        .rpc("webhooks.delivery.get", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(delivery["status"], "filtered");
    let reason = "The payload filter is not met: pull_request.draft does not equal true.";
    assert_eq!(delivery["error"], reason);
    let ready = r#"{"pull_request":{"draft":false}}"#;
    send(&remote, &hook.path(), &[], ready).await.expect(202);
}

#[tokio::test]
async fn the_preview_of_a_filter_compares_each_condition() {
    let (server, owner) = light_owner(Options::default()).await;
    let preview = async |filter: Value, of: Value| {
        let mut params = json!({ "payload_filter": filter });
        let of = of.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(of);
        owner.rpc("webhooks.payload_filter.preview", params).await
    };
    let filter = json!([
        { "path": "pull_request.draft", "is": "equals", "value": true },
        { "path": "pull_request.labels", "is": "contains", "value": "P1" },
    ]);
    let given = json!({ "payload": PAYLOAD });
    let compared = preview(filter.clone(), given.clone()).await;
    let expected = json!({ "met": false, "conditions": [true, false] });
    assert_eq!(compared, Ok(expected.clone()));
    let either = json!([
        { "path": "pull_request.labels.*", "is": "equals", "value": "P1" },
        { "path": "pull_request.draft", "is": "equals", "value": true, "or": true },
    ]);
    let compared = preview(either, given.clone()).await;
    let met = json!({ "met": true, "conditions": [false, true] });
    assert_eq!(compared, Ok(met));
    let none = preview(json!([]), given.clone()).await;
    assert_eq!(none, Ok(json!({ "met": true, "conditions": [] })));

    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    let remote = server.remote();
    let answer = send(&remote, &hook.path(), &[], PAYLOAD).await.expect(202);
    let stored = json!({ "delivery_id": answer["delivery_id"] });
    assert_eq!(preview(filter.clone(), stored).await, Ok(expected));

    let refused = |code: &str| Err(code.to_owned());
    let gone = json!({ "delivery_id": "del_gone" });
    assert_eq!(preview(filter.clone(), gone).await, refused("NOT_FOUND"));
    let invalid = refused("INVALID_PARAMS");
    for of in [
        json!({}),
        json!({ "payload": "{" }),
        json!({ "payload": "{}", "delivery_id": "del_gone" }),
    ] {
        assert_eq!(preview(filter.clone(), of).await, invalid);
    }
    let wrong = json!([{ "path": "", "is": "exists" }]);
    assert_eq!(preview(wrong, given).await, invalid);
}
