//! Requests for tokens (OAuth 2.1, sections 3.2 and 4), and their revocation (RFC 7009).

use super::error::OAuthError;
use super::http::{Answer, Http};
use super::record::{Client, Server, Tokens};
use data_encoding::BASE64;
use futures_util::future::join_all;
use gatehouse_domain::Timestamp;
use reqwest::header::HeaderValue;
use serde_json::Value;
use std::time::Duration;
use url::form_urlencoded::byte_serialize;

/// The longest token.
const MAX_TOKEN_BYTES: usize = 16 << 10;
/// The longest lifetime of a token. Longer values are reduced.
const MAX_LIFETIME_SECONDS: u64 = 365 * 24 * 60 * 60;
/// The time before its expiry at which an access token is replaced. For a short lifetime, half of
/// the lifetime.
const MARGIN_SECONDS: u64 = 30;

/// An answer with tokens.
pub(super) struct Granted {
    access: String,
    refresh: Option<String>,
    lifetime_seconds: Option<u64>,
}

impl Granted {
    /// Returns the tokens to store, and when the access token expires. If the server returns no new refresh token, the
    /// old one stays valid.
    pub(super) fn tokens(
        self,
        now: Timestamp,
        (server, client): (Server, Client),
        old_refresh: Option<String>,
    ) -> (Tokens, Option<Timestamp>) {
        let after = |seconds| now.after(Duration::from_secs(seconds));
        let refresh_at = self.lifetime_seconds.map(|lifetime| {
            let margin = MARGIN_SECONDS.min(lifetime / 2);
            after(lifetime.saturating_sub(margin)).as_millis()
        });
        let tokens = Tokens {
            access: self.access,
            refresh: self.refresh.or(old_refresh),
            refresh_at,
            server,
            client,
        };
        (tokens, self.lifetime_seconds.map(after))
    }
}

/// Exchanges a code or a refresh token. `form` contains the parameters of the grant.
pub(super) async fn request(
    http: &Http,
    server: &Server,
    client: &Client,
    form: &[(&str, &str)],
) -> Result<Granted, OAuthError> {
    let mut form = form.to_vec();
    form.push(("resource", &server.resource));
    let answer = send(http, &server.token_endpoint, client, form).await?;
    read(&answer)
}

/// Revokes the tokens. Returns whether the server confirmed every revocation.
pub(super) async fn revoke(http: &Http, tokens: &Tokens) -> bool {
    let Some(endpoint) = &tokens.server.revocation_endpoint else {
        return false;
    };
    let refresh = tokens.refresh.iter().map(|token| (token, "refresh_token"));
    let all = refresh.chain([(&tokens.access, "access_token")]);
    let requests = all.map(async |(token, hint)| {
        let form = vec![("token", token.as_str()), ("token_type_hint", hint)];
        match send(http, endpoint, &tokens.client, form).await {
            Ok(answer) => answer.status == 200,
            Err(error) => {
                tracing::debug!(%error, "a token of an MCP server was not revoked");
                false
            }
        }
    });
    join_all(requests)
        .await
        .into_iter()
        .all(|is_revoked| is_revoked)
}

async fn send<'a>(
    http: &Http,
    endpoint: &url::Url,
    client: &'a Client,
    mut form: Vec<(&'a str, &'a str)>,
) -> Result<Answer, OAuthError> {
    let secret = client.secret.as_deref();
    let mut authorization = None;
    match (client.auth_method.as_str(), secret) {
        ("client_secret_basic", Some(secret)) => authorization = basic(&client.id, secret),
        ("client_secret_post", Some(secret)) => {
            form.push(("client_id", &client.id));
            form.push(("client_secret", secret));
        }
        _ => form.push(("client_id", &client.id)),
    }
    http.post_form(endpoint, &form, authorization).await
}

/// Returns the client's credentials, each form-encoded (RFC 6749, section 2.3.1 and appendix B).
fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encode(id), encode(secret));
    let value = format!("Basic {}", BASE64.encode(pair.as_bytes()));
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn read(answer: &Answer) -> Result<Granted, OAuthError> {
    let json = answer.json.as_ref();
    if answer.status != 200 {
        let code = json.and_then(|json| error_code(json.get("error")?.as_str()?));
        return Err(match code {
            // This matches only a definite refusal of the grant, because a failing server may
            // return any error.
            Some(code) if code == "invalid_grant" && answer.status < 500 => {
                OAuthError::InvalidGrant
            }
            Some(code) if answer.status < 500 && answer.status != 429 => OAuthError::Refused(code),
            _ => OAuthError::Status(answer.status),
        });
    }
    let json = json.ok_or(OAuthError::BadAnswer)?;
    let text = |name: &str| {
        json.get(name)
            .and_then(Value::as_str)
            .filter(|it| is_token(it))
    };
    let kind = json.get("token_type").and_then(Value::as_str);
    if kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(OAuthError::BadAnswer);
    }
    Ok(Granted {
        access: text("access_token")
            .ok_or(OAuthError::BadAnswer)?
            .to_owned(),
        refresh: text("refresh_token").map(str::to_owned),
        lifetime_seconds: json.get("expires_in").and_then(lifetime),
    })
}

/// Returns the lifetime in seconds. Without a usable number, the token is used until the server
/// refuses it.
fn lifetime(value: &Value) -> Option<u64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion from a float saturates"
    )]
    let seconds = number as u64;
    (seconds > 0).then_some(seconds.min(MAX_LIFETIME_SECONDS))
}

/// Returns whether a token fits into a header.
fn is_token(text: &str) -> bool {
    (1..=MAX_TOKEN_BYTES).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

/// Returns an error code if it can be shown to people (RFC 6749, section 5.2).
pub(super) fn error_code(code: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_code = (1..=64).contains(&code.len()) && code.chars().all(fits);
    is_code.then(|| code.to_owned())
}

#[cfg(test)]
mod tests;
