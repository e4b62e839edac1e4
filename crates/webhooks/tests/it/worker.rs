//! The worker, from the queue to the end of a delivery.

mod agent_runs;
mod crashes;
mod deliver_only;
mod drain;
pub(crate) mod house;
mod leases;
mod metrics;
pub(crate) mod model;
mod order;
mod replay;
mod retention;
mod retries;
mod tools;
mod vault;
