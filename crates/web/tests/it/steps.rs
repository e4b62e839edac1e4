//! Shared test setup: a server with an owner, created without running Argon2id; clocks; passkeys.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use gatehouse_domain::{AuthSessionId, ManualClock, Random, SystemRandom, Timestamp};
use gatehouse_store::testing::{TestDatabase, run_sql, sqlite};
use gatehouse_store::{AuthSessionRow, StoreError};
use gatehouse_testkit::{Actor, Options, PASSWORD, Reply, SoftAuthenticator, TestServer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Another acceptable password.
pub const NEW_PASSWORD: &str = "quite another staple, quite another battery";
/// A password that never matches.
pub const WRONG_PASSWORD: &str = "not the password at all";
/// A hash that no password matches.
const NO_HASH: &str = "$argon2id$v=19$m=65536,t=3,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// Longer than every window of the throttle.
pub const PATIENT: Duration = Duration::from_secs(61);
const DAY: Duration = Duration::from_hours(24);

/// Returns a moment in 2027.
pub fn start_of_tests() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

/// Returns a clock that only the test moves.
pub fn stopped_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(start_of_tests()))
}

/// Returns a server with this clock.
pub async fn by_clock(clock: &Arc<ManualClock>) -> TestServer {
    TestServer::start(Options::default().clock(Arc::clone(clock))).await
}

/// Trusts the client address reported by a proxy on this machine.
pub fn behind_trusted_proxy() -> Options {
    Options::default().env("SERVICE_PROXY__TRUSTED_CIDRS", "127.0.0.0/8")
}

/// Returns a server without a vault, set up with an unknown password, and its recently confirmed owner. Creates the
/// rows directly, which avoids the cost of password hashing.
pub async fn light_owner(options: Options) -> (TestServer, Actor) {
    let database = options.database.unwrap_or_else(sqlite);
    let clock = options.clock.unwrap_or_else(stopped_clock);
    let cookie = insert_owner(&database, gatehouse_domain::Clock::now(&*clock)).await;
    let options = Options {
        database: Some(database),
        clock: Some(clock),
        ..options
    };
    let server = TestServer::start(options).await;
    let owner = server.local().session(&cookie);
    (server, owner)
}

async fn insert_owner(database: &TestDatabase, now: Timestamp) -> String {
    let random: &dyn Random = &SystemRandom;
    let cookie = BASE64URL_NOPAD.encode(&random.bytes::<32>());
    let row = AuthSessionRow {
        id: AuthSessionId::from_text("as_owner"),
        token_hash: HEXLOWER.encode(&Sha256::digest(&cookie)),
        login_method: "password".into(),
        user_agent: Some("test".into()),
        client_ip: Some("127.0.0.1".into()),
        created_at: now,
        last_seen_at: now,
        expires_at: now.after(30 * DAY),
        confirmed_at: now,
        made_by: None,
        passkey_id: None,
    };
    let store = database.open().await;
    let inserted: Result<(), StoreError> = store
        .write(move |conn| {
            Box::pin(async move {
                conn.insert_password_hash(NO_HASH, now).await?;
                conn.insert_auth_session(&row).await
            })
        })
        .await;
    inserted.unwrap();
    store.close().await;
    cookie
}

/// Stops the server, changes rows with a database tool and starts the server again.
pub async fn tampered(mut server: TestServer, sql: &str) -> TestServer {
    let database = server.stop().await;
    run_sql(&database.location, sql).await;
    TestServer::start(Options::default().database(database)).await
}

/// Reads a whole file.
#[expect(
    clippy::disallowed_methods,
    reason = "a small file; no other task of this test waits"
)]
pub fn file(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

pub async fn log_in(actor: &Actor, password: &str) -> Reply {
    actor
        .post("/api/auth/login", json!({ "password": password }))
        .await
}

/// Logs in from this machine with the tests' password and returns the session.
pub async fn new_session(server: &TestServer) -> Actor {
    let reply = log_in(&server.local(), PASSWORD).await;
    reply.expect(200);
    server.local().session(&reply.session_cookie().unwrap())
}

/// Sets up from this machine and returns the owner and the recovery key.
pub async fn set_up_with_vault(server: &TestServer) -> (Actor, String) {
    let reply = server
        .local()
        .post("/api/auth/setup", json!({ "password": PASSWORD }))
        .await;
    let recovery_key = reply.expect(200)["recovery_key"]
        .as_str()
        .unwrap()
        .to_owned();
    (
        server.local().session(&reply.session_cookie().unwrap()),
        recovery_key,
    )
}

/// Returns the status that the vault reports.
pub async fn vault_status(server: &TestServer) -> String {
    let status = server
        .local()
        .get("/api/auth/vault/status")
        .await
        .expect(200);
    status["status"].as_str().unwrap().to_owned()
}

/// Runs a complete passkey registration.
pub async fn register_passkey(actor: &Actor, authenticator: &mut SoftAuthenticator) -> Reply {
    let begun = actor
        .post("/api/auth/passkey/register/begin", json!({}))
        .await
        .expect(200);
    let credential = authenticator.create(&begun["options"]).await.unwrap();
    finish_registration(actor, &begun, &credential).await
}

/// Sends an authenticator's response to a registration.
pub async fn finish_registration(actor: &Actor, begun: &Value, credential: &Value) -> Reply {
    let body = json!({
        "challenge_id": begun["challenge_id"], "name": "laptop", "credential": credential,
    });
    actor.post("/api/auth/passkey/register/finish", body).await
}

pub async fn log_in_by_passkey(actor: &Actor, authenticator: &mut SoftAuthenticator) -> Reply {
    let begun = actor
        .post("/api/auth/passkey/auth/begin", json!({}))
        .await
        .expect(200);
    let credential = authenticator.get(&begun["options"]).await.unwrap();
    finish_login(actor, &begun, &credential).await
}

/// Sends an authenticator's response to a login.
pub async fn finish_login(actor: &Actor, begun: &Value, credential: &Value) -> Reply {
    let body = json!({ "challenge_id": begun["challenge_id"], "credential": credential });
    actor.post("/api/auth/passkey/auth/finish", body).await
}

/// Returns the result of a `doctor` check, or null if the check does not run.
pub async fn doctor_check(owner: &Actor, id: &str) -> Value {
    let report = owner.rpc("system.doctor", json!({})).await.unwrap();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let found = checks.find(|check| check["id"] == id);
    found.cloned().unwrap_or_default()
}
