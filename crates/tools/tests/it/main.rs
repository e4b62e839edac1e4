//! The tools as agents find and call them: real agents, a real database, fake vendors over real sockets.

mod calc;
mod fetch;
mod harness;
mod hostile;
#[cfg(feature = "mcp")]
mod mcp_http;
#[cfg(feature = "mcp")]
mod mcp_stdio;
mod search;
