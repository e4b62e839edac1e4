//! One-sentence summaries, which start with the actor if there is one.

mod house;
mod runs;
mod talk;

/// Builds a sentence that starts with the actor.
macro_rules! who {
    ($event:literal, $did:literal) => {
        (
            $event,
            concat!("{sender.login|pusher.name|'Someone'} ", $did, "."),
        )
    };
}
use who;

/// Sentences by event type or family.
pub(super) const SENTENCES: &[&[(&str, &str)]] = &[talk::TALK, runs::RUNS, house::HOUSE];
