//! WebSockets: the loop that moves frames between a socket and its connection state machine in `rpc`.
//! What a message means is decided there; here are bytes, pings and the close handshake.

mod budget;
mod handshake;

use crate::app::App;
use crate::arrival::Arrival;
use crate::respond::Refusal;
use axum::extract::{Request, State};
use axum::response::Response;
use budget::{Budget, Budgeted};
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt, StreamExt};
use gatehouse_domain::Problem;
use gatehouse_rpc::connection::MAX_BYTES_BEFORE_AUTH;
use gatehouse_rpc::{Connection, Event, Finished, Input, Output, PathKind};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// How long a client may take to read one frame.
const SEND_TIMEOUT: Duration = Duration::from_secs(15);
/// How long the closing handshake may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the state machine is told that time has passed.
const TICK: Duration = Duration::from_secs(1);
/// What framing may add to the bytes of a message: a masked header is at most 14 bytes, and a client
/// may answer pings meanwhile.
const FRAMING_BYTES: u64 = 1024;

/// `/ws`: public at the gate; `connect` authenticates.
pub(crate) async fn node(State(app): State<App>, request: Request) -> Result<Response, Refusal> {
    open(&app, request, PathKind::Public)
}

/// `/ws/chat`: behind the gate.
pub(crate) async fn chat(State(app): State<App>, request: Request) -> Result<Response, Refusal> {
    open(&app, request, PathKind::Gated)
}

fn open(app: &App, mut request: Request, kind: PathKind) -> Result<Response, Refusal> {
    let response = handshake::answer(request.method(), request.headers())?;
    let arrival: Option<&Arrival> = request.extensions().get();
    let visit = arrival.ok_or_else(Problem::internal)?.visit.clone();
    let connection = Connection::open(app.rpc().clone(), visit, kind)?;
    let upgrade = hyper::upgrade::on(&mut request);
    let app = app.clone();
    app.clone().sockets().spawn(async move {
        match upgrade.await {
            Ok(upgraded) => run(&app, upgraded, connection).await,
            Err(error) => tracing::debug!(%error, "a WebSocket upgrade did not complete"),
        }
    });
    Ok(response)
}

type Frames = WebSocketStream<Budgeted<TokioIo<Upgraded>>>;
type Calls = FuturesUnordered<Pin<Box<dyn Future<Output = Finished> + Send>>>;

/// One socket, from upgrade to end.
struct Loop {
    frames: Frames,
    calls: Calls,
    connection: Connection,
    budget: Budget,
    /// Counts up when some credential ends.
    credentials: watch::Receiver<u64>,
}

/// Whether the loop goes on.
enum Next {
    GoOn,
    Stop,
}

async fn run(app: &App, upgraded: Upgraded, connection: Connection) {
    let _open = OpenSocket::count();
    let budget = Budget::of(MAX_BYTES_BEFORE_AUTH as u64 + FRAMING_BYTES);
    let config = WebSocketConfig::default()
        .read_buffer_size(8 * 1024)
        .write_buffer_size(0)
        .max_message_size(Some(app.max_message_bytes()))
        .max_frame_size(Some(app.max_message_bytes()));
    let stream = Budgeted::new(TokioIo::new(upgraded), budget.clone());
    let frames = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let credentials = app.auth().changed();
    let mut looped = Loop {
        frames,
        calls: Calls::new(),
        connection,
        budget,
        credentials,
    };
    looped.lift_budget();
    looped.until_closed(app).await;
}

impl Loop {
    async fn until_closed(&mut self, app: &App) {
        let mut events = app.rooms().events.subscribe();
        let mut tick = tokio::time::interval(TICK);
        loop {
            let input = tokio::select! {
                frame = self.frames.next() => match frame {
                    Some(frame) => of_frame(frame),
                    None => return,
                },
                Some(finished) = self.calls.next() => Some(Input::CallFinished(finished)),
                event = events.recv() => Some(of_event(event)),
                changed = self.credentials.changed() => match changed {
                    Ok(()) => Some(Input::CredentialChanged),
                    Err(_) => Some(Input::Shutdown),
                },
                _ = tick.tick() => Some(Input::Tick),
                () = app.shutdown().cancelled() => Some(Input::Shutdown),
            };
            if let Some(input) = input
                && matches!(self.feed(input).await, Next::Stop)
            {
                return;
            }
        }
    }

    async fn feed(&mut self, input: Input) -> Next {
        for output in self.connection.handle(input) {
            let sent = match output {
                Output::Send(text) => self.send(Message::text(text)).await,
                Output::Ping => self.send(Message::Ping(bytes::Bytes::new())).await,
                Output::Call(call) => {
                    self.calls.push(call);
                    Ok(())
                }
                Output::Close { code, reason } => {
                    self.close(code, reason).await;
                    return Next::Stop;
                }
            };
            if sent.is_err() {
                return Next::Stop;
            }
        }
        self.lift_budget();
        Next::GoOn
    }

    /// Who has authenticated may send as much as the message limit lets pass.
    fn lift_budget(&self) {
        if self.connection.is_authenticated() {
            self.budget.lift();
        }
    }

    /// Sends a frame. A client that does not read is not waited for, and a credential that ends
    /// meanwhile ends the socket without a word: there is no room for one.
    async fn send(&mut self, message: Message) -> Result<(), Error> {
        let sending = tokio::time::timeout(SEND_TIMEOUT, self.frames.send(message));
        let mut sending = std::pin::pin!(sending);
        loop {
            let changed = tokio::select! {
                sent = &mut sending => return sent.unwrap_or(Err(Error::ConnectionClosed)),
                changed = self.credentials.changed() => changed,
            };
            let outputs = self.connection.handle(Input::CredentialChanged);
            if changed.is_err() || !outputs.is_empty() {
                return Err(Error::ConnectionClosed);
            }
        }
    }

    /// Says why, then waits a little for the client to answer, so that it reads the reason.
    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame {
            code: code.into(),
            reason: reason.into(),
        };
        let farewell = async {
            if self.frames.close(Some(frame)).await.is_ok() {
                while let Some(Ok(_)) = self.frames.next().await {}
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, farewell).await;
    }
}

/// What a frame is to the connection; `None` for what the library answers by itself.
fn of_frame(frame: Result<Message, Error>) -> Option<Input> {
    match frame {
        Ok(Message::Text(text)) => Some(Input::Text(text.as_str().to_owned())),
        Ok(Message::Binary(_)) => Some(Input::Binary),
        Ok(Message::Pong(_)) => Some(Input::Pong),
        Err(Error::Capacity(_)) => Some(Input::Oversized),
        Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
            Some(Input::Oversized)
        }
        // What the library answers by itself; after an error the next read ends the stream.
        Ok(Message::Ping(_) | Message::Close(_) | Message::Frame(_)) | Err(_) => None,
    }
}

fn of_event(event: Result<Arc<Event>, RecvError>) -> Input {
    match event {
        Ok(event) => Input::Event(event),
        Err(RecvError::Lagged(_)) => Input::TooSlow,
        Err(RecvError::Closed) => Input::Shutdown,
    }
}

/// Counts open sockets in the metrics, whichever way they end.
struct OpenSocket;

impl OpenSocket {
    fn count() -> Self {
        metrics::gauge!("websocket_connections").increment(1.0);
        Self
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        metrics::gauge!("websocket_connections").decrement(1.0);
    }
}
