//! JSON-RPC: the method table, dispatch, and the connection state machine. This crate must not depend on
//! sockets or HTTP; `web` transports the messages.

mod audited;
pub mod connection;
mod dispatch;
pub mod envelope;
pub mod events;
pub mod mcp_endpoint;
pub mod memory_budget;
pub mod method_entry;
pub mod methods;
pub mod openrpc;
pub mod order;
mod reply;
pub mod unauthenticated_sockets;

pub use connection::{Connection, Finished, Input, Output, PathKind};
pub use dispatch::Rpc;
pub use events::{Event, EventBus};
pub use method_entry::{Audit, Call, Method};
pub use methods::METHODS;
pub use order::Order;
pub use reply::Reply;
