//! A configurable speaker with its own markup.

use futures_util::future::BoxFuture;
use gatehouse_agents::{Answer, AnswerFilter, AnswerStart, AudioParts, Filtered, Speaker};
use gatehouse_domain::Problem;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub const MARK: &str = "<<say>>";

/// The input that the speaker received.
#[derive(Clone, Debug)]
pub struct Heard {
    pub session: String,
    pub agent: String,
    pub text: String,
    /// The number of marks in the answer.
    pub marks: usize,
    pub user_spoke: bool,
    pub cancel: CancellationToken,
}

type Body = dyn Fn(Heard) -> BoxFuture<'static, Result<Option<String>, Problem>> + Send + Sync;

pub struct TestSpeaker {
    body: Box<Body>,
    limit: Duration,
    heard: Mutex<Vec<Heard>>,
    /// The parts of every answer that may be spoken.
    parts: Mutex<Vec<Arc<AudioParts>>>,
}

impl fmt::Debug for TestSpeaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestSpeaker")
    }
}

impl TestSpeaker {
    pub fn new<F>(body: F) -> Arc<Self>
    where
        F: Fn(Heard) -> BoxFuture<'static, Result<Option<String>, Problem>> + Send + Sync + 'static,
    {
        Self::limited(Duration::from_mins(1), body)
    }

    pub fn limited<F>(limit: Duration, body: F) -> Arc<Self>
    where
        F: Fn(Heard) -> BoxFuture<'static, Result<Option<String>, Problem>> + Send + Sync + 'static,
    {
        Arc::new(Self {
            body: Box::new(body),
            limit,
            heard: Mutex::default(),
            parts: Mutex::default(),
        })
    }

    /// Speaks everything as `aud_1`.
    pub fn always() -> Arc<Self> {
        Self::new(|_| Box::pin(async { Ok(Some("aud_1".to_owned())) }))
    }

    pub fn parts(&self) -> Vec<Arc<AudioParts>> {
        self.parts.lock().unwrap().clone()
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

impl Speaker for TestSpeaker {
    fn begin(&self, start: Option<AnswerStart>) -> Box<dyn AnswerFilter> {
        let parts = start.map(|start| start.parts);
        self.parts.lock().unwrap().extend(parts);
        Box::new(MarkFilter::default())
    }

    fn spoken<'a>(&'a self, answer: &'a Answer) -> BoxFuture<'a, Result<Option<String>, Problem>> {
        let heard = Heard {
            session: answer.session.to_string(),
            agent: answer.agent.id.clone(),
            text: answer.text.clone(),
            marks: *answer.marks.downcast_ref().unwrap(),
            user_spoke: answer.user_spoke,
            cancel: answer.cancel.clone(),
        };
        self.heard.lock().unwrap().push(heard.clone());
        (self.body)(heard)
    }

    fn hint(&self) -> Option<String> {
        Some(format!("Write {MARK} to be heard."))
    }

    fn time_limit(&self) -> Duration {
        self.limit
    }
}

/// Removes [`MARK`] and counts it.
#[derive(Default)]
struct MarkFilter {
    held: String,
    marks: usize,
}

impl AnswerFilter for MarkFilter {
    fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        self.marks += self.held.matches(MARK).count();
        let held = self.held.replace(MARK, "");
        let kept = (1..MARK.len()).rev().find(|n| held.ends_with(&MARK[..*n]));
        let (shown, kept) = held.split_at(held.len() - kept.unwrap_or(0));
        let shown = shown.to_owned();
        kept.clone_into(&mut self.held);
        shown
    }

    fn finish(self: Box<Self>) -> Filtered {
        Filtered {
            rest: self.held,
            marks: Box::new(self.marks),
        }
    }
}
