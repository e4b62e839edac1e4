//! The answer as server-sent events (<https://platform.openai.com/docs/api-reference/chat-streaming>).

use super::Head;
use super::completion::{CompletionCall, CompletionUsage, finish_reason};
use crate::respond::openai_error;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use gatehouse_agents::{AnswerPiece, AnswerStream};
use gatehouse_domain::Problem;
use gatehouse_models::{StopReason, Usage};
use serde_json::{Value, json};
use std::convert::Infallible;

/// Converts the pieces of an answer to the data of events.
struct Chunks {
    head: Head,
    with_usage: bool,
    /// The number of calls that were sent.
    calls: usize,
    has_text: bool,
}

/// Builds the response. A failure after its start is an event with the member `error`, and `[DONE]` is missing.
pub(super) fn respond(head: Head, answer: AnswerStream, with_usage: bool) -> Response {
    let mut chunks = Chunks {
        head,
        with_usage,
        calls: 0,
        has_text: false,
    };
    let first = chunks.delta(&json!({ "role": "assistant", "content": "" }), None);
    let rest = answer.flat_map(move |piece| stream::iter(chunks.of(piece)));
    let data = stream::once(async move { first.to_string() }).chain(rest);
    let events = data.map(|data| Ok::<_, Infallible>(Event::default().data(data)));
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

impl Chunks {
    fn of(&mut self, piece: Result<AnswerPiece, Problem>) -> Vec<String> {
        let piece = match piece {
            Ok(piece) => piece,
            Err(problem) => {
                let error = json!({ "error": openai_error(&problem), "code": problem.code.name() });
                return vec![error.to_string()];
            }
        };
        match piece {
            AnswerPiece::Text(text) => {
                self.has_text = true;
                vec![self.delta(&json!({ "content": text }), None).to_string()]
            }
            // An agent's answer in several steps becomes one text.
            AnswerPiece::NextStep if self.has_text => {
                vec![self.delta(&json!({ "content": "\n\n" }), None).to_string()]
            }
            AnswerPiece::NextStep => Vec::new(),
            AnswerPiece::ToolCall(call) => {
                let mut call = json!(CompletionCall::from(call));
                if let Some(members) = call.as_object_mut() {
                    members.insert("index".to_owned(), self.calls.into());
                }
                self.calls += 1;
                vec![
                    self.delta(&json!({ "tool_calls": [call] }), None)
                        .to_string(),
                ]
            }
            AnswerPiece::End { usage, stop } => self.end(usage, stop),
        }
    }

    fn end(&self, usage: Usage, stop: StopReason) -> Vec<String> {
        let reason = finish_reason(stop, self.calls > 0);
        let mut last = vec![self.delta(&json!({}), Some(reason)).to_string()];
        if self.with_usage {
            let usage = json!(CompletionUsage::from(usage));
            last.push(self.chunk(&json!([]), &usage).to_string());
        }
        last.push("[DONE]".to_owned());
        last
    }

    fn delta(&self, delta: &Value, finish_reason: Option<&str>) -> Value {
        let choice =
            json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        self.chunk(&json!([choice]), &Value::Null)
    }

    fn chunk(&self, choices: &Value, usage: &Value) -> Value {
        let Head { id, created, model } = &self.head;
        let mut chunk = json!({ "id": id, "object": "chat.completion.chunk", "created": created,
            "model": model, "choices": choices });
        if let Some(members) = chunk.as_object_mut().filter(|_| self.with_usage) {
            members.insert("usage".to_owned(), usage.clone());
        }
        chunk
    }
}
