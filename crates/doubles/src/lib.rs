//! Doubles of vendors' APIs for the tests of every crate: HTTP servers on loopback that refuse what the vendors refuse.
//! And where tests find programs and files of others. Contains nothing of this product.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

pub mod openai;
mod prepared;

pub use prepared::{prepared, prepared_if};
