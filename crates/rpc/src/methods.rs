//! The method table: one file per subject. What stands here is dispatched, checked and documented;
//! what does not stand here does not exist.

pub mod audit;
pub mod config;
pub mod connect;
pub mod env;
pub mod models;
pub mod page;
pub mod pairing;
pub mod providers;
pub mod rpc;
pub mod ssh_keys;
pub mod system;

use crate::method::Method;

/// Every method.
pub static METHODS: &[Method] = &[
    connect::CONNECT,
    rpc::DISCOVER,
    system::STATUS,
    system::DOCTOR,
    config::GET,
    config::SET,
    audit::LIST,
    env::LIST,
    env::SET,
    env::DELETE,
    ssh_keys::LIST,
    ssh_keys::GENERATE,
    ssh_keys::IMPORT,
    ssh_keys::DELETE,
    providers::LIST,
    providers::SET_KEY,
    providers::REMOVE_KEY,
    providers::TEST,
    models::LIST,
    pairing::CREATE,
    pairing::LIST,
    pairing::REVOKE,
];
