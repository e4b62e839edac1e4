//! Credentials and `check_auth()`, the only decider; locality, client address, throttle, audit.

pub mod bearer;
pub mod client_address;
pub mod cookie;
pub mod cross_site;
pub mod host;
pub mod kdf_queue;
pub mod locality;
pub mod throttle;
pub mod wrong_passwords;
