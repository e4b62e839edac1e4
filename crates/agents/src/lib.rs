//! Agents and their conversations: sessions, messages, turns, the tools that turns may use, approvals, and public
//! shares of sessions.
//!
//! [`Agents::send`] accepts a text. The text waits for its turn in the session's lane. A model answers it and may call
//! tools. Messages are stored as they are produced and published as [`AgentEvent`]s. This crate must not depend on RPC,
//! HTTP, webhooks or any particular tool: higher crates register their tools.

mod admission;
mod agent;
mod agent_budget;
mod allowed_calls;
mod approval_buttons;
mod approvals;
mod attached_file;
mod attachments;
mod branch;
mod budget_values;
mod budgets;
mod context;
mod delete_turns;
mod entry;
mod error;
mod event;
mod files;
mod gone;
mod handle;
mod heard;
mod history;
mod input_check;
mod lanes;
mod line;
mod lost;
mod manage_sessions;
mod message;
mod model_call;
mod one_off;
mod origin;
mod other_nodes;
mod policy;
mod presets;
mod prompt;
mod registry;
mod request;
mod retention;
mod send;
mod session;
mod share;
mod shared_approvals;
mod speaker;
mod speeches;
mod start;
mod stop;
mod tags;
mod taint;
mod tokens;
mod tool;
mod tool_policy;
mod turn;
mod turn_pictures;
mod usage;

pub use agent::{Agent, AgentChanges, AgentConfig, DEFAULT_AGENT, NewAgent};
pub use allowed_calls::{AllowedCall, Remember};
pub use approval_buttons::{ButtonRecipient, PressedCall};
pub use attached_file::{Attachment, NewAttachment};
pub use budget_values::{AgentBudget, Budget, BudgetPeriod, BudgetWarning, Exhausted, NewBudget};
pub use budgets::{BudgetList, BudgetName};
pub use error::AgentsError;
pub use event::{
    AgentEvent, Answered, Approval, AskingConversation, AudioPart, Delta, Done, Resolved, Shown,
    ToolProgress, ToolState,
};
pub use gatehouse_models::{ReasoningEffort, Usage};
pub use handle::{Agents, AgentsParts, AgentsSettings};
pub use heard::HeardMessage;
pub use history::{HistoryPage, HistoryRange};
pub use lanes::RunningTurn;
pub use manage_sessions::{SessionChanges, SessionPage, SessionQuery};
pub use message::{Failure, Message, Role, ToolCallRecord};
pub use model_call::{ModelCall, ModelCallError};
pub use one_off::{AnswerPiece, AnswerStream, OneOffRequest};
pub use origin::MessageOrigin;
pub use registry::ToolRegistry;
pub use retention::Swept;
pub use send::{
    Action, ActionStatus, EarlierMessage, Origin, SendRequest, Sent, Target, TurnReport,
};
pub use session::{Session, Source};
pub use share::{Share, SharedMessage, SharedSession};
pub use speaker::{
    Answer, AnswerFilter, AnswerStart, AudioParts, Filtered, Marks, Speaker, SpeechOutput,
};
pub use stop::Stop;
pub use tags::TagCount;
pub use taint::{AskReason, Effect};
pub use tool::{Audience, MAX_OUTPUT_BYTES, ReturnedFiles, Tool, ToolContext, ToolError};
pub use tool_policy::ToolPolicy;
pub use usage::{UsageBy, UsageQuery, UsageStat, UsageStats};
