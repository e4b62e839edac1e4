//! What happened, in one sentence. Who did it stands first, where it was somebody.

mod house;
mod runs;
mod talk;

/// A sentence about what someone did.
macro_rules! who {
    ($event:literal, $did:literal) => {
        (
            $event,
            concat!("{sender.login|pusher.name|'Someone'} ", $did, "."),
        )
    };
}
use who;

/// By event type or family.
pub(super) const SENTENCES: &[&[(&str, &str)]] = &[talk::TALK, runs::RUNS, house::HOUSE];
