//! Tests every endpoint with a body, with every kind of invalid body.

use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options, TestServer};
use gatehouse_web::{ROUTES, Verb};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An endpoint and its body.
struct Row {
    method: &'static str,
    path: &'static str,
    /// The required fields in the order in which they are read.
    required: &'static [&'static str],
    /// The optional fields. All are text unless stated otherwise.
    optional: &'static [&'static str],
    /// Whether the endpoint is called without authentication.
    is_public: bool,
}

const fn row(
    method: &'static str,
    path: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Row {
    Row {
        method,
        path,
        required,
        optional,
        is_public: false,
    }
}

const fn public(mut row: Row) -> Row {
    row.is_public = true;
    row
}

const ROWS: &[Row] = &[
    public(row("POST", "/api/auth/login", &["password"], &[])),
    row("POST", "/api/auth/logout", &[], &[]),
    row(
        "POST",
        "/api/auth/confirm",
        &[],
        &["password", "challenge_id"],
    ),
    row(
        "POST",
        "/api/auth/password/change",
        &["new_password"],
        &["current_password", "setup_code"],
    ),
    row(
        "POST",
        "/api/auth/api-keys",
        &["label", "scopes"],
        &["expires_at", "allowed_cidrs"],
    ),
    row(
        "POST",
        "/api/auth/passkey/register/begin",
        &[],
        &["setup_code"],
    ),
    row(
        "POST",
        "/api/auth/passkey/register/finish",
        &["challenge_id", "name", "credential"],
        &["setup_code"],
    ),
    public(row("POST", "/api/auth/passkey/auth/begin", &[], &[])),
    public(row(
        "POST",
        "/api/auth/passkey/auth/finish",
        &["challenge_id", "credential"],
        &[],
    )),
    row("PATCH", "/api/auth/passkeys/pk_none", &["name"], &[]),
    row("POST", "/api/auth/reset", &[], &[]),
    row("POST", "/api/auth/vault/initialize", &["password"], &[]),
    row("POST", "/api/auth/vault/unlock", &["password"], &[]),
    row("POST", "/api/auth/vault/recovery", &["recovery_key"], &[]),
    row("POST", "/api/auth/vault/disable", &[], &["password"]),
    row("POST", "/api/auth/vault/enable", &[], &["password"]),
    row("POST", "/api/auth/vault/seal", &[], &[]),
    row("POST", "/api/auth/vault/rotate", &["password"], &[]),
    row("POST", "/api/auth/vault/recovery-key", &["password"], &[]),
    row(
        "POST",
        "/api/backup/stream",
        &[],
        &["recipient", "passphrase"],
    ),
];

const SETUP: Row = row("POST", "/api/auth/setup", &["password"], &["setup_code"]);
const KIND: Option<&str> = Some("application/json");
const LIMIT: usize = 64 * 1024;

/// Returns a valid value for a field.
fn right(field: &str) -> Value {
    match field {
        "scopes" => json!(["operator.read"]),
        "credential" => json!({ "id": "x" }),
        "challenge_id" => json!("ch_none"),
        "expires_at" => json!("2099-01-01T00:00:00Z"),
        "allowed_cidrs" => json!(["10.0.0.0/8"]),
        _ => json!("some text that is long enough"),
    }
}

fn body_of(row: &Row) -> Value {
    row.required
        .iter()
        .map(|field| ((*field).to_owned(), right(field)))
        .collect()
}

/// Creates callers that are never throttled.
struct Callers {
    server: TestServer,
    owner: Actor,
    next: std::cell::Cell<u32>,
}

impl Callers {
    /// Gives each unauthenticated caller its own address, so none is throttled.
    fn of(&self, row: &Row) -> Actor {
        if !row.is_public {
            return self.owner.clone();
        }
        let number = self.next.get();
        self.next.set(number + 1);
        let address = format!("10.{}.{}.1", number / 250, number % 250);
        self.server
            .local()
            .with("host", "gate.example")
            .proxied(&address)
    }
}

async fn callers() -> Callers {
    let (server, owner) = light_owner(crate::steps::behind_trusted_proxy()).await;
    Callers {
        server,
        owner,
        next: std::cell::Cell::new(0),
    }
}

#[test]
fn every_endpoint_with_a_body_has_a_row() {
    let here: BTreeSet<(&str, &str)> = ROWS
        .iter()
        .chain([&SETUP])
        .map(|row| (row.method, row.path))
        .collect();
    let there: BTreeSet<(&str, String)> = ROUTES
        .iter()
        .filter(|route| matches!(route.verb, Verb::Post | Verb::Patch))
        // RPC and MCP have their own envelope, and webhook senders choose their own body format.
        .filter(|route| !["/api/rpc", "/mcp"].contains(&route.path))
        .filter(|route| !route.path.contains("/ingest/"))
        // The answer is in the query.
        .filter(|route| !route.path.starts_with("/approve/"))
        // The tests in `audio`, `chat::attachments` and `openai` cover the other endpoints. Voice endpoints accept
        // larger bodies and forms, the body of a file endpoint is the file, and OpenAI-compatible endpoints accept
        // unknown fields.
        .filter(|route| !is_voice(route.path) && !route.path.starts_with("/v1/"))
        .filter(|route| !route.path.ends_with("/attachments"))
        .map(|route| (route.verb.name(), route.path.replace("{id}", "pk_none")))
        .collect();
    let there: BTreeSet<(&str, &str)> = there
        .iter()
        .map(|(verb, path)| (*verb, path.as_str()))
        .collect();
    assert_eq!(here, there);
}

fn is_voice(path: &str) -> bool {
    path == "/api/tts/stream" || path.ends_with("/audio")
}

fn shape(reply: &gatehouse_testkit::Reply, code: &str, what: &str) -> Value {
    let body = reply.refused(
        if code == "UNSUPPORTED_MEDIA_TYPE" {
            415
        } else if code == "PAYLOAD_TOO_LARGE" {
            413
        } else {
            400
        },
        code,
    );
    assert!(
        body["error"]
            .as_str()
            .is_some_and(|text| text.ends_with('.') && text.len() > 10),
        "{what}: {body}"
    );
    assert_eq!(
        reply.header("content-type"),
        Some("application/json"),
        "{what}"
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{what}");
    body
}

async fn send(
    callers: &Callers,
    row: &Row,
    kind: Option<&'static str>,
    body: Vec<u8>,
) -> gatehouse_testkit::Reply {
    callers
        .of(row)
        .send_bytes(row.method, row.path, kind, body)
        .await
}

async fn walk(callers: &Callers, row: &Row) {
    wrong_fields(callers, row).await;
    wrong_bytes(callers, row).await;
    wrong_sizes(callers, row).await;
}

async fn wrong_fields(callers: &Callers, row: &Row) {
    let what = row.path;
    let refused = async |body: Value| {
        let reply = send(callers, row, KIND, body.to_string().into_bytes()).await;
        shape(&reply, "INVALID_PARAMS", what)
    };
    for field in row.required {
        let mut body = body_of(row);
        body.as_object_mut().unwrap().remove(*field);
        let said = refused(body).await;
        assert_eq!(said["field"], *field, "{what} without {field}: {said}");
    }
    for field in row.required.iter().chain(row.optional) {
        // A passkey response is validated later.
        if *field == "credential" {
            continue;
        }
        let mut body = body_of(row);
        body[*field] = json!({ "of": "another type" });
        let said = refused(body).await;
        assert_eq!(said["field"], *field, "{what}, a wrong {field}: {said}");
        assert!(said["reason"].is_string());
    }
    let mut body = body_of(row);
    body["colour"] = json!("green");
    let said = refused(body).await;
    let said = (&said["field"], &said["reason"]);
    assert_eq!(said, (&json!("colour"), &json!("unknown field")), "{what}");
}

async fn wrong_bytes(callers: &Callers, row: &Row) {
    let what = row.path;
    for (bytes, code) in [
        (&b"{"[..], "PARSE_ERROR"),
        (b"not json", "PARSE_ERROR"),
        (b"{}x", "PARSE_ERROR"),
        (b"{\"a\":\"\xff\"}", "PARSE_ERROR"),
        (b"\xff\xfe{\x00}\x00", "PARSE_ERROR"),
        (b"{'a':1}", "PARSE_ERROR"),
        (b"[]", "INVALID_PARAMS"),
        (b"\"text\"", "INVALID_PARAMS"),
        (b"7", "INVALID_PARAMS"),
        (b"null", "INVALID_PARAMS"),
        (b"[{}]", "INVALID_PARAMS"),
    ] {
        let reply = send(callers, row, KIND, bytes.to_vec()).await;
        assert_eq!(reply.code(), code, "{what} {bytes:?}: {}", reply.text);
        shape(&reply, code, what);
    }
    let good = body_of(row).to_string().into_bytes();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
        "",
    ] {
        let reply = send(callers, row, Some(kind), good.clone()).await;
        shape(&reply, "UNSUPPORTED_MEDIA_TYPE", what);
    }
}

async fn wrong_sizes(callers: &Callers, row: &Row) {
    let filled = |size: usize| {
        let empty = r#"{"filler":""}"#.len();
        format!(r#"{{"filler":"{}"}}"#, "x".repeat(size - empty)).into_bytes()
    };
    let at_limit = send(callers, row, KIND, filled(LIMIT)).await;
    let said = shape(&at_limit, "INVALID_PARAMS", row.path);
    assert_eq!(said["reason"], "unknown field", "{}", row.path);
    let over = send(callers, row, KIND, filled(LIMIT + 1)).await;
    let said = shape(&over, "PAYLOAD_TOO_LARGE", row.path);
    assert_eq!(said["max_bytes"], LIMIT);
}

#[tokio::test]
async fn every_way_to_be_wrong_is_said() {
    let callers = callers().await;
    for row in ROWS {
        walk(&callers, row).await;
    }
    // None of the requests had an effect.
    callers.owner.get("/api/gon").await.expect(200);
    assert_eq!(
        callers.owner.get("/api/auth/api-keys").await.expect(200)["api_keys"],
        json!([])
    );
}

#[tokio::test]
async fn setup_too() {
    let server = TestServer::fresh().await;
    let owner = server.local();
    let callers = Callers {
        server,
        owner,
        next: std::cell::Cell::new(0),
    };
    walk(&callers, &SETUP).await;
}

#[tokio::test]
async fn where_all_is_optional_no_body_is_an_empty_one() {
    let (_server, owner) = light_owner(Options::default()).await;
    for (path, kind) in [
        ("/api/auth/vault/disable", None),
        ("/api/auth/vault/disable", KIND),
        ("/api/auth/passkey/auth/begin", None),
        ("/api/auth/logout", KIND),
    ] {
        let caller = owner.clone().with("host", "localhost");
        caller.send_bytes("POST", path, kind, "").await.expect(200);
    }
    let (_server, owner) = light_owner(Options::default()).await;
    owner
        .send_bytes("POST", "/api/auth/logout", Some("text/plain"), "")
        .await
        .expect(200);
}

#[tokio::test]
async fn a_stranger_hears_nothing_of_the_body() {
    let (server, _owner) = light_owner(Options::default()).await;
    for row in ROWS.iter().filter(|row| !row.is_public) {
        for body in ["{", "{\"colour\":1}", &"x".repeat(LIMIT + 1)] {
            let reply = server
                .local()
                .send_bytes(row.method, row.path, Some("text/plain"), body)
                .await;
            reply.refused(401, "AUTH_NOT_AUTHENTICATED");
        }
    }
}

#[tokio::test]
async fn an_alias_and_its_field_are_one() {
    let (_server, owner) = light_owner(Options::default()).await;
    let both = json!({ "label": "a", "name": "b", "scopes": ["operator.read"] });
    let refused = owner
        .post("/api/auth/api-keys", both)
        .await
        .refused(400, "INVALID_PARAMS");
    assert_eq!(refused["reason"], "given twice");
    let twice = br#"{"label":"a","label":"b","scopes":["operator.read"]}"#.to_vec();
    owner
        .send_bytes("POST", "/api/auth/api-keys", KIND, twice)
        .await
        .refused(400, "INVALID_PARAMS");
}
