//! Pages of another origin on the same host: another port, or plain HTTP next to TLS.

use crate::steps::{
    behind_trusted_proxy, finish_login, finish_registration, light_owner, log_in_by_passkey,
    register_passkey,
};
use gatehouse_testkit::{Actor, Options, SoftAuthenticator};
use serde_json::json;

const OURS: &str = "http://localhost:8420";
const OTHER_PORT: &str = "http://localhost:9999";

fn at_localhost(actor: Actor) -> Actor {
    actor.with("host", "localhost:8420").with("origin", OURS)
}

/// CWE-346: a relying-party ID contains no port, so a page on another port of the host can request the same
/// passkey and relay the response.
#[tokio::test]
async fn cwe_346_a_passkey_answer_made_on_another_port_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    let owner = at_localhost(owner);
    let mut authenticator = SoftAuthenticator::on(OURS);
    register_passkey(&owner, &mut authenticator)
        .await
        .expect(200);
    let here = at_localhost(server.local());
    authenticator.move_to(OTHER_PORT);
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let begun = here
        .post("/api/auth/passkey/auth/begin", json!({}))
        .await
        .expect(200);
    let credential = authenticator.get(&begun["options"]).await.unwrap();
    let body = json!({ "challenge_id": begun["challenge_id"], "credential": credential });
    owner
        .post("/api/auth/confirm", body)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    authenticator.move_to(OURS);
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .expect(200);
}

/// CWE-346: the same for a registration, which would add the other page's passkey.
#[tokio::test]
async fn cwe_346_a_passkey_registered_on_another_port_is_refused() {
    let (_server, owner) = light_owner(Options::default()).await;
    let owner = at_localhost(owner);
    let begun = owner
        .post("/api/auth/passkey/register/begin", json!({}))
        .await
        .expect(200);
    let mut authenticator = SoftAuthenticator::on(OTHER_PORT);
    let made = authenticator.create(&begun["options"]).await.unwrap();
    finish_registration(&owner, &begun, &made)
        .await
        .refused(400, "INVALID_PARAMS");
}

/// CWE-346: when `server.external_url` names the host, no `Host` header changes the port.
#[tokio::test]
async fn cwe_346_a_relayed_host_header_does_not_move_the_port_of_the_external_url() {
    let options = Options::default().env("SERVICE_SERVER__EXTERNAL_URL", "https://gate.example");
    let (server, owner) = light_owner(options).await;
    let at = |actor: Actor, authority: &str| {
        actor
            .with("host", authority)
            .with("origin", &format!("https://{authority}"))
    };
    let mut authenticator = SoftAuthenticator::on("https://gate.example");
    register_passkey(&at(owner, "gate.example"), &mut authenticator)
        .await
        .expect(200);
    authenticator.move_to("https://gate.example:9999");
    let relay = at(server.local(), "gate.example:9999");
    let begun = relay
        .post("/api/auth/passkey/auth/begin", json!({}))
        .await
        .expect(200);
    let credential = authenticator.get(&begun["options"]).await.unwrap();
    finish_login(&relay, &begun, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    authenticator.move_to("https://gate.example");
    log_in_by_passkey(&at(server.local(), "gate.example"), &mut authenticator)
        .await
        .expect(200);
}

/// CWE-346: a page delivered over plain HTTP may come from anyone on the network. It is not the same site
/// as the page served over TLS.
#[tokio::test]
async fn cwe_346_a_plain_http_page_is_another_site_for_a_server_behind_tls() {
    let (server, owner) = light_owner(behind_trusted_proxy()).await;
    let key = owner.headers()[0].1.clone();
    let page = |origin: &str, proto: &str| {
        server
            .remote()
            .proxied("203.0.113.9")
            .with("cookie", &key)
            .with("x-forwarded-proto", proto)
            .with("origin", origin)
    };
    let rename = json!({ "jsonrpc": "2.0", "id": 1, "method": "sessions.list" });
    let post = async |origin: &str, proto: &str| {
        page(origin, proto).post("/api/rpc", rename.clone()).await
    };
    post("https://gate.example", "https").await.expect(200);
    post("http://gate.example", "https")
        .await
        .refused(403, "FORBIDDEN");
    post("http://gate.example", "http").await.expect(200);
}
