//! Requests to authorization servers, including requests for metadata.

use super::error::OAuthError;
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, read_capped};
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Method, Request, Response};
use serde_json::Value;
use std::time::Duration;
use url::{Host, Url};

/// The time limit for a request. It is shorter than the gateway's wait for its tasks at shutdown.
const TIME: Duration = Duration::from_secs(8);
/// The largest answer.
const MAX_BYTES: usize = 256 << 10;

/// Sends requests on behalf of one MCP server.
pub(super) struct Http {
    pub(super) outbound: Outbound,
    /// The URL of the MCP server, which the owner entered. All other addresses come from untrusted
    /// servers.
    pub(super) server: Url,
}

/// An answer with its JSON, if it is JSON.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) json: Option<Value>,
}

impl Http {
    pub(super) async fn get(&self, url: &Url) -> Result<Answer, OAuthError> {
        self.answer(Request::new(Method::GET, url.clone())).await
    }

    pub(super) async fn post_json(&self, url: &Url, body: &Value) -> Result<Answer, OAuthError> {
        let mut request = Request::new(Method::POST, url.clone());
        set(&mut request, "content-type", "application/json");
        *request.body_mut() = Some(body.to_string().into());
        self.answer(request).await
    }

    pub(super) async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        authorization: Option<HeaderValue>,
    ) -> Result<Answer, OAuthError> {
        let mut request = Request::new(Method::POST, url.clone());
        set(
            &mut request,
            "content-type",
            "application/x-www-form-urlencoded",
        );
        if let Some(value) = authorization {
            request.headers_mut().insert("authorization", value);
        }
        *request.body_mut() = Some(encoded(form).into());
        self.answer(request).await
    }

    /// Returns the headers of the response to a first message without a token.
    pub(super) async fn probe(&self, url: &Url) -> Result<(u16, HeaderMap), OAuthError> {
        let mut request = Request::new(Method::POST, url.clone());
        set(&mut request, "content-type", "application/json");
        set(
            &mut request,
            "accept",
            "application/json, text/event-stream",
        );
        let first = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "Gatehouse", "version": env!("CARGO_PKG_VERSION") },
        } });
        *request.body_mut() = Some(first.to_string().into());
        let response = self.send(request).await?;
        Ok((response.status().as_u16(), response.headers().clone()))
    }

    async fn answer(&self, mut request: Request) -> Result<Answer, OAuthError> {
        let accept = HeaderValue::from_static("application/json");
        request.headers_mut().insert(ACCEPT, accept);
        let answered = async {
            let response = self.send(request).await?;
            let status = response.status().as_u16();
            let (body, is_cut) = read_capped(response, MAX_BYTES).await?;
            Ok::<_, OAuthError>((status, body, is_cut))
        };
        let answered = tokio::time::timeout(TIME, answered).await;
        let (status, body, is_cut) = answered.map_err(|_| OutboundError::Timeout)??;
        let json = (!is_cut).then(|| serde_json::from_slice(&body).ok());
        let json = json.flatten();
        Ok(Answer { status, json })
    }

    async fn send(&self, mut request: Request) -> Result<Response, OAuthError> {
        check(request.url())?;
        *request.timeout_mut() = Some(TIME);
        let source = if request.url().origin() == self.server.origin() {
            AddressSource::Owner
        } else {
            AddressSource::Public
        };
        Ok(self.outbound.send(source, request).await?)
    }
}

/// Requires `https`, except on this machine.
pub(super) fn check(url: &Url) -> Result<(), OAuthError> {
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback => Ok(()),
        _ => Err(OAuthError::NotHttps),
    }
}

/// Encodes a form as `application/x-www-form-urlencoded`.
fn encoded(form: &[(&str, &str)]) -> String {
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form).finish()
}

fn set(request: &mut Request, name: &'static str, value: &'static str) {
    let value = HeaderValue::from_static(value);
    request.headers_mut().insert(name, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_may_use_plain_http() {
        let is_allowed = |url: &str| check(&Url::parse(url).unwrap()).is_ok();
        for url in [
            "https://a.example/x",
            "http://127.0.0.1:1/",
            "http://[::1]/",
            "http://localhost/",
        ] {
            assert!(is_allowed(url), "{url}");
        }
        for url in [
            "http://a.example/",
            "http://10.0.0.1/",
            "ftp://localhost/",
            "http://localhost.a.example/",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
    }
}
