//! CVE-2021-42574: names that a person decides on have no characters that hide or reorder text.

use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::json;

#[tokio::test]
async fn cve_2021_42574_no_name_hides_or_reorders_text() {
    let (_server, owner) = light_owner(Options::default()).await;
    for bad in ["Phone\u{202e}nimda", "Pho\u{200b}ne", "Phone\u{e0041}"] {
        let key = json!({ "label": bad, "scopes": ["operator.read"] });
        let refused = owner.post("/api/auth/api-keys", key).await;
        refused.refused(400, "INVALID_PARAMS");
        for (method, params) in [
            ("pairing.create", json!({ "label": bad })),
            ("webhooks.create", json!({ "name": bad })),
            ("agents.create", json!({ "id": "poet", "name": bad })),
            (
                "channels.create",
                json!({ "type": "ntfy", "label": bad, "fields": { "topic": "a" } }),
            ),
        ] {
            let refused = owner.rpc(method, params).await;
            assert_eq!(refused, Err("INVALID_PARAMS".to_owned()), "{method}");
        }
    }
    let emoji = json!({ "label": "👩\u{200d}💻 phone" });
    owner.rpc("pairing.create", emoji).await.unwrap();
}
