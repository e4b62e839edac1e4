//! Failures of comparable gateways and self-hosted services that were published, tried on this one. Each
//! test names the public identifier of one such failure: a CVE, an advisory, an issue or change. Where
//! none was found the weakness is named by its CWE.

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
mod logs;
mod networks;
mod origins;
mod planted;
mod setup;
mod sockets;
mod vault;
