//! The events for conversations, deliveries and messages. The other crates define their param types.

use super::EventKind;
use gatehouse_agents::{
    Approval, AudioPart, BudgetWarning, Delta, Done, Message, Resolved, ToolProgress,
};
use gatehouse_channels::InboxMessage;
use gatehouse_domain::Scope;
#[cfg(feature = "voice")]
use gatehouse_voice::{PersonaEvent, SttStatus, TtsStatus};
use gatehouse_webhooks::DeliveryChange;
#[cfg(feature = "voice")]
use schemars::JsonSchema;
#[cfg(feature = "voice")]
use serde::Serialize;

/// Declares one entry of the event table.
macro_rules! event {
    ($constant:ident, $name:literal, $summary:literal, $scope:expr, $returned_by:expr, $params:ty) => {
        pub(super) const $constant: EventKind = EventKind {
            name: $name,
            summary: $summary,
            scope: $scope,
            returned_by: &$returned_by,
            params: |generator| generator.subschema_for::<$params>(),
        };
    };
}

event!(
    CHAT_DELTA,
    "chat.delta",
    "An agent produced more text.",
    Scope::Read,
    ["chat.history"],
    Delta
);
event!(
    CHAT_TOOL,
    "chat.tool",
    "A tool call of an agent made progress.",
    Scope::Read,
    ["chat.history"],
    ToolProgress
);
event!(
    CHAT_MESSAGE,
    "chat.message",
    "A message of a session was stored.",
    Scope::Read,
    ["chat.history"],
    Message
);
event!(
    CHAT_DONE,
    "chat.done",
    "An agent's turn ended.",
    Scope::Read,
    ["chat.history"],
    Done
);
event!(
    CHAT_AUDIO,
    "chat.audio",
    "A part of an agent's spoken answer is ready, or speaking it ended.",
    Scope::Read,
    ["chat.history"],
    AudioPart
);
event!(
    WEBHOOKS_DELIVERY,
    "webhooks.delivery",
    "The status of a delivery changed. Under load, only the latest status of each 250 ms is sent.",
    Scope::Read,
    ["webhooks.deliveries"],
    DeliveryChange
);
event!(
    CHANNEL_MESSAGE,
    "channel.message",
    "A message arrived in the inbox.",
    Scope::Read,
    ["inbox.list"],
    InboxMessage
);
event!(
    APPROVAL_REQUESTED,
    "approval.requested",
    "A tool call waits for approval.",
    Scope::Approvals,
    ["approval.list"],
    Approval
);
event!(
    APPROVAL_RESOLVED,
    "approval.resolved",
    "A tool call was approved or denied, or its approval timed out.",
    Scope::Approvals,
    ["approval.list"],
    Resolved
);
event!(
    BUDGET_WARNING,
    "budget.warning",
    "80 % or more of a budget is used. Sent once for each period.",
    Scope::Read,
    ["budgets.list"],
    BudgetWarning
);
#[cfg(feature = "voice")]
event!(
    VOICE_PERSONA,
    "voice.persona",
    "A persona was created, changed or deleted, or the active persona changed.",
    Scope::Read,
    ["voice.personas.list", "tts.status"],
    PersonaEvent
);
#[cfg(feature = "voice")]
event!(
    VOICE_SETTINGS,
    "voice.settings",
    "The provider or the state of text-to-speech or speech-to-text changed.",
    Scope::Read,
    ["tts.status", "stt.status"],
    VoiceSettingsParams
);

/// Params of `voice.settings`.
#[cfg(feature = "voice")]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VoiceSettingsParams {
    /// The result of `tts.status`.
    pub tts: TtsStatus,
    /// The result of `stt.status`.
    pub stt: SttStatus,
}
