//! The one place that makes HTTP clients for going out: which addresses may be reached, how long to wait
//! for a connection, and how much of an answer is read. It knows nothing of vendors, tools or settings.
//!
//! A host that is a name is judged by the resolver at the moment of connecting, on the very
//! addresses that are then connected to, so a name that changes its address between check and use gains
//! nothing. A host that is an address never meets a resolver; [`Outbound::check_url`] judges it.

mod body;
mod client;
mod error;
pub mod policy;
mod resolver;

pub use body::read_capped;
pub use client::Outbound;
pub use error::OutboundError;

/// On whose word an address is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// A tool's, a model's or a payload's: only addresses of the public internet, unless
    /// [`OutboundSettings::allow_private`].
    Public,
    /// The owner's own (channel accounts, model providers, MCP, search): private addresses are fine.
    Owner,
}

/// What the owner can change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboundSettings {
    /// `network.allow_private`: [`Reach::Public`] reaches private addresses too. It never opens the
    /// addresses of cloud metadata services.
    pub allow_private: bool,
}
