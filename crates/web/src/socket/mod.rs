//! WebSockets: the loop between a socket and its connection state machine in `rpc`. The state machine interprets
//! messages. This module handles bytes, pings and the closing handshake.

mod frames;
mod handshake;
#[cfg(feature = "voice")]
pub(crate) mod talk;

use crate::app::App;
use crate::arrival::Arrival;
use crate::connection_slots::ConnectionSlot;
use crate::respond::Refusal;
use axum::extract::{Request, State};
use axum::response::Response;
use frames::{Broken, Decoder, Incoming, Kind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gatehouse_domain::Problem;
use gatehouse_rpc::connection::MAX_BYTES_BEFORE_AUTH;
use gatehouse_rpc::memory_budget::Holder;
use gatehouse_rpc::{Connection, Event, Finished, Input, Output, PathKind};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The time limit for a client to read one frame.
const SEND_TIMEOUT: Duration = Duration::from_secs(15);
/// The time limit for the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// The interval between ticks of the state machine.
const TICK: Duration = Duration::from_secs(1);
/// The framing overhead allowed for a message, in bytes: a masked header is at most 14 bytes, and a client
/// may answer pings.
const FRAMING_BYTES: usize = 1024;
/// The size of the read buffer in bytes.
const READ_BYTES: usize = 8 * 1024;
/// Frames up to this size, in bytes, are written together with their header.
const SMALL_BYTES: usize = 16 * 1024;

/// `/ws`: public at the gate; `connect` authenticates the client.
pub(crate) async fn node(State(app): State<App>, request: Request) -> Result<Response, Refusal> {
    open(&app, request, PathKind::Public)
}

/// `/ws/chat`: the gate authenticates the client.
pub(crate) async fn chat(State(app): State<App>, request: Request) -> Result<Response, Refusal> {
    open(&app, request, PathKind::Gated)
}

fn open(app: &App, mut request: Request, kind: PathKind) -> Result<Response, Refusal> {
    let response = handshake::answer(request.method(), request.headers())?;
    let arrival: Option<&Arrival> = request.extensions().get();
    let Arrival { context, slot, .. } = arrival.ok_or_else(Problem::internal)?.clone();
    let connection = Connection::open(app.rpc().clone(), context, kind)?;
    let upgrade = hyper::upgrade::on(&mut request);
    let app = app.clone();
    app.clone().sockets().spawn(async move {
        match upgrade.await {
            Ok(upgraded) => run(&app, upgraded, connection, slot).await,
            Err(error) => tracing::debug!(%error, "a WebSocket upgrade did not complete"),
        }
    });
    Ok(response)
}

type Calls = FuturesUnordered<Pin<Box<dyn Future<Output = Finished> + Send>>>;

/// One socket, from the upgrade to its end.
struct Loop {
    stream: TokioIo<Upgraded>,
    decoder: Decoder,
    calls: Calls,
    connection: Connection,
    /// How many bytes the client may still send before authentication.
    left_before_auth: usize,
    /// Incremented when any credential ends.
    credentials: watch::Receiver<u64>,
    /// The slot among the server's connections.
    slot: ConnectionSlot,
}

/// Whether the loop continues.
enum Next {
    GoOn,
    Stop,
}

async fn run(app: &App, upgraded: Upgraded, connection: Connection, slot: ConnectionSlot) {
    let _open = OpenSocket::count();
    let mut looped = Loop {
        stream: TokioIo::new(upgraded),
        decoder: Decoder::new(app.rpc().budget().clone()),
        calls: Calls::new(),
        connection,
        left_before_auth: MAX_BYTES_BEFORE_AUTH + FRAMING_BYTES,
        credentials: app.auth().changed(),
        slot,
    };
    looped.note_authenticated();
    looped.until_closed(app).await;
}

impl Loop {
    async fn until_closed(&mut self, app: &App) {
        let mut events = app.rpc().events().subscribe();
        let mut tick = tokio::time::interval(TICK);
        let evicted = self.connection.evicted();
        let ended = self.slot.ended();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let input = tokio::select! {
                read = self.stream.read(&mut buffer) => {
                    let Ok(count @ 1..) = read else { return };
                    let bytes = buffer.get(..count).unwrap_or_default();
                    match self.received(bytes).await {
                        Next::GoOn => continue,
                        Next::Stop => return,
                    }
                }
                Some(finished) = self.calls.next() => Input::CallFinished(finished),
                event = events.recv() => of_event(event),
                changed = self.credentials.changed() => match changed {
                    Ok(()) => Input::CredentialChanged,
                    Err(_) => Input::Shutdown,
                },
                _ = tick.tick() => Input::Tick,
                () = waiting(&evicted, &ended), if !self.connection.is_authenticated() => Input::Evicted,
                () = app.shutdown().cancelled() => Input::Shutdown,
            };
            if matches!(self.feed(input).await, Next::Stop) {
                return;
            }
        }
    }

    /// Processes received bytes.
    async fn received(&mut self, mut bytes: &[u8]) -> Next {
        if !self.connection.is_authenticated() {
            match self.left_before_auth.checked_sub(bytes.len()) {
                Some(left) => self.left_before_auth = left,
                None => return self.feed(Input::Oversized).await,
            }
        }
        loop {
            let (most, holder) = (
                self.connection.max_message_bytes(),
                self.connection.holder(),
            );
            let input = match self.decoder.read(&mut bytes, most, &holder) {
                Ok(None) => return Next::GoOn,
                Ok(Some(Incoming::Text(text, held))) => Input::Counted(text, held),
                Ok(Some(Incoming::Binary | Incoming::Bytes(..))) => Input::Binary,
                Ok(Some(Incoming::Pong)) => Input::Pong,
                Ok(Some(Incoming::Ping(payload))) => match self.send(Kind::Pong, &payload).await {
                    Ok(()) => continue,
                    Err(_) => return Next::Stop,
                },
                Ok(Some(Incoming::Close(answer))) => {
                    drop(self.send(Kind::Close, &answer).await);
                    return Next::Stop;
                }
                Err(Broken::TooLong) => Input::Oversized,
                Err(Broken::NoRoom) => Input::NoRoom,
                // Close codes from RFC 6455, section 7.4.1.
                Err(Broken::NotText) => return self.close(1007, "not UTF-8").await,
                Err(Broken::Protocol) => return self.close(1002, "protocol error").await,
            };
            if matches!(self.feed(input).await, Next::Stop) {
                return Next::Stop;
            }
        }
    }

    async fn feed(&mut self, input: Input) -> Next {
        for output in self.connection.handle(input) {
            let sent = match output {
                Output::Send(text) => self.send(Kind::Text, text.as_bytes()).await,
                Output::Ping => self.send(Kind::Ping, &[]).await,
                Output::Call(call) => {
                    self.calls.push(call);
                    Ok(())
                }
                Output::Answered(guard) => {
                    drop(guard);
                    Ok(())
                }
                Output::Close { code, reason } => return self.close(code, reason).await,
            };
            if sent.is_err() {
                return Next::Stop;
            }
        }
        self.note_authenticated();
        Next::GoOn
    }

    /// Exempts the connection from eviction once the client is authenticated.
    fn note_authenticated(&self) {
        if self.connection.is_authenticated() {
            self.slot.keep();
        }
    }

    /// Sends a frame. Fails if the client does not read it in time or if its credential ends before that. The socket
    /// then ends without a close frame, because the unfinished frame blocks it.
    async fn send(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::ConnectionAborted);
        let writing = write(&mut self.stream, kind, payload);
        let mut writing = std::pin::pin!(tokio::time::timeout(SEND_TIMEOUT, writing));
        loop {
            let changed = tokio::select! {
                written = &mut writing => return written.unwrap_or_else(|_| Err(gone())),
                changed = self.credentials.changed() => changed,
            };
            let outputs = self.connection.handle(Input::CredentialChanged);
            if changed.is_err() || !outputs.is_empty() {
                return Err(gone());
            }
        }
    }

    /// Sends the close reason and waits briefly for the client's close frame. This lets the client read the reason.
    async fn close(&mut self, code: u16, reason: &'static str) -> Next {
        let holder = self.connection.holder();
        farewell(&mut self.stream, &mut self.decoder, &holder, (code, reason)).await;
        Next::Stop
    }
}

/// Sends the close reason and waits briefly for the client's close frame.
async fn farewell(
    stream: &mut TokioIo<Upgraded>,
    decoder: &mut Decoder,
    holder: &Holder,
    (code, reason): (u16, &str),
) {
    let payload = [&code.to_be_bytes(), reason.as_bytes()].concat();
    decoder.close();
    let farewell = async {
        write(stream, Kind::Close, &payload).await?;
        let mut buffer = vec![0; READ_BYTES];
        while let count @ 1.. = stream.read(&mut buffer).await? {
            let mut bytes = buffer.get(..count).unwrap_or_default();
            loop {
                match decoder.read(&mut bytes, usize::MAX, holder) {
                    Ok(None) => break,
                    Ok(Some(Incoming::Close(_))) | Err(_) => return Ok(()),
                    Ok(Some(_)) => {}
                }
            }
        }
        io::Result::Ok(())
    };
    drop(tokio::time::timeout(CLOSE_TIMEOUT, farewell).await);
}

/// Waits until the socket or its connection must make room for another one.
async fn waiting(evicted: &CancellationToken, ended: &CancellationToken) {
    tokio::select! {
        () = evicted.cancelled() => {}
        () = ended.cancelled() => {}
    }
}

/// Writes a frame without copying a large payload.
async fn write(stream: &mut TokioIo<Upgraded>, kind: Kind, payload: &[u8]) -> io::Result<()> {
    let mut header = frames::header_of(kind, payload.len());
    if payload.len() <= SMALL_BYTES {
        header.extend_from_slice(payload);
        stream.write_all(&header).await?;
    } else {
        stream.write_all(&header).await?;
        stream.write_all(payload).await?;
    }
    stream.flush().await
}

fn of_event(event: Result<Arc<Event>, RecvError>) -> Input {
    match event {
        Ok(event) => Input::Event(event),
        Err(RecvError::Lagged(_)) => Input::TooSlow,
        Err(RecvError::Closed) => Input::Shutdown,
    }
}

/// Counts open sockets in the metrics until it is dropped.
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
