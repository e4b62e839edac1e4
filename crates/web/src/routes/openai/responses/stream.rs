//! The answer as server-sent events (<https://platform.openai.com/docs/api-reference/responses-streaming>).

use super::response::{
    COMPLETED, Head, IN_PROGRESS, OutputItem, ResponseObject, TextPart, status_of,
};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use gatehouse_agents::{AnswerPiece, AnswerStream};
use gatehouse_domain::Problem;
use gatehouse_models::ToolCall;
use serde_json::{Map, Value, json};
use std::convert::Infallible;

/// Builds the response. A failure after its start is the event `response.failed`.
pub(super) fn respond(head: Head, answer: AnswerStream) -> Response {
    let mut events = Events {
        response: head.response(),
        head,
        open: None,
        sent: 0,
        ready: Vec::new(),
    };
    events.begin();
    let first = stream::iter(std::mem::take(&mut events.ready));
    let rest = answer.flat_map(move |piece| {
        events.take(piece);
        stream::iter(std::mem::take(&mut events.ready))
    });
    Sse::new(first.chain(rest).map(Ok::<_, Infallible>))
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// The item that is being sent.
enum OpenItem {
    /// A message, with its text so far.
    Message(String),
    /// A call whose arguments were sent.
    Call(ToolCall),
}

/// Converts the pieces of an answer to events.
struct Events {
    head: Head,
    /// The response so far.
    response: ResponseObject,
    /// The last item. It stays open until the next piece, because a token limit may have cut it.
    open: Option<OpenItem>,
    /// The number of events so far.
    sent: u64,
    ready: Vec<Event>,
}

impl Events {
    fn push(&mut self, kind: &str, members: Value) {
        let mut data = match members {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        data.insert("type".to_owned(), kind.into());
        data.insert("sequence_number".to_owned(), self.sent.into());
        self.sent += 1;
        let data = Value::Object(data).to_string();
        self.ready.push(Event::default().event(kind).data(data));
    }

    fn push_response(&mut self, kind: &str) {
        let members = json!({ "response": self.response });
        self.push(kind, members);
    }

    fn begin(&mut self) {
        self.push_response("response.created");
        self.push_response("response.in_progress");
    }

    fn take(&mut self, piece: Result<AnswerPiece, Problem>) {
        match piece {
            Ok(AnswerPiece::Text(text)) => self.take_text(&text),
            // An agent's answer in several steps becomes one text.
            Ok(AnswerPiece::NextStep) if self.has_open_text() => self.take_text("\n\n"),
            Ok(AnswerPiece::NextStep) => {}
            Ok(AnswerPiece::ToolCall(call)) => {
                self.end_item(COMPLETED);
                self.begin_call(call);
            }
            Ok(AnswerPiece::End { usage, stop }) => {
                if self.response.output.is_empty() && self.open.is_none() {
                    self.begin_text();
                }
                self.end_item(status_of(stop));
                self.response.end(usage, stop);
                let kind = format!("response.{}", self.response.status);
                self.push_response(&kind);
            }
            // The last item gets no end event. Without the stop reason, it may be cut.
            Err(problem) => {
                self.open = None;
                self.response.fail(&problem);
                self.push_response("response.failed");
            }
        }
    }

    /// Returns the index of the item that is being sent.
    fn index(&self) -> usize {
        self.response.output.len()
    }

    const fn has_open_text(&self) -> bool {
        matches!(self.open, Some(OpenItem::Message(_)))
    }

    fn begin_text(&mut self) {
        let index = self.index();
        let item = self.head.message(index, "", IN_PROGRESS);
        self.push(
            "response.output_item.added",
            json!({ "output_index": index, "item": item }),
        );
        self.push(
            "response.content_part.added",
            json!({ "item_id": item.id(), "output_index": index, "content_index": 0,
                "part": TextPart::of("") }),
        );
        self.open = Some(OpenItem::Message(String::new()));
    }

    fn take_text(&mut self, text: &str) {
        if !self.has_open_text() {
            self.end_item(COMPLETED);
            self.begin_text();
        }
        let index = self.index();
        let item = self.head.message(index, "", IN_PROGRESS);
        self.push(
            "response.output_text.delta",
            json!({ "item_id": item.id(), "output_index": index, "content_index": 0, "delta": text,
                "logprobs": [] }),
        );
        if let Some(OpenItem::Message(whole)) = &mut self.open {
            whole.push_str(text);
        }
    }

    /// Ends the open item, if there is one.
    fn end_item(&mut self, status: &'static str) {
        let index = self.index();
        let item = match self.open.take() {
            None => return,
            Some(OpenItem::Message(text)) => self.end_text(&text, status),
            Some(OpenItem::Call(call)) => self.end_call(&call, status),
        };
        let members = json!({ "output_index": index, "item": item });
        self.push("response.output_item.done", members);
        self.response.output.push(item);
    }

    /// Sends the end of a text. Returns its item.
    fn end_text(&mut self, text: &str, status: &'static str) -> OutputItem {
        let index = self.index();
        let item = self.head.message(index, text, status);
        let place = json!({ "item_id": item.id(), "output_index": index, "content_index": 0 });
        let with = |name: &str, value: Value| {
            let mut members = place.clone();
            if let Some(members) = members.as_object_mut() {
                members.insert(name.to_owned(), value);
            }
            members
        };
        let mut done = with("text", text.into());
        if let Some(members) = done.as_object_mut() {
            members.insert("logprobs".to_owned(), json!([]));
        }
        self.push("response.output_text.done", done);
        let part = json!(TextPart::of(text));
        self.push("response.content_part.done", with("part", part));
        item
    }

    fn begin_call(&mut self, call: ToolCall) {
        let index = self.index();
        let item = self.head.call(index, &call, IN_PROGRESS);
        self.push(
            "response.output_item.added",
            json!({ "output_index": index, "item": item }),
        );
        self.push(
            "response.function_call_arguments.delta",
            json!({ "item_id": item.id(), "output_index": index, "delta": call.arguments }),
        );
        self.open = Some(OpenItem::Call(call));
    }

    /// Sends the end of a call's arguments. Returns its item.
    fn end_call(&mut self, call: &ToolCall, status: &'static str) -> OutputItem {
        let index = self.index();
        let item = self.head.call(index, call, status);
        self.push(
            "response.function_call_arguments.done",
            json!({ "item_id": item.id(), "output_index": index, "name": call.name,
                "arguments": call.arguments }),
        );
        item
    }
}

#[cfg(test)]
mod tests;
