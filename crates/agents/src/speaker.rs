//! The interface of speech output. A higher crate registers an implementation, as with tools. This crate only filters
//! answers and accepts audio for them.

use crate::agent::Agent;
use crate::event::{AgentEvent, AudioPart};
use crate::message::Failure;
use futures_util::future::BoxFuture;
use gatehouse_domain::Problem;
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// Information that a filter extracted from an answer. Only the speaker that created the filter can interpret it.
pub type Marks = Box<dyn Any + Send + Sync>;

/// An output for the speech of a turn. Only the speaker can interpret it.
#[derive(Clone)]
pub struct SpeechOutput(pub Arc<dyn Any + Send + Sync>);

impl fmt::Debug for SpeechOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpeechOutput")
    }
}

/// Removes markup from answers and speaks them.
pub trait Speaker: Send + Sync + fmt::Debug {
    /// Creates a filter for one model answer. Every answer gets a filter, independent of the origin of its turn.
    /// `start` is set only for answers that may be spoken.
    fn begin(&self, start: Option<AnswerStart>) -> Box<dyn AnswerFilter>;

    /// Completes the speech of a turn's final answer. The speech may have begun while the model wrote. Returns the ID
    /// of the whole audio, or `None` if the answer is not spoken. Called after the end of the turn. The future is
    /// dropped if the speech is stopped.
    fn spoken<'a>(&'a self, answer: &'a Answer) -> BoxFuture<'a, Result<Option<String>, Problem>>;

    /// Returns a line for the system prompt that explains the speaker's markup, if there is any.
    fn hint(&self) -> Option<String>;

    /// Returns how long speaking one answer may take.
    fn time_limit(&self) -> Duration {
        Duration::from_mins(5)
    }
}

/// Removes markup from an answer that arrives in pieces. The result does not depend on where the
/// answer is split.
pub trait AnswerFilter: Send {
    /// Takes the next piece and returns the text that can be shown now. The text is empty while the filter needs more
    /// input to decide.
    fn push(&mut self, piece: &str) -> String;

    /// Returns work to run while the answer arrives, if any. The work ends when the filter and the
    /// marks are dropped.
    fn work(&mut self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Ends the answer, complete or not.
    fn finish(self: Box<Self>) -> Filtered;
}

/// The end of a filtered answer.
#[derive(Debug)]
pub struct Filtered {
    /// The remaining text to show.
    pub rest: String,
    /// All marks that the answer contained.
    pub marks: Marks,
}

/// The final answer of a turn. It is already stored.
#[derive(Debug)]
pub struct Answer {
    pub session: SessionId,
    pub turn: TurnId,
    pub agent: Agent,
    /// The text without markup.
    pub text: String,
    /// The filter's marks.
    pub marks: Marks,
    /// Whether the user's text was spoken.
    pub user_spoke: bool,
    /// Canceled when the speech is stopped. Work that runs elsewhere must watch this token.
    pub cancel: CancellationToken,
}

/// An answer that may be spoken and has not begun yet.
#[derive(Debug)]
pub struct AnswerStart {
    pub session: SessionId,
    /// The future ID of the answer's message.
    pub message: MessageId,
    pub agent: Agent,
    /// Whether the user's text was spoken.
    pub user_spoke: bool,
    /// The output for the speech. If absent, the parts are stored.
    pub output: Option<SpeechOutput>,
    /// Receives the parts as they are spoken.
    pub parts: Arc<AudioParts>,
}

/// Publishes the parts of a spoken answer.
#[derive(Debug)]
pub struct AudioParts {
    events: broadcast::Sender<AgentEvent>,
    session: SessionId,
    message: MessageId,
    /// Whether events are published. Speech that is sent to an output has no events, because a client that follows the
    /// events would play it twice.
    is_published: bool,
    sent: Mutex<SentParts>,
}

#[derive(Debug, Default)]
struct SentParts {
    /// Number of published parts.
    count: u32,
    /// The latest published part.
    latest: Option<String>,
    /// The last part. It is published together with the end of the speech.
    held: Option<String>,
    is_closed: bool,
}

impl AudioParts {
    pub(crate) fn new(
        events: broadcast::Sender<AgentEvent>,
        session: SessionId,
        message: MessageId,
        is_published: bool,
    ) -> Self {
        Self {
            events,
            session,
            message,
            is_published,
            sent: Mutex::default(),
        }
    }

    /// Adds a part whose audio is stored. If `is_last`, the answer has ended and nothing follows, so the part is
    /// published together with the end of the speech.
    pub fn push(&self, audio_id: String, is_last: bool) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.is_closed {
            return;
        }
        if is_last {
            sent.held = Some(audio_id);
            return;
        }
        let part = AudioPart {
            audio_id: Some(audio_id.clone()),
            part: sent.count,
            last: false,
            ..self.empty()
        };
        sent.count += 1;
        sent.latest = Some(audio_id);
        self.publish(part);
    }

    /// Publishes the end of the speech. Does nothing if there is no part, no recording and no error.
    pub(crate) fn close(&self, recording: Option<String>, error: Option<Failure>) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut sent.is_closed, true) {
            return;
        }
        let (part, audio_id) = match (sent.held.take(), sent.latest.take()) {
            (Some(held), _) => (sent.count, Some(held)),
            (None, Some(latest)) => (sent.count.saturating_sub(1), Some(latest)),
            (None, None) => (0, recording.clone()),
        };
        if audio_id.is_none() && error.is_none() {
            return;
        }
        let part = AudioPart {
            audio_id,
            part,
            last: true,
            recording,
            error,
            ..self.empty()
        };
        self.publish(part);
    }

    fn publish(&self, part: AudioPart) {
        if self.is_published {
            drop(self.events.send(AgentEvent::Audio(Arc::new(part))));
        }
    }

    fn empty(&self) -> AudioPart {
        AudioPart {
            session: self.session.clone(),
            message_id: self.message.clone(),
            audio_id: None,
            part: 0,
            last: false,
            recording: None,
            error: None,
        }
    }
}
