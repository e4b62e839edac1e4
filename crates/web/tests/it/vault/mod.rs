//! `/api/auth/vault/*`, and what else depends on the vault's state.

mod disable;
mod endpoints;
mod guard;
mod restart;
mod rotate;
