//! The loop of one conversation. It never waits for the client. Data that cannot be sent yet is queued here, so an
//! interruption is handled immediately.

use super::answers::Answer;
use super::approvals::next_event;
use super::listener::{Listener, Noticed, RATE};
use super::output::{SpeechSettings, Spoken};
use super::utterances::{Understood, Utterance};
use super::wire::{InputDescription, OutputDescription, ServerMessage};
use super::{TalkInput, TalkOutput, TalkParts, TalkStart};
use crate::VoiceError;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use gatehouse_agents::{AgentEvent, Failure, Sent, TurnReport};
use gatehouse_audio::Format;
use gatehouse_domain::Problem;
use gatehouse_domain::id::{ApprovalId, SessionId};
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The number of messages that may wait for a slow client. Exceeding it ends the conversation.
const MAX_WAITING: usize = 256;
/// How long to wait for the results of a stopped turn after the client has left.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// An event that the loop waits for.
pub(super) enum Step {
    Understood(Result<Understood, Problem>),
    /// The answer with this number has a turn, or its turn was refused.
    Began(u64, Result<(Sent, BoxFuture<'static, Step>), Problem>),
    Ended(u64, Result<Box<TurnReport>, Problem>),
    /// The parts that were heard are stored.
    Noted,
}

/// One conversation.
pub(super) struct Conversation {
    pub(super) parts: TalkParts,
    pub(super) start: TalkStart,
    pub(super) speech: SpeechSettings,
    pub(super) session: Option<SessionId>,
    listener: Listener,
    silence_ms: u64,
    /// Messages to send.
    queue: VecDeque<TalkOutput>,
    pub(super) works: FuturesUnordered<BoxFuture<'static, Step>>,
    /// Utterances that are not transcribed yet. The first one is currently being transcribed.
    pub(super) utterances: VecDeque<Utterance>,
    /// Transcripts that are not sent to the agent yet.
    pub(super) pending: Option<Understood>,
    /// The answer that is being written or spoken.
    pub(super) answer: Option<Answer>,
    /// Interrupted answers whose turn has not ended.
    pub(super) stopped: Vec<Answer>,
    /// Number of records of heard parts that are being stored.
    pub(super) notes: usize,
    /// The number of answers so far.
    pub(super) answers: u64,
    events: broadcast::Receiver<AgentEvent>,
    /// The calls that were reported to the client and still wait for approval.
    pub(super) waiting: Vec<ApprovalId>,
    /// Whether the client has disconnected. No new work begins then.
    pub(super) is_closing: bool,
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl Conversation {
    pub(super) fn new(
        parts: TalkParts,
        start: TalkStart,
        session: Option<SessionId>,
        listener: Listener,
        speech: SpeechSettings,
    ) -> Self {
        let events = parts.agents.subscribe();
        let silence_ms = start.silence_ms().unwrap_or_default();
        Self {
            parts,
            start,
            speech,
            session,
            listener,
            silence_ms,
            queue: VecDeque::new(),
            works: FuturesUnordered::new(),
            utterances: VecDeque::new(),
            pending: None,
            answer: None,
            stopped: Vec::new(),
            notes: 0,
            answers: 0,
            events,
            waiting: Vec::new(),
            is_closing: false,
        }
    }

    pub(super) async fn run(mut self, mut input: Receiver<TalkInput>, output: Sender<TalkOutput>) {
        self.greet();
        while self.queue.len() <= MAX_WAITING {
            let more_at = self.more_at();
            tokio::select! {
                biased;
                taken = input.recv() => match taken {
                    None => break,
                    Some(taken) => if self.take(taken).is_err() { break },
                },
                Some(step) = self.works.next(), if !self.works.is_empty() => self.step(step),
                event = next_event(&mut self.events) => self.agent_event(&event),
                place = output.reserve(), if !self.queue.is_empty() => {
                    let (Ok(place), Some(next)) = (place, self.queue.pop_front()) else { break };
                    place.send(next);
                }
                spoken = next_spoken(&mut self.answer, more_at),
                    if self.queue.is_empty() && more_at.is_some() => self.spoken(spoken),
            }
            self.ask_when_ready();
        }
        self.close().await;
    }

    /// Stops the answer and waits until its heard part is stored.
    async fn close(mut self) {
        self.is_closing = true;
        self.utterances.clear();
        self.interrupt();
        let ending = async {
            while let Some(step) = self.works.next().await {
                self.step(step);
            }
        };
        if tokio::time::timeout(LAST_WORDS, ending).await.is_err() {
            tracing::warn!("what was heard of a stopped answer may not be stored");
        }
    }

    fn greet(&mut self) {
        let format = self.speech.format;
        let ready = ServerMessage::Ready {
            session: self.session.as_ref(),
            input: InputDescription {
                rate: self.start.rate().unwrap_or(RATE),
            },
            output: OutputDescription {
                format: format.as_str(),
                mime_type: format.mime_type(),
                rate: (format == Format::Pcm).then_some(Format::PCM_RATE),
            },
            silence_ms: self.silence_ms,
        };
        let ready = ready.text();
        self.queue.push_back(TalkOutput::Message(ready));
    }

    pub(super) fn tell(&mut self, sent: &ServerMessage<'_>) {
        self.queue.push_back(TalkOutput::Message(sent.text()));
    }

    pub(super) fn fail(&mut self, problem: Problem) {
        self.tell(&ServerMessage::Error {
            error: Failure(problem),
        });
    }

    fn take(&mut self, input: TalkInput) -> Result<(), VoiceError> {
        match input {
            TalkInput::Audio(bytes) => {
                for noticed in self.listener.take(&bytes)? {
                    self.notice(noticed);
                }
            }
            TalkInput::Commit => {
                if let Some(ended) = self.listener.end() {
                    self.notice(ended);
                }
            }
            TalkInput::Stop => self.interrupt(),
        }
        Ok(())
    }

    fn notice(&mut self, noticed: Noticed) {
        match noticed {
            Noticed::Began => {
                self.interrupt();
                self.tell(&ServerMessage::SpeechStarted);
            }
            Noticed::Ended(samples) => {
                let duration_ms = samples.len() as u64 * 1000 / u64::from(RATE);
                self.tell(&ServerMessage::SpeechEnded { duration_ms });
                self.understand(samples);
            }
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Understood(understood) => self.understood(understood),
            Step::Began(number, begun) => self.began(number, begun),
            Step::Ended(number, ended) => self.ended(number, ended),
            Step::Noted => self.notes -= 1,
        }
    }

    /// Returns whether the person is currently speaking.
    pub(super) const fn is_interrupted(&self) -> bool {
        self.listener.is_speaking()
    }

    /// Returns when more audio may be sent, or `None` if there is no answer to speak.
    fn more_at(&self) -> Option<Instant> {
        let answer = self.answer.as_ref()?;
        answer
            .is_speaking()
            .then(|| answer.playback.more_at(Instant::now()))
    }

    fn spoken(&mut self, spoken: Option<Spoken>) {
        let Some(answer) = &mut self.answer else {
            return;
        };
        match spoken {
            Some(Spoken::Begin { message, text }) => {
                let part = ServerMessage::Part {
                    message_id: &message,
                    part: answer.parts,
                    text: &text,
                };
                self.queue.push_back(TalkOutput::Message(part.text()));
                answer.parts += 1;
                answer.playback.begin(message, text);
            }
            Some(Spoken::Audio { bytes, length }) => {
                answer.playback.add(length, Instant::now());
                let cancel: CancellationToken = answer.cancel.clone();
                self.queue.push_back(TalkOutput::Audio(bytes, cancel));
            }
            None => {
                answer.spoken = None;
                answer.playback.end();
                if answer.parts > 0 {
                    let spoken = ServerMessage::Spoken {
                        turn_id: answer.turn.as_ref(),
                    };
                    self.queue.push_back(TalkOutput::Message(spoken.text()));
                }
                self.finish();
            }
        }
    }
}

/// Waits until more audio may be sent, and then for that audio. Returns `None` when the answer is
/// spoken.
async fn next_spoken(answer: &mut Option<Answer>, more_at: Option<Instant>) -> Option<Spoken> {
    if let Some(at) = more_at {
        sleep_until(at).await;
    }
    answer.as_mut()?.spoken.as_mut()?.recv().await
}

/// Returns the error for a client that sends speech faster than it can be transcribed.
pub(super) fn too_much() -> Problem {
    let message = "Too many sentences are waiting to be transcribed.";
    Problem {
        message: message.to_owned(),
        ..Problem::rate_limited(1000)
    }
}
