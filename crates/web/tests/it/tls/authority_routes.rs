//! The resources of the authority (RFC 8555, section 7.1).

use super::authority::{
    Account, Answer, Authority, Authorization, Order, Shared, json_answer, refuse,
};
use super::validation::validate;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use std::sync::Arc;

pub(super) fn routes(authority: Arc<Authority>) -> Router {
    Router::new()
        .route("/directory", get(directory))
        .route("/nonce", get(nonce))
        .route("/account", post(new_account))
        .route("/account/{id}", post(account))
        .route("/order", post(new_order))
        .route("/order/{id}", post(order))
        .route("/authorization/{id}", post(authorization))
        .route("/challenge/{id}", post(challenge))
        .route("/finalize/{id}", post(finalize))
        .route("/certificate/{id}", post(certificate))
        .with_state(authority)
}

async fn directory(State(authority): Shared) -> String {
    let url = |path: &str| format!("{}/{path}", authority.base);
    json!({
        "newNonce": url("nonce"), "newAccount": url("account"), "newOrder": url("order"),
        "revokeCert": url("revoke"), "keyChange": url("key-change"),
        "meta": { "termsOfService": "https://authority.example/terms" },
    })
    .to_string()
}

async fn nonce(State(authority): Shared) -> Response {
    Response::builder()
        .header("replay-nonce", authority.fresh_nonce())
        .header("cache-control", "no-store")
        .body(Body::empty())
        .unwrap()
}

async fn new_account(State(authority): Shared, headers: HeaderMap, body: Bytes) -> Response {
    let made = || {
        let opened = authority.open("/account", &headers, &body)?;
        let payload = opened.json()?;
        if payload["termsOfServiceAgreed"] != true {
            return Err(refuse(403, "userActionRequired", "agree to the terms"));
        }
        let mut state = authority.state.lock().unwrap();
        state.forget_accounts = false;
        state.accounts.push(Account {
            key: opened.key,
            contact: payload["contact"].clone(),
        });
        let id = state.accounts.len() - 1;
        let mut answer = json_answer(201, &json!({ "status": "valid" }));
        answer.location = Some(format!("{}/account/{id}", authority.base));
        Ok(answer)
    };
    let made = made();
    authority.answer(made)
}

async fn account(
    State(authority): Shared,
    Path(id): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let changed = || {
        let opened = authority.open(&format!("/account/{id}"), &headers, &body)?;
        if opened.account != Some(id) {
            return Err(refuse(401, "unauthorized", "another account"));
        }
        let contact = opened.json()?["contact"].clone();
        authority.state.lock().unwrap().accounts[id].contact = contact;
        Ok(json_answer(200, &json!({ "status": "valid" })))
    };
    let changed = changed();
    authority.answer(changed)
}

async fn new_order(State(authority): Shared, headers: HeaderMap, body: Bytes) -> Response {
    let placed = || {
        let opened = authority.open("/order", &headers, &body)?;
        let payload = opened.json()?;
        let mut state = authority.state.lock().unwrap();
        if let Some(seconds) = state.rate_limit {
            let mut refusal = refuse(429, "rateLimited", "too many new orders recently");
            refusal.retry_after = Some(seconds);
            return Err(refusal);
        }
        let identifiers = payload["identifiers"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if identifiers.is_empty() {
            return Err(refuse(400, "malformed", "no identifiers"));
        }
        let mut names = Vec::new();
        for identifier in &identifiers {
            let name = identifier["value"].as_str().unwrap_or_default().to_owned();
            if identifier["type"] != "dns" || name.is_empty() {
                return Err(refuse(400, "malformed", "not a DNS name"));
            }
            if state.rejected_name.as_ref() == Some(&name) {
                let detail = format!("the policy forbids issuing for {name}");
                return Err(refuse(400, "rejectedIdentifier", detail));
            }
            names.push(name);
        }
        let mut authorizations = Vec::new();
        for name in names {
            let token = format!("token-{}", state.authorizations.len());
            authorizations.push(state.authorizations.len());
            state.authorizations.push(Authorization {
                name,
                token,
                status: "pending",
                error: None,
            });
        }
        state.orders.push(Order {
            account: opened.account.unwrap(),
            authorizations,
            chain: None,
        });
        Ok(state.orders.len() - 1)
    };
    let placed = placed().map(|id| {
        let mut answer = json_answer(201, &authority.order_json(id));
        answer.location = Some(format!("{}/order/{id}", authority.base));
        answer
    });
    authority.answer(placed)
}

async fn order(
    State(authority): Shared,
    Path(id): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let read = authority
        .open(&format!("/order/{id}"), &headers, &body)
        .and_then(|opened| opened.is_get())
        .map(|()| json_answer(200, &authority.order_json(id)));
    authority.answer(read)
}

async fn authorization(
    State(authority): Shared,
    Path(id): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let read = authority
        .open(&format!("/authorization/{id}"), &headers, &body)
        .and_then(|opened| opened.is_get())
        .map(|()| {
            let (name, status) = {
                let state = authority.state.lock().unwrap();
                let found = &state.authorizations[id];
                (found.name.clone(), found.status)
            };
            let other = json!({
                "type": "http-01", "status": "pending", "token": "other",
                "url": format!("{}/other/{id}", authority.base),
            });
            let challenges = json!([other, authority.challenge_json(id, status)]);
            let body = json!({
                "status": status, "identifier": { "type": "dns", "value": name },
                "challenges": challenges, "expires": "2099-01-01T00:00:00Z",
            });
            json_answer(200, &body)
        });
    authority.answer(read)
}

async fn challenge(
    State(authority): Shared,
    Path(id): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let opened = authority.open(&format!("/challenge/{id}"), &headers, &body);
    let opened = opened.and_then(|opened| {
        if opened.json()? == json!({}) {
            Ok(opened)
        } else {
            Err(refuse(400, "malformed", "the payload must be {}"))
        }
    });
    let opened = match opened {
        Ok(opened) => opened,
        Err(refusal) => return authority.answer(Err(refusal)),
    };
    let (name, token) = {
        let state = authority.state.lock().unwrap();
        let found = &state.authorizations[id];
        (found.name.clone(), found.token.clone())
    };
    let mut target = authority.target.subscribe();
    let target = target.wait_for(Option::is_some).await.unwrap().unwrap();
    let key_authorization = format!("{token}.{}", opened.key.thumbprint);
    let outcome = validate(target, &name, &key_authorization).await;
    {
        let mut state = authority.state.lock().unwrap();
        let found = &mut state.authorizations[id];
        found.status = if outcome.is_ok() { "valid" } else { "invalid" };
        found.error = outcome.err();
    }
    // A real authority answers before it has verified anything.
    let mut body = authority.challenge_json(id, "processing");
    body.as_object_mut().unwrap().remove("error");
    authority.answer(Ok(json_answer(200, &body)))
}

async fn finalize(
    State(authority): Shared,
    Path(id): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let issued = || {
        let opened = authority.open(&format!("/finalize/{id}"), &headers, &body)?;
        let is_ready = authority.order_json(id)["status"] == "ready";
        let payload = opened.json()?;
        let (owner, mut names) = {
            let state = authority.state.lock().unwrap();
            let order = &state.orders[id];
            let names = order.authorizations.iter();
            let names = names.map(|id| state.authorizations[*id].name.clone());
            (order.account, names.collect::<Vec<_>>())
        };
        if opened.account != Some(owner) {
            return Err(refuse(401, "unauthorized", "another account"));
        }
        if !is_ready {
            return Err(refuse(403, "orderNotReady", "the order is not ready"));
        }
        let csr = payload["csr"].as_str().unwrap_or_default();
        let csr = BASE64URL_NOPAD.decode(csr.as_bytes());
        let csr = csr.map_err(|_| refuse(400, "badCSR", "not base64url"))?;
        names.sort();
        let chain = authority.issue(&csr, &names)?;
        authority.state.lock().unwrap().orders[id].chain = Some(chain);
        Ok(json_answer(200, &authority.order_json(id)))
    };
    let issued = issued();
    authority.answer(issued)
}

async fn certificate(
    State(authority): Shared,
    Path(id): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let read = authority
        .open(&format!("/certificate/{id}"), &headers, &body)
        .and_then(|opened| opened.is_get())
        .map(|()| {
            let chain = authority.state.lock().unwrap().orders[id].chain.clone();
            Answer {
                status: 200,
                location: None,
                kind: "application/pem-certificate-chain",
                body: chain.unwrap(),
            }
        });
    authority.answer(read)
}
