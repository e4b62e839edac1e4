//! The state machine of one WebSocket connection, without the socket. The loop in `web` feeds it inputs and executes
//! its outputs. This module must not depend on axum. Its only source of time is the injected clock.

mod closing;
mod events;
pub mod heartbeat;
mod io;
mod messages;

use crate::dispatch::{Rpc, not_authenticated};
use crate::envelope::Id;
use crate::events::Event;
use crate::memory_budget::{Holder, Share};
use crate::order::Line;
use crate::unauthenticated_sockets::SocketGuard;
use gatehouse_auth::{AuthIdentity, Decision, RequestContext};
use gatehouse_domain::{ErrorCode, Problem};
use heartbeat::{Beat, Heartbeat};
pub use io::{Finished, Input, Output};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The time in which an unauthenticated client must send `connect`, in milliseconds.
pub const CONNECT_WITHIN_MS: u64 = 10_000;
/// The maximum message size before authentication.
pub const MAX_BYTES_BEFORE_AUTH: usize = 64 * 1024;
/// The maximum number of running calls per connection.
pub const MAX_CALLS: usize = 64;

/// The maximum number of events that a connection holds while its credential cannot be confirmed.
pub const MAX_WITHHELD: usize = 256;

/// The kind of path that the socket was opened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// `/ws`: open to everyone. An unauthenticated client must send `connect`.
    Public,
    /// Any other `/ws/*` path: requires authentication before the upgrade.
    Gated,
}

#[derive(Debug)]
enum State {
    /// Not authenticated; `connect` must arrive before the deadline.
    Waiting {
        deadline_ms: u64,
    },
    /// The credential in `connect` is being checked.
    Connecting,
    Ready(AuthIdentity),
    Closed,
}

/// The state of one connection.
#[derive(Debug)]
pub struct Connection {
    rpc: Rpc,
    context: Arc<RequestContext>,
    state: State,
    heartbeat: Heartbeat,
    /// The number of running calls and the bytes of their messages.
    calls: usize,
    bytes: usize,
    /// The messages that must be processed in order.
    line: Line,
    /// Messages that arrived while `connect` was being checked.
    queued: VecDeque<(String, Option<Share>)>,
    /// Events that wait until the credential can be confirmed, at most [`MAX_WITHHELD`].
    withheld: VecDeque<Arc<Event>>,
    /// The slot among the unauthenticated sockets.
    place: Option<SocketGuard>,
}

impl Connection {
    /// Creates a connection for an upgrade with this context. Fails if the client is unauthenticated on a gated path,
    /// or if there are too many unauthenticated sockets. Answer the upgrade with the error.
    pub fn open(rpc: Rpc, context: RequestContext, path: PathKind) -> Result<Self, Problem> {
        let now = rpc.services().clock.monotonic_ms();
        let heartbeat = Heartbeat::begin(now);
        let (state, place) = match &context.decision {
            Decision::Allowed(identity) => (State::Ready(identity.clone()), None),
            _ if path == PathKind::Gated => return Err(not_authenticated(&context)),
            _ => {
                let place = rpc
                    .census()
                    .admit(context.client.key, context.client.limit_factor);
                let place = place.ok_or_else(|| Problem::rate_limited(CONNECT_WITHIN_MS))?;
                (
                    State::Waiting {
                        deadline_ms: now.saturating_add(CONNECT_WITHIN_MS),
                    },
                    Some(place),
                )
            }
        };
        let context = Arc::new(context);
        let queued = VecDeque::new();
        Ok(Self {
            rpc,
            context,
            state,
            heartbeat,
            calls: 0,
            bytes: 0,
            line: Line::default(),
            queued,
            withheld: VecDeque::new(),
            place,
        })
    }

    pub const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    pub const fn is_authenticated(&self) -> bool {
        matches!(self.state, State::Ready(_))
    }

    /// Returns the holder to which this connection's message bytes are charged.
    pub fn holder(&self) -> Holder {
        Holder::of(&self.context)
    }

    /// Returns a token that is canceled when this unauthenticated connection must make room for
    /// another one. Feed [`Input::Evicted`] then.
    pub fn evicted(&self) -> CancellationToken {
        let place = self.place.as_ref();
        place.map_or_else(CancellationToken::new, SocketGuard::evicted)
    }

    /// Returns the maximum message size in the current state.
    pub fn max_message_bytes(&self) -> usize {
        match self.state {
            State::Ready(_) => self.rpc.services().config.max_message_bytes(),
            _ => MAX_BYTES_BEFORE_AUTH,
        }
    }

    /// Processes an input and returns the outputs to execute, in order.
    pub fn handle(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        if self.is_closed() {
            return out;
        }
        if self.credential_ended() {
            self.close(
                &mut out,
                ErrorCode::NotAuthenticated.close_code(),
                "credential ended",
            );
            return out;
        }
        self.release_events(&mut out);
        match input {
            Input::Text(text) => {
                self.heartbeat.heard();
                self.text(text, None, &mut out);
            }
            Input::Counted(text, held) => {
                self.heartbeat.heard();
                self.text(text, Some(held), &mut out);
            }
            Input::NoRoom => {
                let problem = Problem::rate_limited(1000);
                self.refuse(&mut out, &Id::null(), &problem, "no memory for the message");
            }
            Input::Evicted => self.evict(&mut out),
            Input::Binary => {
                let problem = Problem::new(ErrorCode::InvalidRequest, "Send text messages only.");
                self.refuse(&mut out, &Id::null(), &problem, "binary message");
            }
            Input::Oversized => self.oversized(&mut out),
            Input::Pong => self.heartbeat.heard(),
            Input::Event(event) => self.event(event, &mut out),
            Input::TooSlow => {
                self.close(&mut out, ErrorCode::RateLimited.close_code(), "too slow");
            }
            Input::Tick => self.tick(&mut out),
            // `credential_ended` has been checked above.
            Input::CredentialChanged => {}
            Input::CallFinished(finished) => self.finished(finished, &mut out),
            // 1012 is "service restart" in the IANA registry of close codes; clients reconnect.
            Input::Shutdown => self.close(&mut out, 1012, "server is stopping"),
        }
        out
    }

    fn tick(&mut self, out: &mut Vec<Output>) {
        let now = self.rpc.services().clock.monotonic_ms();
        if let State::Waiting { deadline_ms } = self.state
            && now >= deadline_ms
        {
            let problem = Problem::new(ErrorCode::Timeout, "`connect` was not received in time.");
            self.refuse(out, &Id::null(), &problem, "no connect in time");
            return;
        }
        match self.heartbeat.at(now) {
            Beat::Nothing => {}
            Beat::Ping => out.push(Output::Ping),
            Beat::Gone => self.close(out, ErrorCode::Timeout.close_code(), "no answer to pings"),
        }
    }
}
