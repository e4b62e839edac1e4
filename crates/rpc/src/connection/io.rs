//! The inputs and outputs of a connection.

use crate::envelope::Id;
use crate::events::Event;
use crate::memory_budget::Share;
use crate::method_entry::Boxed;
use crate::reply::Reply;
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::Problem;
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::DropGuard;

/// An event that a connection must process.
#[derive(Debug)]
pub enum Input {
    Text(String),
    /// A text message whose bytes are charged to the connection's holder.
    Counted(String, Share),
    /// The memory budget has no room for the incoming message.
    NoRoom,
    /// This unauthenticated connection must make room for another.
    Evicted,
    Binary,
    /// A message exceeded the socket's limit.
    Oversized,
    Pong,
    Event(Arc<Event>),
    /// Events were missed, or the client reads too slowly.
    TooSlow,
    /// About one second has passed.
    Tick,
    /// A credential ended, possibly this connection's.
    CredentialChanged,
    CallFinished(Finished),
    /// The server is stopping.
    Shutdown,
}

/// An action for the socket loop.
pub enum Output {
    Send(Reply),
    Ping,
    /// Run this future and feed its result back as [`Input::CallFinished`].
    Call(Boxed<Finished>),
    /// The response before this output has been sent. Drop the guard, because the next ordered message waits for it.
    Answered(DropGuard),
    /// Close the socket and feed no further inputs.
    Close {
        code: u16,
        /// The reason, for people.
        reason: &'static str,
    },
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(text) => f.debug_tuple("Send").field(text).finish(),
            Self::Ping => f.write_str("Ping"),
            Self::Call(_) => f.write_str("Call"),
            Self::Answered(_) => f.write_str("Answered"),
            Self::Close { code, reason } => write!(f, "Close({code}, {reason})"),
        }
    }
}

/// The outcome of a call, for the connection that it came from.
#[derive(Debug)]
pub struct Finished(pub(super) Ending);

#[derive(Debug)]
pub(super) enum Ending {
    /// The outcome of `connect`: the request ID and the client's identity.
    Connect(Id, Result<AuthIdentity, Problem>),
    /// The outcome of calls: the response, if any, and the number of finished calls and bytes.
    Calls {
        answer: Option<Reply>,
        calls: usize,
        bytes: usize,
        /// Set when the next ordered message waits for the response.
        next: Option<DropGuard>,
    },
}
