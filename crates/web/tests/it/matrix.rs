//! Tests every route and method for every caller, place, setup state and vault state against one decision table. The
//! table is derived from the specification and not from the code.

pub mod table;

use crate::prepared::{Credentials, Setup, Vault, start};
use gatehouse_rpc::METHODS;
use gatehouse_testkit::{Actor, Reply, TestServer};
use gatehouse_web::ROUTES;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use table::{METHOD_TABLE, Needs, ROUTE_TABLE, UNKNOWN};

/// The tested callers.
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

/// The possible results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The request reached the handler, which may still reject the body.
    Passed,
    /// A page: the shell, which is identical for everyone.
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

/// Decides by the table of `check_auth()`. `Ok` contains the scopes.
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
        "/health/live",
        "/health/ready",
        "/livez",
        "/readyz",
        "/healthz",
        "/auth/callback",
        "/manifest.json",
        "/sw.js",
        "/ws",
        "/favicon.ico",
    ]
    .contains(&path)
        || ["/api/auth/", "/assets/", "/icons/", "/.well-known/"]
            .iter()
            .any(|prefix| path.starts_with(prefix))
        || (method == "GET" && path.starts_with("/share/"))
        || (method == "GET" && path.starts_with("/auth/callback/"))
        || path.starts_with("/approve/")
        || is_ingest(method, path)
}

/// Ingest has separate authentication and reports a sealed vault later.
fn is_ingest(method: &str, path: &str) -> bool {
    method == "POST" && path.starts_with("/api/webhooks/ingest/")
}

fn is_page(path: &str) -> bool {
    !["/api", "/v1/", "/mcp", "/ws", "/metrics"]
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
        || ["/api/gon", "/api/bootstrap"].contains(&path)
        || is_ingest(method, path);
    let is_api = ["/api/", "/v1/", "/mcp", "/ws/talk"]
        .iter()
        .any(|prefix| path.starts_with(prefix));
    let is_ready =
        ["GET", "HEAD"].contains(&method) && ["/health/ready", "/readyz"].contains(&path);
    if cell.vault == Vault::Sealed && (is_api && !is_open_while_sealed || is_ready) {
        return Outcome::Sealed;
    }
    // Without `approvals.links = "bearer"`, the link of an approval is the page, which asks for a login.
    let is_link = method == "GET" && path.starts_with("/approve/");
    let passed = if is_page(path) && (is_link || !is_public(method, path)) {
        Outcome::Shell
    } else {
        Outcome::Passed
    };
    // The request contains no code. A remote request without the code is refused before its body is read.
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
        // The session in these tests was confirmed an hour ago. Before setup and while auth is disabled,
        // callers need no confirmation.
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
        // A probe; the response to HEAD has no body.
        (503, _) if reply.text.is_empty() || reply.text.contains(r#"["sealed"]"#) => {
            Outcome::Sealed
        }
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

/// Sends every request to one server from one place. Returns the number of tested cells.
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
            // Advancing the clock by a minute avoids throttling.
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
