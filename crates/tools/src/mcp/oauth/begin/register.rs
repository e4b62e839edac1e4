//! Registers a client at an authorization server.

use super::GivenClient;
use crate::mcp::oauth::{
    discovery::Metadata,
    error::OAuthError,
    http::{self, Http},
    record::Client,
    tokens::error_code,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

pub(super) fn manual(given: &GivenClient, metadata: &Metadata, redirect_uri: &str) -> Client {
    let secret = given.secret.as_ref();
    let methods = metadata.token_endpoint_auth_methods_supported.as_deref();
    let has = |method: &str| methods.is_none_or(|all| all.iter().any(|it| it == method));
    let auth_method = match secret {
        None => "none",
        Some(_) if has("client_secret_basic") => "client_secret_basic",
        Some(_) => "client_secret_post",
    };
    Client {
        id: given.id.clone(),
        secret: secret.map(|secret| secret.expose_secret().to_owned()),
        auth_method: auth_method.to_owned(),
        issuer: metadata.issuer.clone(),
        redirect_uri: redirect_uri.to_owned(),
        is_manual: true,
        expires_at: None,
    }
}

/// Registers a client (RFC 7591).
pub(super) async fn register(
    http: &Http,
    metadata: &Metadata,
    redirect_uri: &str,
    scope: Option<&str>,
) -> Result<Client, OAuthError> {
    let Some(endpoint) = &metadata.registration_endpoint else {
        let issuer = metadata.authorization_endpoint.origin();
        return Err(OAuthError::NoClient(issuer.ascii_serialization()));
    };
    http::check(endpoint)?;
    let methods = metadata.token_endpoint_auth_methods_supported.as_deref();
    let methods = methods.unwrap_or_default();
    let wanted = ["none", "client_secret_post", "client_secret_basic"];
    let wanted = wanted
        .into_iter()
        .find(|it| methods.iter().any(|has| has == it));
    let method = wanted.unwrap_or("client_secret_basic");
    let mut body = json!({
        "client_name": "Gatehouse",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    });
    if let (Some(scope), Some(body)) = (scope, body.as_object_mut()) {
        body.insert("scope".to_owned(), json!(scope));
    }
    let answer = http.post_json(endpoint, &body).await?;
    let json = answer.json.unwrap_or_default();
    let text = |name: &str| json.get(name).and_then(Value::as_str);
    if !(200..300).contains(&answer.status) {
        let code = text("error").and_then(error_code);
        let reason = code.unwrap_or_else(|| answer.status.to_string());
        return Err(OAuthError::Registration(reason));
    }
    let id = text("client_id").filter(|id| is_short(id));
    let secret = text("client_secret").filter(|secret| is_short(secret));
    let method = match (secret, text("token_endpoint_auth_method")) {
        (None, _) => "none",
        (Some(_), Some("client_secret_post")) => "client_secret_post",
        (Some(_), Some("client_secret_basic")) => "client_secret_basic",
        (Some(_), _) => method,
    };
    let expires = json.get("client_secret_expires_at").and_then(Value::as_i64);
    Ok(Client {
        id: id.ok_or(OAuthError::BadAnswer)?.to_owned(),
        secret: secret.map(str::to_owned),
        auth_method: method.to_owned(),
        issuer: metadata.issuer.clone(),
        redirect_uri: redirect_uri.to_owned(),
        is_manual: false,
        expires_at: expires
            .filter(|at| *at > 0)
            .map(|at| at.saturating_mul(1000)),
    })
}

fn is_short(text: &str) -> bool {
    (1..=2048).contains(&text.len())
}
