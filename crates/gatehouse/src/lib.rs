//! The composition root: opens the crates in order, serves, and shuts down cleanly. Requests are handled by
//! `web` and the crates below it. The command line is part of the binary.

mod compose;
pub mod data_dir;
pub mod drill;
pub mod limits;
pub mod logging;
pub mod own_environment;
pub mod profiles;
mod remains;
mod serve;
mod service_manager;

pub use compose::{App, Gateway, OpenError, Parts, Purpose, Storage};
