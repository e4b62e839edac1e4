//! The frames of a streamed answer.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A part of a streamed answer.
#[derive(Clone, Debug)]
pub enum Part {
    /// A piece of text.
    Text(String),
    /// A piece of reasoning, in the field that `DeepSeek` and local servers use.
    Thought(String),
    /// A call of a tool: its ID, its name and its arguments.
    Call(String, String, String),
    /// A delta that is sent unchanged.
    Delta(Value),
    /// A frame that is sent unchanged.
    Frame(Value),
    /// Waits for a permit and consumes it.
    Wait(Arc<Semaphore>),
}

impl Part {
    /// Returns a piece of text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A step of a stream.
enum Step {
    Send(String),
    Wait(Arc<Semaphore>),
}

/// The steps of a stream. Frames without a wait between them are sent together.
#[derive(Default)]
pub(super) struct Frames {
    steps: Vec<Step>,
    calls: usize,
}

impl Frames {
    /// Begins with the frame that names the role, as `OpenAI` does.
    pub(super) fn start() -> Self {
        Self::default().delta(&json!({ "role": "assistant", "content": "" }))
    }

    fn send(mut self, text: &str) -> Self {
        match self.steps.last_mut() {
            Some(Step::Send(before)) => before.push_str(text),
            _ => self.steps.push(Step::Send(text.to_owned())),
        }
        self
    }

    pub(super) fn frame(self, frame: &Value) -> Self {
        self.send(&format!("data: {frame}\n\n"))
    }

    fn delta(self, delta: &Value) -> Self {
        self.frame(&json!({ "choices": [{ "index": 0, "delta": delta }] }))
    }

    pub(super) fn wait(mut self, permits: Arc<Semaphore>) -> Self {
        self.steps.push(Step::Wait(permits));
        self
    }

    pub(super) fn part(self, part: Part) -> Self {
        match part {
            Part::Text(text) => self.delta(&json!({ "content": text })),
            Part::Thought(text) => self.delta(&json!({ "reasoning_content": text })),
            Part::Call(id, name, arguments) => self.call(&id, &name, &arguments),
            Part::Delta(delta) => self.delta(&delta),
            Part::Frame(frame) => self.frame(&frame),
            Part::Wait(permits) => self.wait(permits),
        }
    }

    pub(super) fn calls(self, calls: Vec<(String, String)>) -> Self {
        let calls = calls.into_iter().enumerate();
        calls.fold(self, |frames, (index, (name, arguments))| {
            frames.call(&format!("call_{index}"), &name, &arguments)
        })
    }

    /// Sends the name first and the arguments in parts, as real providers do.
    fn call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        let index = self.calls;
        self.calls += 1;
        let half = arguments.char_indices().nth(arguments.chars().count() / 2);
        let (first, second) = arguments.split_at(half.map_or(0, |(place, _)| place));
        let call = json!({ "index": index, "id": id, "type": "function",
            "function": { "name": name, "arguments": first } });
        let more = json!({ "index": index, "function": { "arguments": second } });
        [call, more].iter().fold(self, |frames, call| {
            frames.delta(&json!({ "tool_calls": [call] }))
        })
    }

    /// Sends the finish reason, the usage and the end.
    pub(super) fn end(self, reason: &str) -> Response {
        let finish = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
        let usage = json!({ "choices": [],
            "usage": { "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13 } });
        self.frame(&finish).frame(&usage).done()
    }

    pub(super) fn done(self) -> Response {
        stream(self.send("data: [DONE]\n\n"))
    }
}

pub(super) fn stream(frames: Frames) -> Response {
    let steps = frames.steps.into_iter();
    let body = futures_util::stream::unfold(steps, |mut steps| async move {
        loop {
            match steps.next()? {
                Step::Send(text) => return Some((Ok::<_, Infallible>(text), steps)),
                Step::Wait(permits) => permits.acquire().await.ok()?.forget(),
            }
        }
    });
    let kind = [("content-type", "text/event-stream")];
    (kind, Body::from_stream(body)).into_response()
}
