//! Doubles of vendors' APIs for the tests of every crate: HTTP servers on loopback that refuse the same requests as the
//! vendors. Also locates third-party programs and files for tests. Contains no product code.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot continue has failed"
)]

pub mod openai;
mod prepared;

pub use prepared::{prepared, prepared_if};
