//! Published failures of comparable gateways and self-hosted services, tried on this one. Each test is
//! named after the public identifier of such a failure: a CVE, an advisory, an issue or a change. Where
//! none was found, it is named after the CWE of the weakness.

mod authority;
mod before_setup;
mod bodies;
mod cache;
mod credentials;
mod gate;
mod heads;
mod limits;
mod liveness;
mod locality;
pub mod logs;
mod names;
mod networks;
mod origins;
mod planted;
mod setup;
mod sockets;
mod vault;
