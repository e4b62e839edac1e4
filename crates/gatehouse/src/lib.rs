//! The composition root: puts the rooms together in their order, serves, and goes down cleanly. It
//! decides nothing about a request; that is `web` and the rooms below it. The command line stands in
//! the binary beside it.

mod compose;
pub mod data_dir;
pub mod limits;
pub mod logging;
pub mod own_environment;
mod serve;

pub use compose::{App, Ground, House, OpenError, Parts, Purpose};
