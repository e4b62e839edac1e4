//! `rpc.discover`, and the OpenRPC and OpenAPI documents.

use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn the_documents_name_everything_there_is() {
    let (server, owner) = light_owner(Options::default()).await;
    let discovered = owner.rpc("rpc.discover", json!({})).await.unwrap();
    assert_eq!(owner.get("/api/openrpc.json").await.expect(200), discovered);
    let named: BTreeSet<&str> = discovered["methods"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|method| method["name"].as_str())
        .collect();
    let known: BTreeSet<&str> = gatehouse_rpc::METHODS
        .iter()
        .map(|method| method.name)
        .collect();
    assert_eq!(named, known);
    let openapi = owner.get("/api/openapi.json").await.expect(200);
    assert!(openapi["openapi"].as_str().unwrap().starts_with("3.1"));
    for route in gatehouse_web::ROUTES.iter() {
        let path = route.path.replace("{*", "{");
        let verb = route.verb.name().to_lowercase();
        assert!(openapi["paths"][&path][&verb].is_object(), "{verb} {path}");
    }
    let ingest = &openapi["paths"]["/api/webhooks/ingest/{public_id}"]["post"]["responses"];
    assert!(ingest["202"]["content"].is_object(), "{ingest}");
    assert_eq!(ingest["202"]["content"], ingest["200"]["content"]);
    let pairing = server.api_key(&owner, &["operator.pairing"]).await;
    pairing.rpc("rpc.discover", json!({})).await.unwrap();
    for path in ["/api/openrpc.json", "/api/openapi.json"] {
        pairing.get(path).await.refused(403, "FORBIDDEN");
        server
            .local()
            .get(path)
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
}
