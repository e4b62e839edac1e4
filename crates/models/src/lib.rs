//! Language models: two provider families behind one trait, OpenAI-compatible chat completions and Anthropic Messages,
//! both with streaming and tools. This crate selects a provider, finds its key, sends the conversation and streams the
//! answer.
//!
//! This crate must not depend on agents, sessions or the database: every call contains the whole conversation. It never
//! shows a vendor's error text, because that text may repeat the request.

mod anthropic;
mod attempt;
mod caches;
mod call_error;
mod candidates;
mod catalogue;
mod chat;
mod choose;
mod decoder;
mod default_model;
mod error;
mod family;
mod family_of_kind;
mod handle;
mod history;
mod keys;
mod known_context;
mod known_vision;
mod learned;
mod listed;
mod listing;
mod local;
mod model_ref;
mod ollama;
mod openai;
mod progress;
mod providers;
mod refusal;
mod rejected_keys;
mod reply;
pub mod reply_reader;
mod retry;
mod schema;
mod settings;
mod think;
mod traced;
mod wire;

pub use catalogue::{ModelInfo, ProviderTest};
pub use chat::{
    ChatMessage, ChatRequest, Chunk, OpenaiOptions, Picture, ReasoningEffort, StopReason, ToolCall,
    ToolChoice, ToolSpec, Usage,
};
pub use error::ModelError;
pub use gatehouse_domain::ModelFacts;
pub use handle::{Models, ModelsParts};
pub use model_ref::ModelRef;
pub use progress::{Arrived, CallProgress};
pub use providers::ProviderInfo;
pub use refusal::Reason;
pub use settings::{Limits, ModelsSettings, ProviderKind, ProviderSettings, Timeouts, Tuning};
pub use traced::ChunkStream;
