//! What goes into a connection and what comes out of it.

use crate::budget::Share;
use crate::envelope::Id;
use crate::events::Event;
use crate::method::Boxed;
use crate::reply::Reply;
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::Problem;
use std::fmt;
use std::sync::Arc;

/// What happens to a connection.
#[derive(Debug)]
pub enum Input {
    /// A text message arrived.
    Text(String),
    /// A text message arrived whose bytes are charged to the connection's holder.
    Counted(String, Share),
    /// There is no memory for the message that arrives.
    NoRoom,
    /// An unauthenticated connection has to make room for another.
    Evicted,
    /// A binary message arrived.
    Binary,
    /// A message arrived that is longer than the socket takes.
    Oversized,
    /// The client answered a ping.
    Pong,
    /// Something was published.
    Event(Arc<Event>),
    /// Events were missed, or the client does not read what it is sent.
    TooSlow,
    /// About a second has passed.
    Tick,
    /// Some credential ended, maybe this connection's.
    CredentialChanged,
    /// A call came to its end.
    CallFinished(Finished),
    /// The server is about to stop.
    Shutdown,
}

/// What is to be done.
pub enum Output {
    /// Send this text.
    Send(Reply),
    /// Send a ping.
    Ping,
    /// Run this and feed its outcome back as [`Input::CallFinished`].
    Call(Boxed<Finished>),
    /// Close, and feed nothing more.
    Close {
        /// The close code.
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
            Self::Close { code, reason } => write!(f, "Close({code}, {reason})"),
        }
    }
}

/// The outcome of a call, for the connection it came from.
#[derive(Debug)]
pub struct Finished(pub(super) Ending);

#[derive(Debug)]
pub(super) enum Ending {
    /// Of `connect`: to whom it is answered, and who the client is.
    Connect(Id, Result<AuthIdentity, Problem>),
    /// Of calls: the answer, if any is wanted, and what is no longer in work.
    Calls {
        answer: Option<Reply>,
        calls: usize,
        bytes: usize,
    },
}
