//! `OpenAI` chat completions: decoding the response stream.
//!
//! Format: <https://platform.openai.com/docs/api-reference/chat-streaming>. Comments mark where compatible
//! servers differ.

mod calls;
mod frame;

use super::state::StateCollector;
use crate::Limits;
use crate::chat::{Chunk, StopReason, ToolCall, Usage};
use crate::decoder::{Counter, Decoder, ReadError, finished, finished_last, read_document};
use crate::progress::Arrived;
use crate::refusal;
use frame::{Choice, Content, Delta, Frame};
use gatehouse_outbound::event_stream::Event;
use serde_json::Value;

struct OpenCall {
    index: u64,
    call: ToolCall,
}

/// Decodes one response.
pub(super) struct OpenaiDecoder {
    counter: Counter,
    calls: Vec<OpenCall>,
    state: StateCollector,
    usage: Usage,
    stop: Option<StopReason>,
    /// Whether the text is a refusal. The finish reason is then `stop`.
    is_refusal: bool,
}

impl OpenaiDecoder {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            counter: Counter::new(limits),
            calls: Vec::new(),
            state: StateCollector::default(),
            usage: Usage {
                input_tokens: 0,
                output_tokens: 0,
                cached_tokens: 0,
                reasoning_tokens: 0,
            },
            stop: None,
            is_refusal: false,
        }
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        if let Some(text) = &delta.reasoning_content {
            self.state.content(text);
        }
        // Servers that send both fields send the same text in them.
        let reasoning = delta.reasoning_content.or(delta.reasoning);
        self.counter
            .reasoning(reasoning.as_deref().unwrap_or_default(), out)?;
        let details = delta.reasoning_details.unwrap_or_default();
        for detail in details.iter().chain(&delta.extra_content) {
            self.counter.hidden(detail.to_string().len())?;
        }
        self.state.details(details);
        if let Some(extra) = delta.extra_content {
            self.state.extra(extra);
        }
        match delta.content {
            Some(Content::Text(text)) => self.counter.text(&text, out)?,
            Some(Content::Parts(parts)) => {
                for part in &parts {
                    self.part(part, out)?;
                }
            }
            None => {}
        }
        if let Some(text) = delta.refusal.filter(|text| !text.is_empty()) {
            self.is_refusal = true;
            self.counter.text(&text, out)?;
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call)?;
        }
        Ok(())
    }

    /// Handles a part of Mistral's content: text, or thinking that consists of texts
    /// (<https://docs.mistral.ai/capabilities/reasoning>).
    fn part(&mut self, part: &Value, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        let text = |part: &Value| Some(part.get("text")?.as_str()?.to_owned());
        let thinking = part.get("thinking").and_then(Value::as_array);
        for text in thinking.into_iter().flatten().filter_map(text) {
            self.counter.reasoning(&text, out)?;
        }
        match text(part) {
            Some(text) => self.counter.text(&text, out),
            None => Ok(()),
        }
    }

    /// Handles the error and the usage of a frame. Returns its choices.
    fn take_frame(&mut self, frame: Frame) -> Result<Vec<Choice>, ReadError> {
        if let Some(error) = frame.error.filter(|error| !error.is_null()) {
            return Err(ReadError::Vendor(refusal::in_stream(&error)));
        }
        if let Some(usage) = frame.usage {
            let count = |new: Option<u64>, old: u64| new.unwrap_or(old);
            let details = usage.prompt_tokens_details;
            let cached = details.and_then(|details| details.cached_tokens);
            let details = usage.completion_tokens_details;
            let reasoning = details.and_then(|details| details.reasoning_tokens);
            let old = self.usage;
            self.usage = Usage {
                input_tokens: count(usage.prompt_tokens, old.input_tokens),
                output_tokens: count(usage.completion_tokens, old.output_tokens),
                cached_tokens: count(cached.or(usage.prompt_cache_hit_tokens), old.cached_tokens),
                reasoning_tokens: count(reasoning, old.reasoning_tokens),
            };
        }
        let mut choices = frame.choices.unwrap_or_default();
        choices.retain(|choice| choice.index.unwrap_or(0) == 0);
        Ok(choices)
    }

    fn finish(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        // An end without any content is not an answer.
        if self.stop.is_none() && !self.counter.has_content() {
            return Err(ReadError::Garbage);
        }
        self.counter.end_text(out);
        let count = self.calls.len();
        for (number, OpenCall { mut call, .. }) in self.calls.drain(..).enumerate() {
            if call.name.is_empty() {
                return Err(ReadError::Garbage);
            }
            if call.id.is_empty() {
                call.id = format!("call_{number}");
            }
            out.push(if number + 1 == count {
                finished_last(call, self.stop)
            } else {
                finished(call)
            });
        }
        let stop = match self.stop.unwrap_or(StopReason::End) {
            StopReason::End if self.is_refusal => StopReason::Refused,
            // Some servers report "stop" instead of tool calls.
            StopReason::End if count > 0 => StopReason::ToolUse,
            stop => stop,
        };
        out.extend(self.state.finish().map(Chunk::State));
        out.push(Chunk::End {
            usage: self.usage,
            stop,
        });
        Ok(true)
    }
}

impl Decoder for OpenaiDecoder {
    fn event(&mut self, event: &Event, out: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        if event.data.trim() == "[DONE]" {
            return self.finish(out);
        }
        let frame: Frame = serde_json::from_str(&event.data).map_err(|_| ReadError::Garbage)?;
        for choice in self.take_frame(frame)? {
            if let Some(delta) = choice.delta {
                self.delta(delta, out)?;
            }
            if let Some(reason) = choice.finish_reason {
                self.stop = Some(stop_reason(&reason)?);
            }
        }
        Ok(false)
    }

    fn document(&mut self, body: &[u8], out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        let frame = read_document(body)?;
        let choices = self.take_frame(frame)?;
        let choice = choices.into_iter().next().ok_or(ReadError::Garbage)?;
        let reason = choice.finish_reason.as_deref();
        self.stop = reason.map(stop_reason).transpose()?;
        if let Some(mut message) = choice.message {
            // Calls in a document are not numbered.
            let calls = message.tool_calls.iter_mut().flatten();
            for (number, call) in (0..).zip(calls) {
                call.index = Some(number);
            }
            self.delta(message, out)?;
        }
        self.finish(out).map(drop)
    }

    fn arrived(&self) -> Arrived {
        Arrived {
            usage: self.usage,
            bytes: self.counter.written_bytes(),
        }
    }

    /// Handles the end of the stream. Some servers omit `[DONE]`, so a finish reason also ends the
    /// answer.
    fn end(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        if self.stop.is_none() {
            return Ok(false);
        }
        self.finish(out)
    }
}

/// Maps a finish reason. `OpenAI` sends `stop`, `length`, `tool_calls`, `function_call` and `content_filter`. Mistral
/// adds `model_length` and `error`, `OpenRouter` adds `error`, and `DeepSeek` adds `insufficient_system_resource`.
/// `error` and `insufficient_system_resource` mean that the answer broke off. Servers also use their own words for a
/// regular end, such as `eos`.
fn stop_reason(reason: &str) -> Result<StopReason, ReadError> {
    match reason {
        "tool_calls" | "function_call" => Ok(StopReason::ToolUse),
        "length" | "model_length" => Ok(StopReason::Length),
        "content_filter" => Ok(StopReason::Filtered),
        "error" | "insufficient_system_resource" => Err(ReadError::Cut),
        _ => Ok(StopReason::End),
    }
}
