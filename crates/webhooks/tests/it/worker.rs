//! Tests of the worker, from the queue to the end of a delivery.

mod agent_runs;
mod answers;
mod budgets;
mod control;
mod crashes;
mod deliver_only;
mod drain;
pub(crate) mod harness;
mod holds;
mod inbox_crash;
mod leases;
mod metrics;
pub(crate) mod model;
mod order;
mod payload_files;
mod persist;
mod pools;
mod receiver_answers;
mod replay;
mod retention;
mod retries;
mod tools;
mod vault;
