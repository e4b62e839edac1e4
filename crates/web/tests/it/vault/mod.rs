//! `/api/auth/vault/*`, and other behavior that depends on the vault's state.

mod disable;
mod endpoints;
mod guard;
mod nodes;
mod restart;
mod rotate;
