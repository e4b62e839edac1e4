//! The client of a running server: JSON-RPC, and HTTP endpoints of the auth gate that have no method. Follows no
//! redirects, uses no proxy for loopback addresses, and trusts the self-signed certificate in this data directory.

mod connection;
mod error;
mod files;

use super::globals::Globals;
use super::{key_file, output};
use anyhow::Result;
use connection::http_client;
pub use connection::is_loopback;
pub use error::{ClientError, Refusal};
use gatehouse_config::Layers;
use reqwest::{Method, StatusCode, Url, header};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

/// A client for one server.
pub struct Client {
    http: reqwest::Client,
    url: Url,
    /// The header that authenticates: name and value.
    credential: Option<(header::HeaderName, SecretString)>,
}

impl Client {
    /// Creates a client for the server given by flags, environment and settings.
    pub fn new(globals: &Globals, layers: &Layers) -> Result<Self> {
        let mut client = Self::anonymous(globals, layers)?;
        let url = &client.url;
        let given = globals
            .api_key
            .clone()
            .or_else(|| layers.process().api_key.clone());
        let key = given.or_else(|| key_file::find(layers));
        if key.is_some() && url.scheme() == "http" && !is_loopback(url) {
            output::warn(format!("the API key is sent to {url} unencrypted"));
        }
        let bearer = key.map(|key| format!("Bearer {}", key.expose_secret()));
        client.credential = bearer.map(|text| (header::AUTHORIZATION, text.into()));
        Ok(client)
    }

    /// Does the same as [`Self::new`], without a credential.
    pub fn anonymous(globals: &Globals, layers: &Layers) -> Result<Self> {
        let url = globals.server_url(layers)?;
        Ok(Self {
            http: http_client(globals, layers, &url)?.build()?,
            url,
            credential: None,
        })
    }

    /// Does the same as [`Self::anonymous`], but the client accepts any certificate of this machine's own server, whose
    /// certificate may not have been issued yet. Use it only for requests that neither send nor receive a secret.
    pub fn unverified(globals: &Globals, layers: &Layers) -> Result<Self> {
        let url = globals.server_url(layers)?;
        let is_own = globals.given_url(layers)?.is_none();
        let builder = http_client(globals, layers, &url)?;
        Ok(Self {
            http: builder.tls_danger_accept_invalid_certs(is_own).build()?,
            url,
            credential: None,
        })
    }

    /// Replaces the credential by a session cookie.
    pub fn with_session(mut self, token: &str) -> Self {
        let cookie = format!("service_session={token}");
        self.credential = Some((header::COOKIE, cookie.into()));
        self
    }

    /// Returns the server's address.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the header that authenticates.
    pub fn credential(&self) -> Option<(&header::HeaderName, &str)> {
        self.credential
            .as_ref()
            .map(|(name, value)| (name, value.expose_secret()))
    }

    /// Sends a `GET` request.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        Ok(self.send(Method::GET, path, None).await?.0)
    }

    /// Sends a `POST` request.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        Ok(self.send(Method::POST, path, Some(body)).await?.0)
    }

    /// Logs in and returns the session token.
    pub async fn login(&self, password: &SecretString) -> Result<Option<String>, ClientError> {
        let body = json!({ "password": password.expose_secret() });
        let (_, headers) = self
            .send(Method::POST, "/api/auth/login", Some(&body))
            .await?;
        let cookies = headers
            .get_all(header::SET_COOKIE)
            .iter()
            .filter_map(|v| v.to_str().ok());
        Ok(cookies
            .filter_map(|cookie| cookie.split(';').next()?.strip_prefix("service_session="))
            .find(|token| !token.is_empty())
            .map(str::to_owned))
    }

    /// Calls a JSON-RPC method.
    pub async fn rpc(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (mut answer, _) = self.send(Method::POST, "/api/rpc", Some(&call)).await?;
        if let Some(error) = answer.get_mut("error").map(Value::take) {
            return Err(Refusal::of_rpc(error).into());
        }
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(ClientError::Strange {
                url: self.url.clone(),
                status: StatusCode::OK,
            }),
        }
    }

    /// Calls a paginated method and returns one record with all items.
    pub async fn list(&self, method: &str, name: &str) -> Result<Value, ClientError> {
        let (mut all, mut params) = (Vec::new(), json!({}));
        loop {
            let mut page = self.rpc(method, params).await?;
            if let Some(Value::Array(items)) = page.get_mut(name).map(Value::take) {
                all.extend(items);
            }
            match page.get("next_cursor") {
                Some(Value::String(next)) => params = json!({ "cursor": next }),
                _ => return Ok(json!({ name: all })),
            }
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(Value, header::HeaderMap), ClientError> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.answer_to(request).await
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        let request = self.http.request(method, url);
        match &self.credential {
            Some((name, value)) => request.header(name, value.expose_secret()),
            None => request,
        }
    }

    async fn answer_to(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<(Value, header::HeaderMap), ClientError> {
        let response = request.send().await;
        self.read_answer(response.map_err(|error| self.unreachable(error))?)
            .await
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        ClientError::Unreachable {
            url: self.url.clone(),
            source: source.without_url(),
        }
    }

    async fn read_answer(
        &self,
        response: reqwest::Response,
    ) -> Result<(Value, header::HeaderMap), ClientError> {
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await;
        let bytes = bytes.map_err(|error| self.unreachable(error))?;
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(answer) if status.is_success() => Ok((answer, headers)),
            Ok(Value::Object(fields)) if fields.contains_key("code") => {
                Err(Refusal::of_http(fields).into())
            }
            _ => Err(ClientError::Strange {
                url: self.url.clone(),
                status,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
