//! Every route and every method × who asks × from where × what is set up × the vault: what happens equals
//! one decision table, written here from the specification and not from the code.

use crate::prepared::{Credentials, Setup, Vault, start};
use gatehouse_rpc::METHODS;
use gatehouse_testkit::{Actor, Reply, TestServer};
use gatehouse_web::ROUTES;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// What a route asks for, in the words of the specification's endpoint table and the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// "none", or the handler validates what the body holds.
    Nothing,
    /// Any identity.
    Identity,
    /// A confirmed administrator; from elsewhere and while setup is open, the setup code.
    AdminOrSetup,
    /// Nothing but, from elsewhere and while setup is open, the setup code.
    SetupCode,
    /// An administrator, and besides, from elsewhere and while setup is open, the setup code.
    AdminAndSetupCode,
    /// An identity that holds this scope.
    Scope(&'static str),
    /// The same, and a confirmation within 15 minutes.
    Confirmed(&'static str),
}

const READ: Needs = Needs::Scope("operator.read");
const WRITE: Needs = Needs::Scope("operator.write");
const ADMIN: Needs = Needs::Scope("operator.admin");
const ADMIN_CONFIRMED: Needs = Needs::Confirmed("operator.admin");

/// Method, path in the table, path asked for, what it needs.
const ROUTE_TABLE: &[(&str, &str, &str, Needs)] = &[
    ("GET", "/health", "/health", Needs::Nothing),
    ("GET", "/metrics", "/metrics", READ),
    ("GET", "/", "/", Needs::Identity),
    ("GET", "/onboarding", "/onboarding", Needs::Identity),
    ("GET", "/assets/{*path}", "/assets/app.js", Needs::Nothing),
    ("GET", "/icons/{*path}", "/icons/icon.svg", Needs::Nothing),
    ("GET", "/favicon.ico", "/favicon.ico", Needs::Nothing),
    ("GET", "/manifest.json", "/manifest.json", Needs::Nothing),
    ("GET", "/sw.js", "/sw.js", Needs::Nothing),
    ("GET", "/auth/callback", "/auth/callback", Needs::Nothing),
    ("GET", "/share/{id}", "/share/unknown", Needs::Nothing),
    ("GET", "/api/gon", "/api/gon", READ),
    ("GET", "/api/bootstrap", "/api/bootstrap", READ),
    ("GET", "/api/sessions", "/api/sessions", READ),
    ("GET", "/api/sessions/{id}", "/api/sessions/ses_none", READ),
    (
        "GET",
        "/api/sessions/{id}/messages",
        "/api/sessions/ses_none/messages",
        READ,
    ),
    ("GET", "/api/openapi.json", "/api/openapi.json", READ),
    ("GET", "/api/openrpc.json", "/api/openrpc.json", READ),
    ("POST", "/api/rpc", "/api/rpc", Needs::Identity),
    ("GET", "/ws", "/ws", Needs::Nothing),
    ("GET", "/ws/chat", "/ws/chat", Needs::Identity),
    (
        "GET",
        "/api/auth/status",
        "/api/auth/status",
        Needs::Nothing,
    ),
    (
        "POST",
        "/api/auth/setup",
        "/api/auth/setup",
        Needs::SetupCode,
    ),
    ("POST", "/api/auth/login", "/api/auth/login", Needs::Nothing),
    (
        "POST",
        "/api/auth/logout",
        "/api/auth/logout",
        Needs::Identity,
    ),
    ("POST", "/api/auth/confirm", "/api/auth/confirm", ADMIN),
    (
        "POST",
        "/api/auth/password/change",
        "/api/auth/password/change",
        Needs::AdminAndSetupCode,
    ),
    ("GET", "/api/auth/sessions", "/api/auth/sessions", READ),
    (
        "DELETE",
        "/api/auth/sessions/{id}",
        "/api/auth/sessions/as_none",
        ADMIN,
    ),
    ("DELETE", "/api/auth/sessions", "/api/auth/sessions", ADMIN),
    ("GET", "/api/auth/api-keys", "/api/auth/api-keys", READ),
    ("POST", "/api/auth/api-keys", "/api/auth/api-keys", ADMIN),
    (
        "DELETE",
        "/api/auth/api-keys/{id}",
        "/api/auth/api-keys/key_none",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/passkey/register/begin",
        "/api/auth/passkey/register/begin",
        Needs::AdminOrSetup,
    ),
    (
        "POST",
        "/api/auth/passkey/register/finish",
        "/api/auth/passkey/register/finish",
        Needs::AdminOrSetup,
    ),
    (
        "POST",
        "/api/auth/passkey/auth/begin",
        "/api/auth/passkey/auth/begin",
        Needs::Nothing,
    ),
    (
        "POST",
        "/api/auth/passkey/auth/finish",
        "/api/auth/passkey/auth/finish",
        Needs::Nothing,
    ),
    ("GET", "/api/auth/passkeys", "/api/auth/passkeys", READ),
    (
        "PATCH",
        "/api/auth/passkeys/{id}",
        "/api/auth/passkeys/pk_none",
        ADMIN,
    ),
    (
        "DELETE",
        "/api/auth/passkeys/{id}",
        "/api/auth/passkeys/pk_none",
        ADMIN_CONFIRMED,
    ),
    (
        "POST",
        "/api/auth/reset",
        "/api/auth/reset",
        ADMIN_CONFIRMED,
    ),
    (
        "GET",
        "/api/auth/vault/status",
        "/api/auth/vault/status",
        Needs::Nothing,
    ),
    (
        "POST",
        "/api/auth/vault/initialize",
        "/api/auth/vault/initialize",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/vault/unlock",
        "/api/auth/vault/unlock",
        WRITE,
    ),
    (
        "POST",
        "/api/auth/vault/recovery",
        "/api/auth/vault/recovery",
        WRITE,
    ),
    (
        "POST",
        "/api/auth/vault/disable",
        "/api/auth/vault/disable",
        ADMIN_CONFIRMED,
    ),
    (
        "POST",
        "/api/auth/vault/enable",
        "/api/auth/vault/enable",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/vault/seal",
        "/api/auth/vault/seal",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/vault/rotate",
        "/api/auth/vault/rotate",
        ADMIN_CONFIRMED,
    ),
    (
        "POST",
        "/api/auth/vault/recovery-key",
        "/api/auth/vault/recovery-key",
        ADMIN_CONFIRMED,
    ),
];

/// Paths that no table has: the gate stands before them all the same.
const UNKNOWN: &[(&str, &str)] = &[
    ("GET", "/api/nothing"),
    ("POST", "/api/nothing"),
    ("GET", "/v1/nothing"),
    ("GET", "/nothing"),
    ("GET", "/ws/nothing"),
];

/// Method, what it needs.
const METHOD_TABLE: &[(&str, Needs)] = &[
    ("rpc.discover", Needs::Identity),
    ("system.status", Needs::Identity),
    ("system.doctor", READ),
    ("config.get", READ),
    ("config.set", WRITE),
    ("audit.list", ADMIN),
    ("env.list", READ),
    ("env.set", WRITE),
    ("env.delete", WRITE),
    ("ssh_keys.list", READ),
    ("ssh_keys.generate", WRITE),
    ("ssh_keys.import", WRITE),
    ("ssh_keys.delete", WRITE),
    ("providers.list", READ),
    ("providers.set_key", WRITE),
    ("providers.remove_key", WRITE),
];

/// Who asks.
const CALLERS: [&str; 11] = [
    "anonymous",
    "session",
    "session_expired",
    "session_revoked",
    "operator.read",
    "operator.write",
    "operator.admin",
    "operator.approvals",
    "operator.pairing",
    "key_expired",
    "key_revoked",
];

const PLACES: [&str; 3] = ["local", "remote", "behind_proxy"];

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It came to the handler, which may still dislike the probe's body.
    Passed,
    /// A page: the shell, which is the same for everybody.
    Shell,
    ToOnboarding,
    NotAuthenticated,
    SetupRequired,
    Forbidden,
    ConfirmationRequired,
    Sealed,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    caller: &'static str,
    place: &'static str,
    setup: Setup,
    vault: Vault,
}

/// The decision table of `check_auth()`: `Ok` carries the scopes.
fn decide(cell: Cell) -> Result<Vec<&'static str>, Outcome> {
    let every = vec!["operator.admin"];
    match (cell.setup, cell.place, cell.caller) {
        (Setup::AuthDisabled, _, _)
        | (Setup::Incomplete, "local", _)
        | (Setup::Complete, _, "session") => Ok(every),
        (Setup::Incomplete, _, _) => Err(Outcome::SetupRequired),
        (Setup::Complete, _, scope) if scope.starts_with("operator.") => Ok(vec![scope]),
        (Setup::Complete, _, _) => Err(Outcome::NotAuthenticated),
    }
}

fn is_public(method: &str, path: &str) -> bool {
    [
        "/health",
        "/auth/callback",
        "/manifest.json",
        "/sw.js",
        "/ws",
        "/favicon.ico",
    ]
    .contains(&path)
        || ["/api/auth/", "/assets/", "/icons/"]
            .iter()
            .any(|prefix| path.starts_with(prefix))
        || (method == "GET" && path.starts_with("/share/"))
}

fn is_page(path: &str) -> bool {
    !["/api", "/v1/", "/ws", "/metrics"]
        .iter()
        .any(|prefix| path.starts_with(prefix))
}

fn expected(method: &str, path: &str, needs: Needs, cell: Cell) -> Outcome {
    let decision = decide(cell);
    if !is_public(method, path) {
        match decision {
            Err(Outcome::SetupRequired) if is_page(path) && path != "/onboarding" => {
                return Outcome::ToOnboarding;
            }
            Err(_) if is_page(path) => return Outcome::Shell,
            Err(refusal) => return refusal,
            Ok(_) => {}
        }
    }
    let is_open_while_sealed = path.starts_with("/api/auth/")
        || path.starts_with("/api/sessions")
        || ["/api/gon", "/api/bootstrap"].contains(&path);
    let is_api = path.starts_with("/api/") || path.starts_with("/v1/");
    if cell.vault == Vault::Sealed && is_api && !is_open_while_sealed {
        return Outcome::Sealed;
    }
    let passed = if is_page(path) && !is_public(method, path) {
        Outcome::Shell
    } else {
        Outcome::Passed
    };
    // The probe carries no code: from elsewhere that is refused before its body is looked at.
    let lacks_code = cell.setup != Setup::Complete && cell.place != "local";
    let scopes = match (needs, decision) {
        (Needs::SetupCode | Needs::AdminOrSetup, _) | (Needs::AdminAndSetupCode, Ok(_))
            if lacks_code =>
        {
            return Outcome::Forbidden;
        }
        (Needs::Nothing | Needs::SetupCode, _) => return passed,
        (_, Err(refusal)) => return refusal,
        (_, Ok(scopes)) => scopes,
    };
    let holds = |scope| scopes.contains(&scope) || scopes.contains(&"operator.admin");
    match needs {
        Needs::Scope(scope) | Needs::Confirmed(scope) if !holds(scope) => Outcome::Forbidden,
        Needs::AdminAndSetupCode | Needs::AdminOrSetup if !holds("operator.admin") => {
            Outcome::Forbidden
        }
        // The session of these tests confirmed an hour ago. Row 2 knows no session; nor does row 1.
        Needs::Confirmed(_) | Needs::AdminOrSetup
            if cell.caller == "session" && cell.setup == Setup::Complete =>
        {
            Outcome::ConfirmationRequired
        }
        _ => passed,
    }
}

fn observed(reply: &Reply) -> Outcome {
    let is_page = reply
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("text/html"));
    match (reply.status.as_u16(), reply.code().as_str()) {
        (303, _) => Outcome::ToOnboarding,
        (200, _) if is_page => Outcome::Shell,
        (401, "AUTH_NOT_AUTHENTICATED") => Outcome::NotAuthenticated,
        (401, "AUTH_SETUP_REQUIRED") => Outcome::SetupRequired,
        (403, "CONFIRMATION_REQUIRED") => Outcome::ConfirmationRequired,
        (403, _) => Outcome::Forbidden,
        (423, "VAULT_SEALED") => Outcome::Sealed,
        (401 | 423 | 429 | 500.., _) => panic!("not in any table: {} {}", reply.status, reply.text),
        _ => Outcome::Passed,
    }
}

fn observed_method(reply: &Reply) -> Outcome {
    if reply.status.as_u16() != 200 {
        return observed(reply);
    }
    match reply.json()["error"]["data"]["code"].as_str() {
        Some("FORBIDDEN") => Outcome::Forbidden,
        Some("CONFIRMATION_REQUIRED") => Outcome::ConfirmationRequired,
        Some("VAULT_SEALED") => Outcome::Sealed,
        Some("INVALID_PARAMS") => Outcome::Passed,
        other => panic!("the probe's parameter was not refused: {other:?}"),
    }
}

#[test]
fn no_route_and_no_method_lacks_a_row() {
    let in_table: BTreeSet<_> = ROUTE_TABLE.iter().map(|row| (row.0, row.1)).collect();
    let in_code: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| (route.verb.name(), route.path))
        .collect();
    assert_eq!(in_table, in_code);
    let in_table: BTreeSet<_> = METHOD_TABLE.iter().map(|row| row.0).collect();
    let in_code: BTreeSet<_> = METHODS
        .iter()
        .map(|method| method.name)
        .filter(|name| *name != "connect")
        .collect();
    assert_eq!(in_table, in_code);
}

fn actor(server: &TestServer, cell: Cell, credentials: &Credentials) -> Actor {
    let actor = match cell.place {
        "remote" => server.remote(),
        "behind_proxy" => server.local().proxied("203.0.113.9"),
        _ => server.local(),
    };
    match cell.caller {
        "anonymous" => actor,
        session if session.starts_with("session") => actor.session(credentials.of(session)),
        key => actor.bearer(credentials.of(key)),
    }
}

/// Asks everything of one server from one place; how many cells that were.
async fn walk(
    server: &TestServer,
    clock: &gatehouse_domain::ManualClock,
    credentials: &Credentials,
    place: &'static str,
    setup: Setup,
    vault: Vault,
) -> usize {
    let mut cells = 0;
    let probe = json!({ "__probe": true });
    for caller in CALLERS {
        let cell = Cell {
            caller,
            place,
            setup,
            vault,
        };
        let actor = actor(server, cell, credentials);
        let unknown = UNKNOWN
            .iter()
            .map(|(method, path)| (*method, *path, *path, Needs::Identity));
        for (method, _, path, needs) in ROUTE_TABLE.iter().copied().chain(unknown) {
            // A minute later nothing is throttled.
            clock.advance(Duration::from_secs(61));
            let body = (method != "GET").then(|| probe.clone());
            let reply = actor.send(method, path, body).await;
            let expected = expected(method, path, needs, cell);
            assert_eq!(
                observed(&reply),
                expected,
                "{method} {path} {cell:?}: {}",
                reply.text
            );
            cells += 1;
        }
        for (method, needs) in METHOD_TABLE {
            clock.advance(Duration::from_secs(61));
            let reply = actor.rpc_reply(method, Value::clone(&probe)).await;
            let expected = expected("POST", "/api/rpc", *needs, cell);
            assert_eq!(
                observed_method(&reply),
                expected,
                "{method} {cell:?}: {}",
                reply.text
            );
            cells += 1;
        }
    }
    cells
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cell_is_as_the_decision_table_says() {
    let mut cells = 0;
    for setup in [Setup::Incomplete, Setup::Complete, Setup::AuthDisabled] {
        for vault in [Vault::Sealed, Vault::Unsealed] {
            for behind_proxy in [false, true] {
                let (mut server, clock, credentials) = start(setup, vault, behind_proxy).await;
                for place in PLACES
                    .iter()
                    .filter(|place| (**place == "behind_proxy") == behind_proxy)
                {
                    cells += walk(&server, &clock, &credentials, place, setup, vault).await;
                }
                server.stop().await;
            }
        }
    }
    println!("{cells} cells");
    assert!(cells >= 10_000, "{cells}");
}
