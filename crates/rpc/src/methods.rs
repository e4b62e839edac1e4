//! The method table, with one file per subject. Dispatch, checks and documentation cover exactly the
//! methods listed here.

pub mod agents;
pub mod approval;
pub mod audit;
pub mod backup;
pub mod budgets;
pub mod channels;
pub mod chat;
pub mod config;
pub mod config_describe;
pub mod connect;
pub mod deliveries;
pub mod env;
pub mod inbox;
pub mod mcp;
pub mod models;
pub mod page;
pub mod pairing;
#[cfg(feature = "voice")]
pub mod personas;
pub mod preferences;
pub mod providers;
pub mod push;
pub mod rpc;
pub mod sessions;
pub mod ssh_keys;
#[cfg(feature = "voice")]
pub mod stt;
pub mod system;
pub mod tools;
#[cfg(feature = "voice")]
pub mod tts;
pub mod usage;
#[cfg(feature = "voice")]
pub mod voice;
#[cfg(feature = "voice")]
mod voice_params;
pub mod webhooks;

use crate::method_entry::Method;

/// Every method.
pub static METHODS: &[Method] = &[
    connect::CONNECT,
    rpc::DISCOVER,
    system::STATUS,
    system::DOCTOR,
    system::REACH,
    config::GET,
    config::SET,
    config_describe::DESCRIBE,
    audit::LIST,
    backup::CREATE,
    backup::LIST,
    env::LIST,
    env::SET,
    env::DELETE,
    env::REVEAL,
    ssh_keys::LIST,
    ssh_keys::GENERATE,
    ssh_keys::IMPORT,
    ssh_keys::DELETE,
    ssh_keys::SIGN,
    providers::LIST,
    providers::SET_KEY,
    providers::REMOVE_KEY,
    providers::TEST,
    models::LIST,
    usage::STATS,
    budgets::LIST,
    budgets::SET,
    budgets::DELETE,
    preferences::GET,
    preferences::SET,
    preferences::DELETE,
    agents::LIST,
    agents::GET,
    agents::CREATE,
    agents::UPDATE,
    agents::DELETE,
    sessions::LIST,
    sessions::GET,
    sessions::CREATE,
    sessions::BRANCH,
    sessions::RENAME,
    sessions::UPDATE,
    sessions::TAGS,
    sessions::CLEAR_TAINT,
    sessions::DELETE,
    sessions::SHARE,
    sessions::UNSHARE,
    chat::SEND,
    chat::SEND_SYNC,
    chat::ABORT,
    chat::DELETE,
    chat::HISTORY,
    tools::LIST,
    mcp::LIST,
    mcp::CREATE,
    mcp::UPDATE,
    mcp::DELETE,
    mcp::TEST,
    mcp::APPROVE,
    mcp::RESTART,
    mcp::AUTHORIZE,
    mcp::DISCONNECT,
    mcp::RESOURCES,
    mcp::PROMPTS,
    mcp::PROMPT,
    approval::LIST,
    approval::FIND,
    approval::RESOLVE,
    approval::REMEMBERED,
    approval::FORGET,
    channels::LIST,
    channels::TYPES,
    channels::CREATE,
    channels::UPDATE,
    channels::DELETE,
    channels::TEST,
    channels::SEND,
    inbox::LIST,
    inbox::MARK_READ,
    inbox::MARK_ALL_READ,
    inbox::DELETE,
    inbox::DELETE_READ,
    webhooks::LIST,
    webhooks::GET,
    webhooks::CREATE,
    webhooks::UPDATE,
    webhooks::DELETE,
    webhooks::ROTATE_SECRET,
    webhooks::TEST,
    webhooks::PROFILES,
    webhooks::SCHEDULE_PREVIEW,
    webhooks::TEMPLATE_PREVIEW,
    webhooks::PAYLOAD_FILTER_PREVIEW,
    webhooks::STATS,
    deliveries::DELIVERIES,
    deliveries::DELIVERY_GET,
    deliveries::DELIVERY_PAYLOAD,
    deliveries::DELIVERY_REPLAY,
    deliveries::DELIVERIES_REPLAY,
    deliveries::DELIVERIES_RELEASE,
    deliveries::DELIVERY_CANCEL,
    deliveries::DELIVERY_RETRY,
    deliveries::DELIVERY_REQUEST,
    deliveries::FORWARD,
    #[cfg(feature = "voice")]
    tts::STATUS,
    #[cfg(feature = "voice")]
    tts::PROVIDERS,
    #[cfg(feature = "voice")]
    tts::ENABLE,
    #[cfg(feature = "voice")]
    tts::DISABLE,
    #[cfg(feature = "voice")]
    tts::CONVERT,
    #[cfg(feature = "voice")]
    tts::SET_PROVIDER,
    #[cfg(feature = "voice")]
    stt::STATUS,
    #[cfg(feature = "voice")]
    stt::PROVIDERS,
    #[cfg(feature = "voice")]
    stt::TRANSCRIBE,
    #[cfg(feature = "voice")]
    stt::SET_PROVIDER,
    #[cfg(feature = "voice")]
    voice::TEST,
    #[cfg(feature = "voice")]
    personas::LIST,
    #[cfg(feature = "voice")]
    personas::GET,
    #[cfg(feature = "voice")]
    personas::CREATE,
    #[cfg(feature = "voice")]
    personas::UPDATE,
    #[cfg(feature = "voice")]
    personas::DELETE,
    #[cfg(feature = "voice")]
    personas::SET_ACTIVE,
    pairing::CREATE,
    pairing::LIST,
    pairing::REVOKE,
    pairing::PEOPLE,
    pairing::APPROVE,
    pairing::TRUST,
    pairing::UNPAIR,
    push::SUBSCRIBE,
    push::UNSUBSCRIBE,
    push::LIST,
];
