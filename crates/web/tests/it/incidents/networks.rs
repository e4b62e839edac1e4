//! `allowed_cidrs`: an address that no trusted proxy vouches for grants nothing.

use crate::steps::light_owner;
use crate::webhooks::{made, send};
use gatehouse_testkit::Options;
use serde_json::json;

/// CWE-290: without a configured trusted proxy, the client itself may have written X-Forwarded-For.
#[tokio::test]
async fn cwe_290_a_self_written_address_is_in_no_network_of_a_key() {
    let options = Options::default().env("SERVICE_BEHIND_PROXY", "true");
    let (server, owner) = light_owner(options).await;
    let limited = async |network: &str| {
        let body = json!({
            "label": "x", "scopes": ["operator.read"], "allowed_cidrs": [network],
        });
        let made = owner.post("/api/auth/api-keys", body).await.expect(200);
        made["key"].as_str().unwrap().to_owned()
    };
    let elsewhere = limited("203.0.113.0/24").await;
    for caller in [
        server.local().proxied("203.0.113.9"),
        server.local().proxied("198.51.100.1, 203.0.113.9"),
        server.local().with("x-real-ip", "203.0.113.9"),
    ] {
        caller
            .bearer(&elsewhere)
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    // The client cannot forge the connection's own address.
    let peer = limited("127.0.0.0/8").await;
    let proxied = server.local().proxied("203.0.113.9").bearer(&peer);
    proxied.get("/api/gon").await.expect(200);
}

/// CWE-290: the same for a webhook.
#[tokio::test]
async fn cwe_290_a_self_written_address_is_in_no_network_of_a_webhook() {
    let options = Options::default().env("SERVICE_BEHIND_PROXY", "true");
    let (server, owner) = light_owner(options).await;
    let remote = server.remote().proxied("203.0.113.9");
    let elsewhere = json!({ "auth_mode": "none", "allowed_cidrs": ["203.0.113.0/24"] });
    let hook = made(&owner, elsewhere).await;
    send(&remote, &hook.path(), &[], "{}")
        .await
        .refused(403, "FORBIDDEN");
    let peer = json!({ "auth_mode": "none", "allowed_cidrs": ["127.0.0.0/8"] });
    let hook = made(&owner, peer).await;
    send(&remote, &hook.path(), &[], "{}").await.expect(202);
}
