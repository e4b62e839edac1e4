//! Connects WebSockets (RFC 6455) as an upgraded HTTP request. The rules of [`crate::Outbound::send`] for addresses,
//! names and certificates therefore apply.

use crate::OutboundError;
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use reqwest::{Client, Request, Response, StatusCode, Upgraded};
use std::fmt;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message};
use url::Url;

/// A WebSocket to a server. Dropping it closes the connection without a close frame.
pub struct Socket(WebSocketStream<Upgraded>);

/// A message of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    Text(String),
    /// A ping, a pong or binary data: the connection works.
    Alive,
    /// The connection has ended, with the server's code if it sent one (RFC 6455, section 7.4).
    Closed(Option<u16>),
}

impl Socket {
    /// Waits for the server's next message. Answers pings. Dropping the future loses no message.
    pub async fn read(&mut self) -> Result<SocketEvent, OutboundError> {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Ok(SocketEvent::Text(text.as_str().to_owned())),
            Some(Ok(Message::Close(frame))) => {
                Ok(SocketEvent::Closed(frame.map(|frame| frame.code.into())))
            }
            Some(Ok(_)) => Ok(SocketEvent::Alive),
            Some(Err(_)) => Err(OutboundError::Interrupted),
            None => Ok(SocketEvent::Closed(None)),
        }
    }

    pub async fn send(&mut self, text: String) -> Result<(), OutboundError> {
        let sent = self.0.send(Message::text(text)).await;
        sent.map_err(|_| OutboundError::Interrupted)
    }

    /// Sends a close frame. The server's answer is a [`SocketEvent::Closed`].
    pub async fn close(&mut self) -> Result<(), OutboundError> {
        let sent = self.0.send(Message::Close(None)).await;
        sent.map_err(|_| OutboundError::Interrupted)
    }

    /// Sends a ping, which the server answers with a pong.
    pub async fn ping(&mut self) -> Result<(), OutboundError> {
        let sent = self.0.send(Message::Ping(Bytes::new())).await;
        sent.map_err(|_| OutboundError::Interrupted)
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}

/// Returns the URL of the HTTP request for a `ws` or `wss` URL.
pub(crate) fn http_url(url: &Url) -> Result<Url, OutboundError> {
    let bad = OutboundError::BadUrl("must begin with ws:// or wss://");
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        _ => return Err(bad),
    };
    let mut url = url.clone();
    url.set_scheme(scheme).map_err(|()| bad)?;
    Ok(url)
}

/// Creates the request of the opening handshake (RFC 6455, section 4.1). Returns the request and its key.
pub(crate) fn opening(client: &Client, url: Url) -> Result<(Request, String), OutboundError> {
    let key = generate_key();
    let request = client
        .get(url)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, &key)
        .build()?;
    Ok((request, key))
}

/// Checks the server's answer and takes over the connection. A received message may have up to `max_bytes`.
pub(crate) async fn accepted(
    response: Response,
    key: &str,
    max_bytes: usize,
) -> Result<Socket, OutboundError> {
    let accept = derive_accept_key(key.as_bytes());
    let answered = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    let is_accepted = response.status() == StatusCode::SWITCHING_PROTOCOLS
        && answered.map(HeaderValue::as_bytes) == Some(accept.as_bytes());
    if !is_accepted {
        return Err(OutboundError::BadResponse);
    }
    let upgraded = response.upgrade().await?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(max_bytes))
        .max_frame_size(Some(max_bytes));
    let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
    Ok(Socket(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_requested_like_a_page() {
        let of = |text: &str| http_url(&Url::parse(text).unwrap()).map(|url| url.to_string());
        assert_eq!(of("ws://a:1/b?c").as_deref(), Ok("http://a:1/b?c"));
        assert_eq!(of("wss://a/b").as_deref(), Ok("https://a/b"));
        for text in ["http://a/", "https://a/", "file:///a"] {
            assert!(matches!(of(text), Err(OutboundError::BadUrl(_))), "{text}");
        }
    }
}
