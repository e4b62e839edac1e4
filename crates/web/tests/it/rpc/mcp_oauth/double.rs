//! An MCP server and its authorization server. It refuses what real ones refuse: a request without PKCE, another
//! resource, a used code, a used refresh token, another redirect URI, an unknown client.

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

type Params = BTreeMap<String, String>;

/// A client's redirect URI and secret.
#[derive(Clone, Default)]
pub struct Client {
    pub redirect_uri: Option<String>,
    pub secret: Option<String>,
}

pub struct Data {
    base: String,
    pub clients: BTreeMap<String, Client>,
    /// The parameters of the authorization requests by code.
    codes: BTreeMap<String, Params>,
    /// Refresh tokens that were not used.
    pub refresh_tokens: BTreeSet<String>,
    pub access_tokens: BTreeSet<String>,
    pub expires_in: Value,
    pub offers_registration: bool,
    pub offers_revocation: bool,
    pub methods: Value,
    pub supports_iss: bool,
    /// The next answers of the token endpoint, after the grant was processed.
    pub broken: Vec<StatusCode>,
    /// The delay of an answer of the token endpoint.
    pub token_delay: Duration,
    /// The access token that each refresh returns.
    pub same_access: Option<String>,
    pub refreshes: usize,
    pub revoked: Vec<String>,
    pub refused: Vec<&'static str>,
    made: usize,
}

#[derive(Clone)]
pub struct Double(Arc<Mutex<Data>>);

impl Double {
    #[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
    pub async fn start() -> (Self, String) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{base}/mcp");
        let double = Self(Arc::new(Mutex::new(Data {
            base,
            clients: BTreeMap::new(),
            codes: BTreeMap::new(),
            refresh_tokens: BTreeSet::new(),
            access_tokens: BTreeSet::new(),
            expires_in: json!(3600),
            offers_registration: true,
            offers_revocation: true,
            methods: json!(["S256"]),
            supports_iss: true,
            broken: Vec::new(),
            token_delay: Duration::ZERO,
            same_access: None,
            refreshes: 0,
            revoked: Vec::new(),
            refused: Vec::new(),
            made: 0,
        })));
        let router = Router::new()
            .route("/mcp", any(mcp))
            .route("/other", any(mcp))
            .route("/metadata", get(resource))
            // Not JSON: the client continues to the next place.
            .route(
                "/.well-known/oauth-authorization-server/as",
                get(async || "<html>"),
            )
            .route("/.well-known/openid-configuration/as", get(metadata))
            .route("/as/register", post(register))
            .route("/as/authorize", get(authorize))
            .route("/as/token", post(token))
            .route("/as/revoke", post(revoke));
        let router = router.with_state(double.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (double, url)
    }

    pub fn data(&self) -> MutexGuard<'_, Data> {
        self.0.lock().unwrap()
    }
}

impl Data {
    fn new_name(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}-{}-0123456789", self.made)
    }

    fn refuse(&mut self, status: u16, code: &'static str) -> Response {
        self.refused.push(code);
        let status = StatusCode::from_u16(status).unwrap();
        (status, json_text(json!({ "error": code }))).into_response()
    }

    fn tokens(&mut self) -> Response {
        let access = self.new_name("access");
        let refresh = self.new_name("refresh");
        self.access_tokens.insert(access.clone());
        self.refresh_tokens.insert(refresh.clone());
        if !self.broken.is_empty() {
            return self.broken.remove(0).into_response();
        }
        let mut answer =
            json!({ "access_token": access, "refresh_token": refresh, "token_type": "Bearer" });
        if !self.expires_in.is_null() {
            answer["expires_in"] = self.expires_in.clone();
        }
        json_text(answer).into_response()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
fn json_text(value: Value) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        value.to_string(),
    )
}

async fn mcp(State(double): State<Double>, headers: HeaderMap, body: String) -> Response {
    let data = double.data();
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().unwrap().strip_prefix("Bearer "));
    if !given.is_some_and(|token| data.access_tokens.contains(token)) {
        let challenge = format!(
            "Bearer realm=\"a, b\", error=\"invalid_token\", resource_metadata=\"{}/metadata\", scope=\"read write\"",
            data.base
        );
        return (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, challenge)],
        )
            .into_response();
    }
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let Some(id) = message.get("id") else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "far", "version": "1" },
        }),
        "tools/call" => {
            let text = format!("5, and you sent {}", given.unwrap());
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        _ => json!({ "tools": [{
            "name": "add",
            "description": format!("Adds. {}", given.unwrap()),
            "inputSchema": { "type": "object" },
        }] }),
    };
    json_text(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}

async fn resource(State(double): State<Double>) -> Response {
    let base = double.data().base.clone();
    json_text(json!({
        "resource": format!("{base}/mcp"),
        "authorization_servers": [format!("{base}/as")],
    }))
    .into_response()
}

async fn metadata(State(double): State<Double>) -> Response {
    let data = double.data();
    let base = format!("{}/as", data.base);
    let mut metadata = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "code_challenge_methods_supported": data.methods,
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "authorization_response_iss_parameter_supported": data.supports_iss,
    });
    if data.offers_registration {
        metadata["registration_endpoint"] = json!(format!("{base}/register"));
    }
    if data.offers_revocation {
        metadata["revocation_endpoint"] = json!(format!("{base}/revoke"));
    }
    json_text(metadata).into_response()
}

async fn register(State(double): State<Double>, body: String) -> Response {
    let mut data = double.data();
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = data.new_name("client");
    let redirect_uri = body["redirect_uris"][0].as_str().map(str::to_owned);
    let client = Client {
        redirect_uri,
        secret: None,
    };
    data.clients.insert(id.clone(), client);
    (StatusCode::CREATED, json_text(json!({ "client_id": id }))).into_response()
}

/// The person agrees at once, unless the request has `deny`.
async fn authorize(State(double): State<Double>, Query(params): Query<Params>) -> Response {
    let mut data = double.data();
    let is = |name: &str, value: &str| params.get(name).is_some_and(|it| it == value);
    let Some(client) = params.get("client_id").and_then(|id| data.clients.get(id)) else {
        return data.refuse(400, "invalid_client");
    };
    let is_known = |uri: &String| client.redirect_uri.as_ref().is_none_or(|own| own == uri);
    let Some(redirect_uri) = params.get("redirect_uri").filter(|uri| is_known(uri)) else {
        return data.refuse(400, "invalid_redirect_uri");
    };
    let has_pkce = is("code_challenge_method", "S256")
        && params
            .get("code_challenge")
            .is_some_and(|it| it.len() == 43);
    let resource = format!("{}/mcp", data.base);
    if !has_pkce || !is("response_type", "code") || !is("scope", "read write") {
        return data.refuse(400, "invalid_request");
    }
    if !is("resource", &resource) {
        return data.refuse(400, "invalid_target");
    }
    let mut back = url::Url::parse(redirect_uri).unwrap();
    let code = data.new_name("code");
    let issuer = format!("{}/as", data.base);
    back.query_pairs_mut()
        .append_pair("state", &params["state"])
        .append_pair("iss", &issuer);
    if params.contains_key("deny") {
        back.query_pairs_mut().append_pair("error", "access_denied");
    } else {
        back.query_pairs_mut().append_pair("code", &code);
        data.codes.insert(code, params);
    }
    (StatusCode::FOUND, [(header::LOCATION, String::from(back))]).into_response()
}

fn form(body: &str) -> Params {
    url::form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect()
}

async fn token(State(double): State<Double>, headers: HeaderMap, body: String) -> Response {
    let (answer, delay) = {
        let mut data = double.data();
        (answer(&mut data, &headers, &form(&body)), data.token_delay)
    };
    // The tokens are rotated already.
    tokio::time::sleep(delay).await;
    answer
}

fn answer(data: &mut Data, headers: &HeaderMap, params: &Params) -> Response {
    let (id, secret) = credentials(headers, params);
    if data
        .clients
        .get(&id)
        .is_none_or(|client| client.secret != secret)
    {
        return data.refuse(401, "invalid_client");
    }
    if params.get("resource") != Some(&format!("{}/mcp", data.base)) {
        return data.refuse(400, "invalid_target");
    }
    match params["grant_type"].as_str() {
        "authorization_code" => {
            let Some(asked) = data.codes.remove(&params["code"]) else {
                return data.refuse(400, "invalid_grant");
            };
            let verifier = params.get("code_verifier").cloned().unwrap_or_default();
            let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(verifier));
            let fits = asked["client_id"] == id
                && asked.get("redirect_uri") == params.get("redirect_uri")
                && asked["code_challenge"] == challenge;
            if !fits {
                return data.refuse(400, "invalid_grant");
            }
            data.tokens()
        }
        "refresh_token" => {
            data.refreshes += 1;
            if !data.refresh_tokens.remove(&params["refresh_token"]) {
                return data.refuse(400, "invalid_grant");
            }
            if let Some(access) = data.same_access.clone() {
                let refresh = data.new_name("refresh");
                data.refresh_tokens.insert(refresh.clone());
                let answer = json!({ "access_token": access, "refresh_token": refresh });
                return json_text(answer).into_response();
            }
            data.access_tokens.clear();
            data.tokens()
        }
        _ => data.refuse(400, "unsupported_grant_type"),
    }
}

fn credentials(headers: &HeaderMap, params: &Params) -> (String, Option<String>) {
    let basic = headers.get(header::AUTHORIZATION);
    let basic = basic.and_then(|value| value.to_str().unwrap().strip_prefix("Basic "));
    match basic {
        Some(basic) => {
            let pair = String::from_utf8(BASE64.decode(basic.as_bytes()).unwrap()).unwrap();
            let (id, secret) = pair.split_once(':').unwrap();
            let decode = |text: &str| {
                let mut pairs = url::form_urlencoded::parse(text.as_bytes());
                pairs.next().unwrap().0.into_owned()
            };
            (decode(id), Some(decode(secret)))
        }
        None => (
            params.get("client_id").cloned().unwrap_or_default(),
            params.get("client_secret").cloned(),
        ),
    }
}

async fn revoke(State(double): State<Double>, body: String) -> Response {
    let params = form(&body);
    let mut data = double.data();
    let token = params["token"].clone();
    data.refresh_tokens.remove(&token);
    data.access_tokens.clear();
    data.revoked.push(token);
    StatusCode::OK.into_response()
}
