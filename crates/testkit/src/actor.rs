//! A caller of the server: its address, host name and credential.

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A caller.
#[derive(Clone, Debug)]
pub struct Actor {
    client: reqwest::Client,
    address: SocketAddr,
    headers: Vec<(String, String)>,
}

/// A response with its whole body.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Reply {
    /// Returns the body as JSON, or `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// Returns the error code in the body, or an empty string if there is none.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the value of the session cookie that this response sets.
    pub fn session_cookie(&self) -> Option<String> {
        let cookies = self.headers.get_all("set-cookie").iter();
        cookies
            .filter_map(|line| line.to_str().ok()?.strip_prefix("service_session="))
            .filter_map(|rest| rest.split(';').next())
            .find(|value| !value.is_empty())
            .map(str::to_owned)
    }

    /// Asserts the status and returns the body.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.json()
    }

    /// Asserts the status and the error code. Returns the body.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(
            (self.status.as_u16(), self.code().as_str()),
            (status, code),
            "{}",
            self.text
        );
        self.json()
    }
}

impl Actor {
    /// Returns a browser or program on this machine.
    pub fn local(address: SocketAddr) -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        Self {
            client,
            address,
            headers: Vec::new(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes the caller remote. It then reaches the server under a public name.
    #[must_use]
    pub fn remote(self) -> Self {
        self.with("host", "gate.example")
    }

    /// Makes the caller a proxy that forwards for `client`.
    #[must_use]
    pub fn proxied(self, client: &str) -> Self {
        self.with("x-forwarded-for", client)
    }

    /// Adds a session cookie.
    #[must_use]
    pub fn session(self, cookie: &str) -> Self {
        self.with("cookie", &format!("service_session={cookie}"))
    }

    /// Adds an API key.
    #[must_use]
    pub fn bearer(self, key: &str) -> Self {
        self.with("authorization", &format!("Bearer {key}"))
    }

    /// Changes the server's address, as after a restart.
    #[must_use]
    pub const fn at(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the headers that this caller sends.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Starts a request with this caller's headers.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self
            .client
            .request(method, format!("http://{}{path}", self.address));
        self.headers.iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Reply {
        read(self.request("GET", path).send().await.unwrap()).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.send("POST", path, Some(body)).await
    }

    /// Sends a PATCH request with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.send("PATCH", path, Some(body)).await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, None).await
    }

    /// Sends any method, optionally with a JSON body.
    pub async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        read(request.send().await.unwrap()).await
    }

    /// Sends any method, with these bytes unchanged.
    pub async fn send_bytes(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: impl Into<Vec<u8>>,
    ) -> Reply {
        let request = self.request(method, path).body(body.into());
        let request = match content_type {
            Some(content_type) => request.header("content-type", content_type),
            None => request,
        };
        read(request.send().await.unwrap()).await
    }

    /// Makes an RPC call over HTTP. Returns the whole reply.
    pub async fn rpc_reply(&self, method: &str, params: Value) -> Reply {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post("/api/rpc", call).await
    }

    /// Makes an RPC call over HTTP. Returns the result, or the error's code.
    pub async fn rpc(&self, method: &str, params: Value) -> Result<Value, String> {
        let answer = self.rpc_reply(method, params).await.expect(200);
        match answer.get("error") {
            Some(error) => Err(error["data"]["code"]
                .as_str()
                .unwrap_or_default()
                .to_owned()),
            None => Ok(answer["result"].clone()),
        }
    }
}

/// Reads a response to its end.
pub async fn read(response: Response) -> Reply {
    let (status, headers) = (response.status(), response.headers().clone());
    Reply {
        status,
        headers,
        text: response.text().await.unwrap_or_default(),
    }
}
