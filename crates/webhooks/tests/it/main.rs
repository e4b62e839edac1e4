//! Tests the crate's public API with real databases: always SQLite, and PostgreSQL if the test command has
//! started one.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod changes;
mod deliveries;
mod failures;
mod hold;
mod ingest;
mod ingest_limits;
mod payload_filter;
mod records;
mod replay_guard;
mod requests;
mod schedule_zones;
mod schedules;
mod secrets;
mod worker;
