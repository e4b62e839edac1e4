//! Runs injections and ordinary tasks through the real turns and the real tools, with a model that obeys every
//! text. Untrusted text must not have an effect without the owner's approval. Most of the usual requests of owners
//! must need no approval.
//!
//! `injection/table.rs` is the table of carriers, wishes and encodings. docs/INJECTIONS.md contains the result.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

#[expect(dead_code, reason = "the other tests use the rest of this module")]
#[path = "it/worker"]
mod worker {
    pub(crate) mod harness;
    pub(crate) mod model;
}

#[path = "injection/corpus.rs"]
mod corpus;
#[path = "injection/decode.rs"]
mod decode;
#[path = "injection/external_services.rs"]
mod external_services;
#[path = "injection/honest.rs"]
mod honest;
#[path = "injection/obedient.rs"]
mod obedient;
#[path = "injection/scenario.rs"]
mod scenario;
#[path = "injection/table.rs"]
mod table;
