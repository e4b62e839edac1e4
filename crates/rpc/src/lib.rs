//! JSON-RPC: the method table, dispatch, and the connection state machine. This crate must not depend on
//! sockets or HTTP; `web` transports the messages.

mod audited;
pub mod budget;
pub mod census;
pub mod connection;
mod dispatch;
pub mod doctor;
pub mod envelope;
pub mod events;
pub mod gon;
pub mod live_config;
pub mod method;
pub mod methods;
pub mod openrpc;
pub mod order;
mod reply;
pub mod rooms;
mod vault_status;

pub use connection::{Connection, Finished, Input, Output, PathKind};
pub use dispatch::Rpc;
pub use events::{Event, EventBus};
pub use live_config::LiveConfig;
pub use method::{Audit, Call, Method};
pub use methods::METHODS;
pub use order::Order;
pub use reply::Reply;
pub use rooms::{Build, Rooms, Ways, WaysError};
pub use vault_status::VaultStatus;
