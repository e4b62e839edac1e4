//! The row of `chat_messages`.

use crate::sql::columns;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, MessageId, SessionId, TurnId};

/// A row of `chat_messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessageRow {
    pub session_id: SessionId,
    /// The turn's number in the session. Messages are ordered by turn, then by `seq`.
    pub turn_no: i64,
    /// The message's number in the session, in the order of storing. Assigned by
    /// [`crate::Conn::insert_chat_message`].
    pub seq: i64,
    pub id: MessageId,
    pub turn_id: TurnId,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The author: `owner`, `configured`, `model` or `stranger`.
    pub origin: String,
    /// Whether the message contains private data: the files of a user, or the result of a tool that returns private
    /// data.
    pub is_private: bool,
    pub content: String,
    /// The tool calls of an assistant message, as JSON text.
    pub tool_calls: Option<String>,
    /// The call that a tool message answers.
    pub tool_call_id: Option<String>,
    /// The tool that produced a tool message.
    pub tool_name: Option<String>,
    /// The status with which the tool call ended. `None` in messages of earlier versions.
    pub tool_status: Option<String>,
    /// Tokens that the model read for the message.
    pub input_tokens: Option<i64>,
    /// Tokens that the model generated for the message.
    pub output_tokens: Option<i64>,
    /// Input tokens that the provider read from its cache.
    pub cached_tokens: Option<i64>,
    /// Output tokens of reasoning.
    pub reasoning_tokens: Option<i64>,
    /// The model that generated the message.
    pub model: Option<String>,
    /// ID of the message's audio.
    pub audio: Option<String>,
    /// The files of the message, as JSON text. Their content is untrusted.
    pub attachments: Option<String>,
    /// Why the answer ended; only in the last message of a turn.
    pub stop: Option<String>,
    /// Why the turn failed, as JSON text.
    pub error: Option<String>,
    /// The delivery that brought a user message, or the ID of the message of a channel.
    pub delivery_id: Option<DeliveryId>,
    /// The model's reasoning before this message.
    pub reasoning: Option<String>,
    /// Data that the provider of the model requires with the message in later requests, as JSON text.
    pub reasoning_state: Option<String>,
    /// The part of the message that was spoken before the person interrupted it.
    pub heard: Option<String>,
    pub created_at: Timestamp,
}

impl ChatMessageRow {
    /// Creates an empty message, whose position in the session is not known yet.
    pub fn new(
        session_id: SessionId,
        turn_id: TurnId,
        id: MessageId,
        role: &str,
        origin: &str,
        created_at: Timestamp,
    ) -> Self {
        Self {
            session_id,
            turn_no: 0,
            seq: 0,
            id,
            turn_id,
            role: role.to_owned(),
            origin: origin.to_owned(),
            is_private: false,
            content: String::new(),
            tool_calls: None,
            tool_call_id: None,
            tool_name: None,
            tool_status: None,
            input_tokens: None,
            output_tokens: None,
            cached_tokens: None,
            reasoning_tokens: None,
            model: None,
            audio: None,
            attachments: None,
            stop: None,
            error: None,
            delivery_id: None,
            reasoning: None,
            reasoning_state: None,
            heard: None,
            created_at,
        }
    }

    /// Returns the total size of the texts in bytes.
    pub fn text_bytes(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let besides = [
            &self.tool_calls,
            &self.reasoning,
            &self.reasoning_state,
            &self.attachments,
            &self.heard,
        ];
        besides
            .into_iter()
            .map(of)
            .fold(self.content.len(), usize::saturating_add)
    }
}

columns! {
    ChatMessageRow:
    session_id, turn_no, seq, id, turn_id, role, origin, is_private("private"), content,
    tool_calls, tool_call_id, tool_name, tool_status, input_tokens, output_tokens, cached_tokens,
    reasoning_tokens, model, audio, attachments, stop, error, delivery_id, reasoning, reasoning_state, heard, created_at
}
