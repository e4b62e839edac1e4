//! The only crate that creates clients for outgoing HTTP requests and WebSockets, and connections of other
//! protocols. It decides which addresses are reachable, how long to wait for a connection, and how much of a
//! response is read. It contains nothing about vendors, tools or settings.
//!
//! The resolver checks the addresses of a host name when the client connects, and the client connects to exactly
//! these addresses. DNS rebinding between check and use therefore has no effect. An IP address never reaches the
//! resolver; [`Outbound::check_url`] checks it.

mod body;
mod client;
mod error;
pub mod event_stream;
mod fenced;
pub mod policy;
mod resolver;
mod socket;
mod stream;
mod tls;
mod vendor_sentence;

pub use body::read_capped;
pub use client::Outbound;
pub use error::OutboundError;
pub use socket::{Socket, SocketEvent};
pub use stream::{Duplex, Stream};
pub use vendor_sentence::vendor_sentence;

/// The origin of the address that a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSource {
    /// The URL comes from a tool, a model or a payload. Only public internet addresses are allowed, unless
    /// [`OutboundSettings::allow_private`] is set.
    Public,
    /// The URL comes from the owner (channel accounts, model providers, MCP, search). Private addresses are
    /// allowed.
    Owner,
}

/// The owner's settings for outgoing requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboundSettings {
    /// `network.allow_private`: [`AddressSource::Public`] also reaches private addresses, but never cloud metadata
    /// services.
    pub allow_private: bool,
}
