//! One-sentence summaries, which start with the actor if there is one.

mod conversation;
mod repository;
mod runs;

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
pub(super) const SENTENCES: &[&[(&str, &str)]] = &[
    conversation::CONVERSATION,
    runs::RUNS,
    repository::REPOSITORY,
];
