//! A complete answer of the model, and its speech.

use crate::message::ToolCallRecord;
use crate::speaker::{AudioParts, Marks};
use crate::stop::Stop;
use crate::tokens::tokens_of;
use gatehouse_domain::Problem;
use gatehouse_domain::id::MessageId;
use gatehouse_models::{CallProgress, Usage};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A complete answer.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The text without markup.
    pub(super) text: String,
    /// The marks of the speaker's filter.
    pub(super) marks: Option<Marks>,
    /// The speech of the answer, if it may be spoken.
    pub(super) speech: Option<Speech>,
    pub(super) calls: Vec<ToolCallRecord>,
    pub(super) usage: Usage,
    /// The received part of the answer.
    pub(super) progress: CallProgress,
    pub(super) stop: Stop,
    /// The reasoning before the answer, which is not a part of it.
    pub(super) reasoning: String,
    /// Data that the provider must receive again with this answer.
    pub(super) state: Option<Value>,
}

impl Reply {
    /// Estimates the usage of the answer, for providers that do not report it.
    pub(super) fn estimate(&self, sent_tokens: u64) -> Usage {
        let calls = self.calls.iter().map(|call| tokens_of(&call.arguments));
        Usage {
            input_tokens: sent_tokens,
            output_tokens: tokens_of(&self.text) + tokens_of(&self.reasoning) + calls.sum::<u64>(),
            ..Usage::default()
        }
    }
}

/// The speech of an answer that is being written. Dropping it stops the speech.
#[derive(Debug)]
pub(super) struct Speech {
    /// The future ID of the answer's message.
    pub(super) message: MessageId,
    pub(super) parts: Arc<AudioParts>,
    pub(super) cancel: CancellationToken,
}

impl Drop for Speech {
    fn drop(&mut self) {
        // Canceling also ends work that the speaker started elsewhere.
        self.cancel.cancel();
        self.parts.close(None, None);
    }
}

/// How a speech ended.
#[derive(Debug, Default)]
pub(super) struct EndedSpeech {
    /// The audio of the whole answer.
    pub(super) audio: Option<String>,
    /// Why the answer could not be spoken.
    pub(super) problem: Option<Problem>,
}
