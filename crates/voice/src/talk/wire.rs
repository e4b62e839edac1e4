//! The messages of `/ws/talk`, which are JSON objects with a `type`.

use crate::VoiceError;
use crate::listening::MICROPHONE_RATES;
use bytes::Bytes;
use gatehouse_agents::{Approval, Failure, Stop, Usage};
use gatehouse_audio::Format;
use gatehouse_domain::id::{ApprovalId, AudioId, MessageId, SessionId, TurnId};
use gatehouse_domain::{Problem, Timestamp};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use tokio_util::sync::CancellationToken;

/// The accepted silences, in milliseconds.
const SILENCES: RangeInclusive<u64> = 200..=5_000;
/// The length of the silence that ends an utterance, unless the client requests another.
const USUAL_SILENCE_MS: u64 = 700;

/// A message of the client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TalkMessage {
    /// Begins the conversation. It must be the first message.
    Start(Box<TalkStart>),
    /// Ends the utterance now, without waiting for silence.
    Commit {},
    /// Stops the answer.
    Stop {},
}

/// The parameters of a conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TalkStart {
    /// The session's ID or key. Without it, a new session begins with the first utterance.
    pub(super) session: Option<String>,
    /// The agent that answers.
    pub(super) agent: Option<String>,
    /// The model that writes the answers.
    pub(super) model: Option<String>,
    /// The language that is spoken to the agent.
    pub(super) language: Option<String>,
    /// The provider that transcribes.
    pub(super) stt: Option<String>,
    /// The provider that speaks.
    pub(super) tts: Option<String>,
    /// The persona that speaks.
    pub(super) persona: Option<String>,
    /// The provider's ID of the voice.
    pub(super) voice: Option<String>,
    input: Option<InputFormat>,
    output: Option<OutputFormat>,
    /// The length of the silence that ends an utterance.
    silence_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputFormat {
    /// Samples per second.
    rate: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputFormat {
    /// The name of the format.
    format: String,
}

impl TalkStart {
    /// Returns the rate of the microphone, which may be out of bounds.
    pub fn rate_or_default(&self) -> u32 {
        self.input
            .as_ref()
            .map_or(super::listener::RATE, |input| input.rate)
    }

    /// Returns the rate of the microphone.
    pub(super) fn rate(&self) -> Result<u32, VoiceError> {
        let rate = self.rate_or_default();
        if MICROPHONE_RATES.contains(&rate) {
            Ok(rate)
        } else {
            let reason = format!(
                "expected {} to {}",
                MICROPHONE_RATES.start(),
                MICROPHONE_RATES.end()
            );
            Err(VoiceError::invalid("input.rate", reason))
        }
    }

    pub(super) fn format(&self) -> Result<Format, VoiceError> {
        let Some(OutputFormat { format }) = &self.output else {
            return Ok(Format::Pcm);
        };
        Format::parse(format).ok_or_else(|| {
            let all = Format::ALL.map(Format::as_str).join(", ");
            VoiceError::invalid("output.format", format!("expected one of {all}"))
        })
    }

    pub(super) fn silence_ms(&self) -> Result<u64, VoiceError> {
        let silence = self.silence_ms.unwrap_or(USUAL_SILENCE_MS);
        if SILENCES.contains(&silence) {
            Ok(silence)
        } else {
            let reason = format!("expected {} to {}", SILENCES.start(), SILENCES.end());
            Err(VoiceError::invalid("silence_ms", reason))
        }
    }
}

/// A message to the client.
#[derive(Debug)]
pub enum TalkOutput {
    /// A text message.
    Message(String),
    /// Audio of the latest `part`. It must be discarded if the token is canceled, because the
    /// person has interrupted.
    Audio(Bytes, CancellationToken),
}

/// A message to the client.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServerMessage<'a> {
    /// The conversation can begin.
    Ready {
        session: Option<&'a SessionId>,
        input: InputDescription,
        output: OutputDescription,
        silence_ms: u64,
    },
    /// A new session has begun.
    Session {
        session: &'a SessionId,
        session_key: &'a str,
    },
    SpeechStarted,
    SpeechEnded {
        duration_ms: u64,
    },
    /// The transcript of an utterance; empty if nothing was understood. Then no turn follows.
    Transcript {
        text: &'a str,
        language: &'a str,
        audio_id: Option<&'a AudioId>,
    },
    /// The agent answers.
    Turn {
        session: &'a SessionId,
        turn_id: &'a TurnId,
    },
    /// A tool call waits for approval. Sent to callers that may answer it.
    Approval(&'a Approval),
    /// A tool call waits for approval. Sent to callers that may not answer it.
    Waiting {
        id: &'a ApprovalId,
        expires_at: Timestamp,
    },
    /// A call no longer waits.
    ApprovalEnded {
        id: &'a ApprovalId,
        allowed: bool,
    },
    /// The binary messages that follow speak this text, until the next `part` or `spoken`.
    Part {
        message_id: &'a MessageId,
        part: u32,
        text: &'a str,
    },
    /// All audio of the turn was sent.
    Spoken {
        turn_id: Option<&'a TurnId>,
    },
    /// The answer was stopped. The player must not play the rest.
    Interrupted {
        turn_id: Option<&'a TurnId>,
        heard: String,
    },
    /// The turn has ended.
    Answer {
        turn_id: &'a TurnId,
        text: &'a str,
        stop: Stop,
        audio: Option<&'a str>,
        usage: Usage,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        #[serde(skip_serializing_if = "Option::is_none")]
        audio_error: Option<Failure>,
    },
    /// Something failed; the conversation continues unless the socket closes.
    Error {
        error: Failure,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct InputDescription {
    pub(super) rate: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct OutputDescription {
    pub(super) format: &'static str,
    pub(super) mime_type: &'static str,
    /// Samples per second of raw samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<u32>,
}

impl ServerMessage<'_> {
    pub(super) fn text(&self) -> String {
        // Serialization cannot fail: all keys are strings.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns the message about a problem.
pub fn error_message(problem: Problem) -> String {
    ServerMessage::Error {
        error: Failure(problem),
    }
    .text()
}

#[cfg(test)]
mod tests;
