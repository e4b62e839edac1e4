//! `/ws/talk`: the loop between a socket and a spoken conversation of the `voice` crate. This module handles the
//! caller's credential, limits and bytes.

mod allowance;
pub(crate) mod places;

use super::frames::{Broken, Decoder, Incoming, Kind};
use super::{OpenSocket, READ_BYTES, SEND_TIMEOUT, TICK, farewell, handshake, write};
use crate::app::App;
use crate::arrival::Arrival;
use crate::respond::Refusal;
use allowance::Allowance;
use axum::extract::{Request, State};
use axum::response::Response;
use gatehouse_auth::{AuthIdentity, BeforeSetup, Decision, RequestContext};
use gatehouse_domain::{Actor, ErrorCode, Problem, Scope};
use gatehouse_rpc::memory_budget::Holder;
use gatehouse_secrets::Status;
use gatehouse_services::to_problem;
use gatehouse_voice::{
    Admit, Talk, TalkInput, TalkMessage, TalkOutput, TalkParts, TalkStart, error_message,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use places::TalkPlace;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::watch;
use tokio::time::Instant;

/// The maximum size of a message in bytes: two seconds of audio at 16 kHz.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// The time limit for the client's `start` message.
const START_WITHIN: Duration = Duration::from_secs(10);
/// The time without a message after which the client is pinged. After [`GONE_AFTER`], its socket is closed.
const PING_AFTER: Duration = Duration::from_secs(30);
const GONE_AFTER: Duration = Duration::from_secs(90);
/// The interval for checking again whether credentials can be confirmed.
const CONFIRM_AGAIN: Duration = Duration::from_millis(100);
/// The maximum duration of a conversation.
const MAX_DURATION: Duration = Duration::from_hours(2);
/// The maximum number of messages that wait for the conversation, and for the socket.
const INPUTS: usize = 64;
const OUTPUTS: usize = 4;

/// Opens the socket. The gate and the route's row have already authenticated the caller.
pub(crate) async fn open(
    State(app): State<App>,
    mut request: Request,
) -> Result<Response, Refusal> {
    let response = handshake::answer(request.method(), request.headers())?;
    let arrival: Option<&Arrival> = request.extensions().get();
    let Arrival { context, slot, .. } = arrival.ok_or_else(Problem::internal)?.clone();
    let Decision::Allowed(identity) = context.decision.clone() else {
        return Err(Problem::internal().into());
    };
    app.auth().require_setup_first(&identity)?;
    let holder = Holder::of(&context);
    let place = app.talks().admit(holder.clone());
    let place = place.ok_or_else(|| Problem::rate_limited(1000))?;
    slot.keep();
    let upgrade = hyper::upgrade::on(&mut request);
    app.clone().sockets().spawn(async move {
        let _slot = slot;
        match upgrade.await {
            Ok(upgraded) => run(app, upgraded, context, identity, place).await,
            Err(error) => tracing::debug!(%error, "a WebSocket upgrade did not complete"),
        }
    });
    Ok(response)
}

/// One socket, from the upgrade to its end.
struct TalkSocket {
    app: App,
    stream: TokioIo<Upgraded>,
    decoder: Decoder,
    holder: Holder,
    actor: Actor,
    identity: AuthIdentity,
    /// Incremented when any credential ends.
    credentials: watch::Receiver<u64>,
    opened: Instant,
    /// When the client last sent something, and when it was pinged.
    heard: Instant,
    pinged: Instant,
    /// The conversation; `None` until it has started.
    talk: Option<(Sender<TalkInput>, Allowance)>,
}

/// Why a socket ends.
enum End {
    /// The client closed the socket, or the connection broke.
    Gone,
    /// A close code and a reason.
    Close(u16, &'static str),
    /// The problem, and a message about it.
    Refused(Problem, &'static str),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

async fn run(
    app: App,
    upgraded: Upgraded,
    context: RequestContext,
    identity: AuthIdentity,
    _place: TalkPlace,
) {
    let _open = OpenSocket::count();
    let now = Instant::now();
    let mut socket = TalkSocket {
        stream: TokioIo::new(upgraded),
        decoder: Decoder::new(app.rpc().budget().clone()).with_binary(),
        holder: Holder::of(&context),
        actor: context.actor(),
        credentials: app.auth().changed(),
        identity,
        opened: now,
        heard: now,
        pinged: now,
        talk: None,
        app,
    };
    let end = socket.until_ended().await;
    // Dropping the input ends the conversation.
    socket.talk = None;
    match end {
        End::Gone => {}
        End::Close(code, reason) => socket.close(code, reason).await,
        End::Refused(problem, reason) => {
            let code = problem.code.close_code();
            let message = error_message(problem);
            let written = socket.send(Kind::Text, message.as_bytes()).await;
            if written.is_ok() {
                socket.close(code, reason).await;
            }
        }
    }
}

impl TalkSocket {
    async fn until_ended(&mut self) -> End {
        // The conversation's channel replaces this one when the conversation starts.
        let (_none, mut outputs) = mpsc::channel(1);
        let mut tick = tokio::time::interval(TICK);
        let shutdown = self.app.shutdown().clone();
        let mut buffer = vec![0; READ_BYTES];
        // The answer is withheld while this node cannot check which credentials other nodes have
        // revoked.
        let mut withheld = None;
        loop {
            let is_confirmed = self.app.auth().memory_is_fresh();
            if is_confirmed && let Some(output) = withheld.take() {
                if let Err(end) = self.pass(output).await {
                    return end;
                }
                continue;
            }
            let step = tokio::select! {
                read = self.stream.read(&mut buffer) => match read {
                    Ok(count @ 1..) => {
                        self.heard = Instant::now();
                        let bytes = buffer.get(..count).unwrap_or_default();
                        self.received(bytes, &mut outputs).await
                    }
                    _ => Err(End::Gone),
                },
                output = outputs.recv(), if is_confirmed => match output {
                    Some(output) => {
                        withheld = Some(output);
                        Ok(())
                    }
                    None => Err(End::Refused(slow(), "too slow")),
                },
                changed = self.credentials.changed() => match changed {
                    Ok(()) => self.check_credential(),
                    Err(_) => Err(stopping()),
                },
                () = tokio::time::sleep(CONFIRM_AGAIN), if !is_confirmed => Ok(()),
                _ = tick.tick() => self.tick().await,
                () = shutdown.cancelled() => Err(stopping()),
            };
            if let Err(end) = step {
                return end;
            }
        }
    }

    /// Processes received bytes.
    async fn received(
        &mut self,
        mut bytes: &[u8],
        outputs: &mut Receiver<TalkOutput>,
    ) -> Result<(), End> {
        loop {
            let read = self
                .decoder
                .read(&mut bytes, MAX_MESSAGE_BYTES, &self.holder);
            match read {
                Ok(None) => return Ok(()),
                Ok(Some(Incoming::Text(text, _held))) => self.text(&text, outputs).await?,
                Ok(Some(Incoming::Bytes(audio, _held))) => self.audio(audio).await?,
                Ok(Some(Incoming::Binary | Incoming::Pong)) => {}
                Ok(Some(Incoming::Ping(payload))) => self.send(Kind::Pong, &payload).await?,
                Ok(Some(Incoming::Close(answer))) => {
                    drop(self.send(Kind::Close, &answer).await);
                    return Err(End::Gone);
                }
                Err(Broken::TooLong) => {
                    let problem = Problem::too_large("message", MAX_MESSAGE_BYTES);
                    return Err(End::Refused(problem, "message too long"));
                }
                Err(Broken::NoRoom) => {
                    let problem = Problem::rate_limited(1000);
                    return Err(End::Refused(problem, "no memory for the message"));
                }
                // Close codes from RFC 6455, section 7.4.1.
                Err(Broken::NotText) => return Err(End::Close(1007, "not UTF-8")),
                Err(Broken::Protocol) => return Err(End::Close(1002, "protocol error")),
            }
        }
    }

    async fn text(&mut self, text: &str, outputs: &mut Receiver<TalkOutput>) -> Result<(), End> {
        let malformed = |error: serde_json::Error| {
            let message = format!("The message is not a valid message of a conversation: {error}");
            let problem = Problem::new(ErrorCode::InvalidRequest, message);
            End::Refused(problem, "malformed message")
        };
        let message: TalkMessage = serde_json::from_str(text).map_err(malformed)?;
        let input = match (message, &self.talk) {
            (TalkMessage::Start(start), None) => {
                *outputs = self.start(*start).await?;
                return Ok(());
            }
            (TalkMessage::Start(_), Some(_)) | (_, None) => return Err(out_of_order()),
            (TalkMessage::Commit {}, Some(_)) => TalkInput::Commit,
            (TalkMessage::Stop {}, Some(_)) => TalkInput::Stop,
        };
        self.pass_on(input).await
    }

    async fn audio(&mut self, audio: Vec<u8>) -> Result<(), End> {
        let Some((_, allowance)) = &mut self.talk else {
            return Err(out_of_order());
        };
        if !audio.len().is_multiple_of(2) {
            let message = "A binary message has whole samples of two bytes.";
            let problem = Problem::new(ErrorCode::InvalidRequest, message);
            return Err(End::Refused(problem, "half a sample"));
        }
        let taken = allowance.take(audio.len(), Instant::now());
        taken.map_err(|problem| End::Refused(problem, "too much audio"))?;
        self.pass_on(TalkInput::Audio(audio.into())).await
    }

    /// Waits until the conversation accepts the input. A client therefore cannot send faster than its input is
    /// processed.
    async fn pass_on(&mut self, input: TalkInput) -> Result<(), End> {
        let ended = || End::Refused(slow(), "too much at once");
        let (talk, _) = self.talk.as_mut().ok_or_else(ended)?;
        let taken = tokio::time::timeout(SEND_TIMEOUT, talk.send(input)).await;
        match taken {
            Ok(Ok(())) => Ok(()),
            _ => Err(ended()),
        }
    }

    async fn start(&mut self, start: TalkStart) -> Result<Receiver<TalkOutput>, End> {
        let refused = |problem| End::Refused(problem, "cannot start");
        let admit = self.admit();
        admit().await.map_err(refused)?;
        let services = self.app.services();
        let parts = TalkParts {
            voice: services.voice.clone(),
            agents: services.agents.clone(),
            actor: self.actor.clone(),
            admit,
            approves: self.identity.allows(Scope::Approvals)
                && self.identity.may_call("approval.list"),
        };
        let rate = start.rate_or_default();
        let talk = Talk::open(parts, start).await.map_err(to_problem);
        let talk = talk.map_err(refused)?;
        let (input, inputs) = mpsc::channel(INPUTS);
        let (output, outputs) = mpsc::channel(OUTPUTS);
        self.talk = Some((input, Allowance::new(rate, Instant::now())));
        let guard = self.app.auth().guard(&self.identity, BeforeSetup::AsSet);
        let running = guard.over(talk.run(inputs, output));
        self.app.sockets().spawn(running);
        Ok(outputs)
    }

    /// Returns the check before each utterance: the credential is still valid, and the vault is
    /// unlocked.
    fn admit(&self) -> Admit {
        let (app, identity) = (self.app.clone(), self.identity.clone());
        Arc::new(move || {
            let (app, identity) = (app.clone(), identity.clone());
            Box::pin(async move {
                let auth = app.auth();
                auth.require_live(&identity).await?;
                auth.require_scope(&identity, Scope::Write)?;
                auth.require_setup_first(&identity)?;
                if app.secrets().status() == Status::Sealed {
                    return Err(Problem::vault_sealed());
                }
                Ok(())
            })
        })
    }

    fn check_credential(&self) -> Result<(), End> {
        let (auth, now) = (self.app.auth(), self.app.services().clock.now());
        let has_expired = auth.expires_at(&self.identity).is_some_and(|at| at <= now);
        if !auth.is_live(&self.identity) || has_expired {
            let code = ErrorCode::NotAuthenticated.close_code();
            return Err(End::Close(code, "credential ended"));
        }
        Ok(())
    }

    async fn tick(&mut self) -> Result<(), End> {
        self.check_credential()?;
        let timeout = |message: &str| Problem::new(ErrorCode::Timeout, message);
        if self.talk.is_none() && self.opened.elapsed() >= START_WITHIN {
            let problem = timeout("`start` was not received in time.");
            return Err(End::Refused(problem, "no start in time"));
        }
        if self.opened.elapsed() >= MAX_DURATION {
            let problem = timeout("The conversation has reached its maximum duration.");
            return Err(End::Refused(problem, "too long"));
        }
        if self.heard.elapsed() >= GONE_AFTER {
            let code = ErrorCode::Timeout.close_code();
            return Err(End::Close(code, "no answer to pings"));
        }
        if self.heard.elapsed() >= PING_AFTER && self.pinged.elapsed() >= PING_AFTER {
            self.pinged = Instant::now();
            self.send(Kind::Ping, &[]).await?;
        }
        Ok(())
    }

    async fn pass(&mut self, output: TalkOutput) -> Result<(), End> {
        match output {
            TalkOutput::Message(text) => self.send(Kind::Text, text.as_bytes()).await?,
            TalkOutput::Audio(bytes, cancel) => {
                if !cancel.is_cancelled() {
                    self.send(Kind::Binary, &bytes).await?;
                }
            }
        }
        Ok(())
    }

    /// Sends a frame. Fails if the client does not read it in time or if its credential ends before that.
    async fn send(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::ConnectionAborted);
        let writing = write(&mut self.stream, kind, payload);
        let mut writing = std::pin::pin!(tokio::time::timeout(SEND_TIMEOUT, writing));
        loop {
            let changed = tokio::select! {
                written = &mut writing => return written.unwrap_or_else(|_| Err(gone())),
                changed = self.credentials.changed() => changed,
            };
            if changed.is_err() || !self.app.auth().is_live(&self.identity) {
                return Err(gone());
            }
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let Self {
            stream,
            decoder,
            holder,
            ..
        } = self;
        farewell(stream, decoder, holder, (code, reason)).await;
    }
}

// 1012 is "service restart" in the IANA registry of close codes; clients reconnect.
const fn stopping() -> End {
    End::Close(1012, "server is stopping")
}

fn slow() -> Problem {
    let message =
        "The client does not read what is sent to it, or sends more than can be processed.";
    Problem {
        message: message.to_owned(),
        ..Problem::rate_limited(1000)
    }
}

fn out_of_order() -> End {
    let message = "The first message must be `start`, and it can be sent only once.";
    let problem = Problem::new(ErrorCode::InvalidRequest, message);
    End::Refused(problem, "not started")
}
