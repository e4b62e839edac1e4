//! The hostile corpus (`crates/tools/tests/hostile/corpus.json`) from a sender to the end of a delivery.
//! No text of it gives an agent a tool that its policy lacks, though the model here obeys the attacker;
//! none leaves its place in the agent's message; none is more than text in a channel. What `web_fetch`
//! does with the corpus's addresses is looked at by itself in `crates/tools`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[expect(dead_code, reason = "the house of the other tests has more rooms")]
#[path = "it/room.rs"]
mod room;
#[expect(dead_code, reason = "the house of the other tests has more rooms")]
#[path = "it/worker"]
mod worker {
    pub(crate) mod house;
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
