//! Runs the hostile corpus (`crates/tools/tests/hostile/corpus.json`) from a sender to the end of a delivery. The
//! model in this test obeys the attacker, but no text may give an agent a tool that its policy excludes. No
//! text may leave its place in the agent's message, or become more than text in a channel. `crates/tools` tests how
//! `web_fetch` handles the URLs in the corpus.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

#[expect(dead_code, reason = "the other tests use the rest of this module")]
#[path = "it/requests.rs"]
mod requests;
#[expect(dead_code, reason = "the other tests use the rest of this module")]
#[path = "it/worker"]
mod worker {
    pub(crate) mod harness;
    pub(crate) mod model;
}

#[path = "hostile/attacker.rs"]
mod attacker;
#[path = "hostile/corpus.rs"]
mod corpus;
#[path = "hostile/inbox.rs"]
mod inbox;
#[path = "hostile/letter.rs"]
mod letter;
#[path = "hostile/markup.rs"]
mod markup;
#[path = "hostile/senders.rs"]
mod senders;
#[path = "hostile/tools.rs"]
mod tools;
