//! Messages as they are received, and the errors of receiving.

use crate::error::{Failure, STORAGE_UNAVAILABLE, incomplete_text};
use crate::pairings::PairingRequest;
use crate::quotes::ReceivedQuote;
use crate::receivers::buttons::Press;
use gatehouse_secrets::SecretsError;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Messages from the vendor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The position after these messages, in the vendor's format.
    pub position: Option<String>,
    /// Whether the position must be stored even if no message is stored.
    pub is_new_position: bool,
    pub messages: Vec<ReceivedMessage>,
    pub presses: Vec<Press>,
    /// The maximum number of messages per person that are stored within each of these periods. Further messages are
    /// dropped.
    pub at_most: &'static [(Duration, i64)],
    /// A problem to show to the user. Messages are still received.
    pub warning: Option<&'static str>,
}

/// A message that a person wrote to the bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The vendor's ID of the message, unique per account.
    pub message_id: String,
    /// The vendor's ID of the person.
    pub person: String,
    /// The person's name at the vendor.
    pub name: String,
    /// The vendor's ID of the conversation.
    pub chat: String,
    /// The topic or thread within the conversation.
    pub thread: Option<String>,
    /// Whether others read the conversation.
    pub is_group: bool,
    /// Whether the person wrote the text.
    pub is_own: bool,
    /// `None` if the message has no text.
    pub text: Option<String>,
    /// At most ten files.
    pub files: Vec<ReceivedFile>,
    /// The earlier message that this one quotes or replies to.
    pub quote: Option<ReceivedQuote>,
    /// A fixed answer to a paired person. It needs no agent.
    pub answer: Option<&'static str>,
    /// A sentence that follows the code, if the person gets one.
    pub code_note: Option<&'static str>,
    /// Whether this is an invitation of the bot to a conversation, not a message.
    pub is_invitation: bool,
}

/// A picture, a document or a recording that came with a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedFile {
    /// The ID by which [`crate::Channels::fetch_files`] finds the file.
    pub id: String,
    /// The file name, as chosen by the person's program.
    pub name: String,
    /// Whether the file is a recording of the person's voice, made in the vendor's program.
    pub is_voice: bool,
}

/// The effect of received messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredMessages {
    /// Whether messages wait for an answer.
    pub has_messages: bool,
    /// The codes to send.
    pub requests: Vec<PairingRequest>,
    /// The conversations whose invitations are accepted.
    pub accepted: Vec<String>,
    /// Whether another node is now the receiver. Nothing was stored then.
    pub is_lease_lost: bool,
}

/// Why nothing was received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// A later request may succeed.
    #[error("{why}")]
    Later {
        after: Option<Duration>,
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// Receiving cannot work until the account is changed.
    #[error("{why}")]
    Stopped {
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// The account's secret is in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
}

impl From<Failure> for ReceiveError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Incomplete { field, why } => Self::Stopped {
                why: incomplete_text(field, &why),
            },
            Failure::Ours(SecretsError::Sealed) => Self::Sealed,
            Failure::Ours(error) => {
                tracing::warn!(%error, "a channel's secrets could not be read");
                let why = STORAGE_UNAVAILABLE.to_owned();
                Self::Later { after: None, why }
            }
            Failure::Later { after, why } => Self::Later { after, why },
            Failure::Unreachable(why) | Failure::Disabled(why) | Failure::Refused(why) => {
                Self::Later { after: None, why }
            }
        }
    }
}
