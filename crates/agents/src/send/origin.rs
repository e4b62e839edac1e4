//! The source of a message.

use crate::origin::MessageOrigin;
use crate::tool_policy::ToolPolicy;
use gatehouse_domain::id::DeliveryId;

/// The source of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A caller with write permission.
    Chat,
    /// A program with write permission that continues no session. Its answers are not spoken.
    Api,
    /// A webhook.
    Webhook {
        /// Selects among the public tools; `None` means no tools.
        policy: Option<ToolPolicy>,
        /// The targets that the webhook names, for trusted tools that serve them.
        targets: Vec<String>,
        delivery: DeliveryId,
        /// Who wrote the text. A sender is untrusted and taints the session. The text of a schedule contains only
        /// settings and times.
        written_by: MessageOrigin,
    },
    /// A person who is paired with a channel.
    Channel {
        /// The ID of the message. If the message is sent again, its turn continues.
        message: DeliveryId,
        /// The owner if the pairing is trusted, otherwise an untrusted person.
        written_by: MessageOrigin,
    },
}

impl Origin {
    /// Returns the kind of origin as a single word.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Api => "api",
            Self::Webhook { .. } => "webhook",
            Self::Channel { .. } => "channel",
        }
    }

    pub(crate) const fn written_by(&self) -> MessageOrigin {
        match self {
            Self::Chat | Self::Api => MessageOrigin::Owner,
            Self::Webhook { written_by, .. } | Self::Channel { written_by, .. } => *written_by,
        }
    }

    /// Returns the message of a channel that the turn answers.
    pub(crate) const fn message(&self) -> Option<&DeliveryId> {
        match self {
            Self::Channel { message, .. } => Some(message),
            Self::Chat | Self::Api | Self::Webhook { .. } => None,
        }
    }

    /// Returns the delivery of a webhook that the turn processes.
    pub(crate) const fn delivery(&self) -> Option<&DeliveryId> {
        match self {
            Self::Webhook { delivery, .. } => Some(delivery),
            Self::Chat | Self::Api | Self::Channel { .. } => None,
        }
    }

    /// Returns whether the text comes from the sender of a webhook or from an untrusted person on a channel.
    pub(crate) const fn is_from_sender(&self) -> bool {
        matches!(
            self,
            Self::Webhook {
                written_by: MessageOrigin::Stranger,
                ..
            } | Self::Channel {
                written_by: MessageOrigin::Stranger,
                ..
            }
        )
    }
}
