//! A model-based test of the delivery queue. Random operations run against the real store and against
//! a model in memory, and every answer of the store is compared with the model.
//!
//! Two nodes work on three webhooks. They accept, claim, finish, retry, renew, crash and take over
//! leases; the clock steps both ways; the vault is sealed; webhooks are disabled and deleted; deliveries
//! are replayed and removed by retention. Operations run in groups, one transaction each, and some
//! groups are rolled back. At the end of each case everything is switched on again, and the queue must
//! run empty within a bounded number of rounds.
//!
//! The invariants:
//!
//! - Nothing is lost: each accepted delivery is open, ended, or was removed on purpose.
//! - Order: a claim takes only the oldest open delivery of its session.
//! - At most one runner: a session has at most one delivery in work, and a delivery one lease.
//! - Attempts are truthful: claims minus the claims that were taken back.
//! - Nothing is parked for ever: what may run is claimed, and at the end all has run.
//!
//! A failure is shrunk and prints the operations that lead to it.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `GATEHOUSE_QUEUE_STEPS` | operations of each test on SQLite | 50,000 (there are two) |
//! | `GATEHOUSE_QUEUE_SEED` | start of the random sequence | the test's own |
//!
//! A longer run by hand:
//!
//! ```sh
//! GATEHOUSE_QUEUE_STEPS=5000000 GATEHOUSE_QUEUE_SEED=7 \
//!     cargo test -p gatehouse-webhooks --test queue_model -- --nocapture sqlite_one
//! ```
//!
//! `rooms.rs` puts the real worker through the same, in fewer steps.
//!
//! Only `calls.rs` and `room_node.rs` name methods of the store.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod calls;
mod model;
mod node;
mod ops;
mod room_node;
mod rooms;
mod run;
mod upkeep;
mod whole;

use gatehouse_store::testing;
use run::Plan;

/// Operations of one test on SQLite.
const STEPS: usize = 50_000;
/// Operations on PostgreSQL: each statement is a round trip.
const SHARED_STEPS: usize = 4_000;

#[test]
fn the_queue_keeps_its_promises_on_sqlite_one() {
    Plan::from_environment(1, STEPS).run(|| async { Some(testing::sqlite()) });
}

#[test]
fn the_queue_keeps_its_promises_on_sqlite_two() {
    Plan::from_environment(2, STEPS).run(|| async { Some(testing::sqlite()) });
}

#[test]
fn the_queue_keeps_its_promises_on_postgresql() {
    Plan::new(3, SHARED_STEPS).run(testing::postgres);
}
