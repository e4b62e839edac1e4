//! A model-based test of the delivery queue. Random operations run against the real store and an in-memory model,
//! and every answer of the store is compared with the model.
//!
//! Two nodes process three webhooks. They accept, claim, finish, retry, renew, crash and take over leases. The
//! clock moves in both directions, the vault is sealed, webhooks are disabled and deleted, and deliveries are
//! replayed and removed by retention. Operations run in groups of one transaction each, and some groups are rolled
//! back. At the end of each case, all disturbances stop, and the queue must become empty within a limited number of
//! rounds.
//!
//! The invariants:
//!
//! - Nothing is lost: each accepted delivery is open, has ended, or was removed on purpose.
//! - Order: a claim takes only the oldest open delivery of its session.
//! - At most one run: a session has at most one running delivery, and a delivery has at most one lease.
//! - Attempts are correct: their number is the number of claims minus the number of returned claims.
//! - Nothing is parked forever: a claim takes every delivery that can run, and at the end all deliveries have run.
//!
//! A failure is shrunk and prints the operations that lead to it.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `GATEHOUSE_QUEUE_STEPS` | operations per test | 50,000 on SQLite (two tests), 4,000 on PostgreSQL |
//! | `GATEHOUSE_QUEUE_SEED` | seed of the random sequence | differs per test |
//!
//! To run it for longer (`postgresql` instead of `sqlite_one` runs it on PostgreSQL):
//!
//! ```sh
//! GATEHOUSE_QUEUE_STEPS=5000000 GATEHOUSE_QUEUE_SEED=7 \
//!     cargo test -p gatehouse-webhooks --test queue_model -- --nocapture sqlite_one
//! ```
//!
//! `cluster.rs` runs the real worker under the same disturbances, in fewer steps.
//!
//! Only `calls.rs` and `cluster_node.rs` use methods of the store.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod calls;
mod cluster;
mod cluster_node;
mod model;
mod node;
mod ops;
mod run;
mod upkeep;
mod whole;

use gatehouse_store::testing;
use run::Plan;

/// Operations per test on SQLite.
const STEPS: usize = 50_000;
/// Operations on PostgreSQL, where each statement is a round trip.
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
    Plan::from_environment(3, SHARED_STEPS).run(testing::postgres);
}
