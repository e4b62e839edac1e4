//! Accepts WebSockets for fake vendors.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

/// A connection of a client, and the path and query that it asked for.
pub struct Client {
    pub target: String,
    /// Whether the client has announced the end of the connection.
    pub has_closed: bool,
    socket: WebSocketStream<TcpStream>,
}

impl Client {
    /// Waits for a message; `None` once the connection has ended.
    pub async fn read(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(text.as_str()).unwrap()),
                Message::Close(_) => {
                    self.has_closed = true;
                    return None;
                }
                _ => {}
            }
        }
    }

    pub async fn send(&mut self, message: Value) {
        // A disconnected client gets the message on its next connection.
        drop(self.socket.send(Message::text(message.to_string())).await);
    }

    /// Waits until the client has gone.
    pub async fn wait_for_end(&mut self) {
        while self.read().await.is_some() {}
    }

    pub async fn close(mut self, code: u16) {
        let reason = "".into();
        let frame = CloseFrame {
            code: code.into(),
            reason,
        };
        drop(self.socket.close(Some(frame)).await);
    }
}

/// Listens on a free port and handles each connection. Returns the URL, which has no path.
pub async fn listen<F, W>(handle: F) -> String
where
    F: Fn(Client) -> W + Clone + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let accept = async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let handle = handle.clone();
            let serve = async move {
                let mut target = String::new();
                #[expect(clippy::result_large_err, reason = "the library's type")]
                let note = |request: &Request, response: Response| {
                    target = request.uri().to_string();
                    Ok(response)
                };
                if let Ok(socket) = accept_hdr_async(stream, note).await {
                    let client = Client {
                        target,
                        has_closed: false,
                        socket,
                    };
                    handle(client).await;
                }
            };
            #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
            tokio::spawn(serve);
        }
    };
    #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
    tokio::spawn(accept);
    url
}
