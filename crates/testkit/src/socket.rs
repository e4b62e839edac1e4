//! A WebSocket client.

use crate::Actor;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long a test waits for an expected frame.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A frame that a socket received.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    Json(Value),
    Bytes(Vec<u8>),
}

/// An open socket.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next_id: u64,
}

impl Socket {
    /// Opens a socket. Fails with the HTTP status if the upgrade is refused.
    pub async fn open(actor: &Actor, path: &str) -> Result<Self, u16> {
        let url = format!("ws://{}{path}", actor.address());
        let mut request = url.into_client_request().unwrap();
        for (name, value) in actor.headers() {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            request
                .headers_mut()
                .insert(name, HeaderValue::from_str(value).unwrap());
        }
        match connect_async(request).await {
            Ok((stream, _)) => Ok(Self { stream, next_id: 0 }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("the socket did not open: {error}"),
        }
    }

    /// Sends a text frame.
    pub async fn send(&mut self, text: impl Into<String>) {
        self.stream.send(Message::text(text.into())).await.unwrap();
    }

    /// Sends any frame.
    pub async fn send_frame(&mut self, frame: Message) -> Result<(), Error> {
        self.stream.send(frame).await
    }

    /// Returns the next text frame as JSON, or the close code.
    pub async fn next(&mut self) -> Result<Value, u16> {
        loop {
            if let Received::Json(value) = self.receive().await? {
                return Ok(value);
            }
        }
    }

    /// Returns the next text or binary frame, or the close code.
    pub async fn receive(&mut self) -> Result<Received, u16> {
        loop {
            let frame = tokio::time::timeout(TIMEOUT, self.stream.next()).await;
            match frame.expect("a frame or the end in time") {
                Some(Ok(Message::Text(text))) => {
                    return Ok(Received::Json(serde_json::from_str(&text).unwrap()));
                }
                Some(Ok(Message::Binary(bytes))) => return Ok(Received::Bytes(bytes.to_vec())),
                Some(Ok(Message::Close(frame))) => {
                    return Err(frame.map_or(1005, |frame| frame.code.into()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(1006),
            }
        }
    }

    /// Calls a method and waits for its answer, skipping events.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, u16> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        )
        .await;
        loop {
            let frame = self.next().await?;
            if frame["id"] == id {
                return Ok(frame);
            }
        }
    }

    /// Sends `connect` with these credentials. Returns the answer.
    pub async fn connect(&mut self, auth: Value) -> Result<Value, u16> {
        let client = json!({ "id": "test", "version": "1" });
        self.call("connect", json!({ "client": client, "auth": auth }))
            .await
    }

    /// Waits for the next event with this name. Returns its parameters.
    pub async fn event(&mut self, name: &str) -> Result<Value, u16> {
        loop {
            let frame = self.next().await?;
            if frame["method"] == name {
                return Ok(frame["params"].clone());
            }
        }
    }

    /// Waits until the socket is closed. Returns the close code.
    pub async fn closed(&mut self) -> u16 {
        loop {
            if let Err(code) = self.next().await {
                return code;
            }
        }
    }
}
