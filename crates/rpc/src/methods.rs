//! The method table: one file per subject. What stands here is dispatched, checked and documented;
//! what does not stand here does not exist.

pub mod agents;
pub mod approval;
pub mod audit;
pub mod channels;
pub mod chat;
pub mod config;
pub mod connect;
pub mod env;
pub mod inbox;
pub mod models;
pub mod page;
pub mod pairing;
pub mod providers;
pub mod rpc;
pub mod sessions;
pub mod ssh_keys;
pub mod system;
pub mod webhooks;

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
    agents::LIST,
    agents::GET,
    agents::CREATE,
    agents::UPDATE,
    agents::DELETE,
    sessions::LIST,
    sessions::GET,
    sessions::RENAME,
    sessions::DELETE,
    sessions::SHARE,
    sessions::UNSHARE,
    chat::SEND,
    chat::SEND_SYNC,
    chat::ABORT,
    chat::HISTORY,
    approval::LIST,
    approval::RESOLVE,
    channels::LIST,
    channels::TYPES,
    channels::CREATE,
    channels::UPDATE,
    channels::DELETE,
    channels::TEST,
    inbox::LIST,
    inbox::MARK_READ,
    webhooks::LIST,
    webhooks::GET,
    webhooks::CREATE,
    webhooks::UPDATE,
    webhooks::DELETE,
    webhooks::ROTATE_SECRET,
    webhooks::TEST,
    webhooks::PROFILES,
    webhooks::STATS,
    webhooks::DELIVERIES,
    webhooks::DELIVERY_GET,
    webhooks::DELIVERY_PAYLOAD,
    webhooks::DELIVERY_REPLAY,
    pairing::CREATE,
    pairing::LIST,
    pairing::REVOKE,
];
