//! Sessions opened with a passkey that an API key registered. Tests what ends together with them.

use super::lineage::{
    KEYS, connects, end_but_keep, is_let_in, listed, make, own, pair, passkey_of, path_of,
    session_of,
};
use crate::steps::{light_owner, log_in_by_passkey, new_session};
use gatehouse_testkit::{Actor, Options, SoftAuthenticator, TestServer};
use serde_json::{Value, json};

const HOST: &str = "localhost:8420";
const SESSIONS: &str = "/api/auth/sessions";

/// An owner's session, a key that it created, a passkey that the key registered, and a session that the passkey opened.
struct Chain {
    server: TestServer,
    owner: Actor,
    here: Actor,
    key: Actor,
    key_id: String,
    authenticator: SoftAuthenticator,
    session: Actor,
}

/// Creates a key in a session, and with the key a passkey and a session.
async fn session_below(
    server: &TestServer,
    maker: &Actor,
) -> (Actor, String, SoftAuthenticator, Actor) {
    let (key, key_id) = make(server, maker, json!({})).await;
    let (mut authenticator, _) = passkey_of(&key.clone().with("host", HOST)).await;
    let here = server.local().with("host", HOST);
    let session = session_of(&here, &mut authenticator).await;
    (key, key_id, authenticator, session)
}

impl Chain {
    async fn new() -> Self {
        let (server, owner) = light_owner(Options::default()).await;
        let here = server.local().with("host", HOST);
        let (key, key_id, authenticator, session) = session_below(&server, &owner).await;
        Self {
            server,
            owner,
            here,
            key,
            key_id,
            authenticator,
            session,
        }
    }

    fn key_path(&self) -> String {
        format!("{KEYS}/{}", self.key_id)
    }

    async fn made_by_of_passkey(&self) -> Value {
        let list = self.session.get("/api/auth/passkeys").await.expect(200);
        list["passkeys"][0]["made_by"].clone()
    }

    async fn has_passkey(&mut self) -> bool {
        let reply = log_in_by_passkey(&self.here, &mut self.authenticator).await;
        reply.status == 200
    }
}

#[tokio::test]
async fn a_passkey_kept_from_a_revoked_key_survives_the_session_that_created_the_key() {
    for path in ["/api/auth/sessions/as_owner", SESSIONS] {
        let mut chain = Chain::new().await;
        let (server, session) = (&chain.server, &chain.session);
        end_but_keep(&chain.owner, &chain.key_path()).await;
        assert!(!is_let_in(&chain.key).await);
        assert_eq!(chain.made_by_of_passkey().await, Value::Null);
        assert_eq!(own(session).await["made_by"], Value::Null);
        let later = session_of(&chain.here, &mut chain.authenticator).await;
        assert_eq!(own(&later).await["made_by"], Value::Null);
        // The session now belongs to the owner, so it may keep the credentials that a key created.
        let (_, first_id) = make(server, session, json!({})).await;
        end_but_keep(session, &format!("{KEYS}/{first_id}")).await;
        session.delete(path).await.expect(200);
        assert!(!is_let_in(&chain.owner).await);
        assert!(is_let_in(&chain.session).await, "{path}");
        assert!(chain.has_passkey().await, "{path}");
    }
}

#[tokio::test]
async fn the_callers_session_stays_when_all_others_end_and_still_ends_with_the_key_of_its_passkey()
{
    let mut chain = Chain::new().await;
    let (server, session) = (&chain.server, &chain.session);
    let (of_owner, _) = make(server, &chain.owner, json!({})).await;
    let (of_key, _) = make(server, &chain.key, json!({})).await;
    let (mut other, _) = passkey_of(&chain.key.clone().with("host", HOST)).await;
    let (own_key, _) = make(server, session, json!({})).await;
    let second = session_of(&chain.here, &mut other).await;
    let ended = session.delete(SESSIONS).await.expect(200);
    assert_eq!(ended["ended"], 2);
    for actor in [&chain.owner, &of_owner, &second] {
        assert!(!is_let_in(actor).await);
    }
    for actor in [session, &own_key, &chain.key, &of_key] {
        assert!(is_let_in(actor).await);
    }
    let of_first = format!("api_key {}", chain.key_id);
    assert_eq!(own(session).await["made_by"], of_first);
    assert_eq!(chain.made_by_of_passkey().await, of_first);
    assert_eq!(listed(session, &chain.key_id).await["made_by"], Value::Null);
    // A leaked key cannot make itself independent or keep the credentials that it created.
    let path = chain.key_path();
    let keep = json!({ "keep_children": true });
    let reply = session.send("DELETE", &path, Some(keep)).await;
    reply.refused(403, "FORBIDDEN");
    session.delete(&path).await.expect(200);
    for actor in [session, &own_key, &of_key] {
        assert!(!is_let_in(actor).await);
    }
    assert!(!chain.has_passkey().await);
}

#[tokio::test]
async fn the_audit_log_counts_a_session_that_ended_with_its_creator_once() {
    let (server, owner) = TestServer::with_owner().await;
    let maker = new_session(&server).await;
    let (_, _, _, below) = session_below(&server, &maker).await;
    let ended = owner.delete(SESSIONS).await.expect(200);
    assert_eq!(ended["ended"], 2);
    assert!(!is_let_in(&below).await);
    let params = json!({ "kind": "sessions.ended" });
    let listed = owner.rpc("audit.list", params).await.unwrap();
    let detail = &listed["events"][0]["detail"];
    // The children are the key and its passkey.
    assert_eq!(*detail, json!({ "ended": 2, "children": 2 }));
}

#[tokio::test]
async fn a_key_that_the_callers_session_needs_gets_the_creator_of_the_session_that_ended() {
    let chain = Chain::new().await;
    let (second, second_id, mut authenticator, last) =
        session_below(&chain.server, &chain.session).await;
    // The first key stays valid, because a logout ends no key.
    let logout = chain.owner.post("/api/auth/logout", json!({})).await;
    logout.expect(200);
    last.delete(SESSIONS).await.expect(200);
    assert!(!is_let_in(&chain.session).await);
    assert!(is_let_in(&chain.key).await && is_let_in(&second).await && is_let_in(&last).await);
    let made_by = listed(&last, &second_id).await["made_by"].clone();
    assert_eq!(made_by, format!("api_key {}", chain.key_id));
    let later = session_of(&chain.here, &mut authenticator).await;
    assert_eq!(own(&later).await["made_by"], format!("api_key {second_id}"));
    last.delete(&chain.key_path()).await.expect(200);
    for actor in [&second, &last, &later] {
        assert!(!is_let_in(actor).await);
    }
    let reply = log_in_by_passkey(&chain.here, &mut authenticator).await;
    reply.refused(401, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn a_revoked_session_of_a_keys_passkey_ends_what_it_created() {
    let mut chain = Chain::new().await;
    let (server, session) = (&chain.server, &chain.session);
    let (below, below_id) = make(server, session, json!({})).await;
    let (last, _) = make(server, &below, json!({})).await;
    let device = pair(session, json!({})).await;
    let own = own(session).await;
    let made_by = format!("session {}", own["id"].as_str().unwrap());
    assert_eq!(listed(&chain.owner, &below_id).await["made_by"], made_by);
    chain.owner.delete(&path_of(&own)).await.expect(200);
    for actor in [session, &below, &last] {
        assert!(!is_let_in(actor).await);
    }
    assert!(!connects(server, &device["token"]).await);
    assert!(is_let_in(&chain.key).await);
    assert!(chain.has_passkey().await);
}

#[tokio::test]
async fn what_outlives_a_session_of_a_keys_passkey_ends_with_the_key() {
    let chain = Chain::new().await;
    let (below, below_id) = make(&chain.server, &chain.session, json!({})).await;
    let device = pair(&chain.session, json!({})).await;
    end_but_keep(&chain.owner, &path_of(&own(&chain.session).await)).await;
    assert!(!is_let_in(&chain.session).await);
    assert!(is_let_in(&below).await && connects(&chain.server, &device["token"]).await);
    let of_key = format!("api_key {}", chain.key_id);
    assert_eq!(listed(&chain.owner, &below_id).await["made_by"], of_key);
    chain.owner.delete(&chain.key_path()).await.expect(200);
    assert!(!is_let_in(&below).await && !connects(&chain.server, &device["token"]).await);
}
