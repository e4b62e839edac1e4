//! Anthropic Messages: decoding the response stream.
//!
//! Format: <https://platform.claude.com/docs/en/build-with-claude/streaming>. Unknown events and blocks are
//! ignored, as its section "Other events" requires.

mod blocks;
mod frame;

use super::thinking::{BlockCollector, OpenThinking};
use crate::Limits;
use crate::chat::{Chunk, StopReason, ToolCall, Usage};
use crate::decoder::{Counter, Decoder, ReadError, finished_last, read_document};
use crate::progress::Arrived;
use crate::refusal;
use frame::{Frame, RawUsage, WholeResponse};
use gatehouse_outbound::event_stream::Event;
use serde_json::Value;

struct OpenCall {
    index: u64,
    call: ToolCall,
    /// The input in the start event. It is used if no deltas follow.
    whole_input: Option<String>,
}

/// Decodes one response.
pub(super) struct AnthropicDecoder {
    counter: Counter,
    open: Vec<OpenCall>,
    /// The last call, if it has no input. The stop reason, which follows, shows whether the input was cut.
    without_input: Option<ToolCall>,
    thinking: Option<OpenThinking>,
    blocks: BlockCollector,
    fresh: u64,
    written_to_cache: u64,
    read_from_cache: u64,
    output: u64,
    stop: Option<StopReason>,
}

impl AnthropicDecoder {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            counter: Counter::new(limits),
            open: Vec::new(),
            without_input: None,
            thinking: None,
            blocks: BlockCollector::default(),
            fresh: 0,
            written_to_cache: 0,
            read_from_cache: 0,
            output: 0,
            stop: None,
        }
    }

    fn count(&mut self, usage: &RawUsage) {
        let take = |new: Option<u64>, old: &mut u64| *old = new.unwrap_or(*old);
        take(usage.input_tokens, &mut self.fresh);
        take(
            usage.cache_creation_input_tokens,
            &mut self.written_to_cache,
        );
        take(usage.cache_read_input_tokens, &mut self.read_from_cache);
        take(usage.output_tokens, &mut self.output);
    }

    fn usage(&self) -> Usage {
        let input = self.fresh.saturating_add(self.written_to_cache);
        Usage {
            input_tokens: input.saturating_add(self.read_from_cache),
            output_tokens: self.output,
            cached_tokens: self.read_from_cache,
            // The vendor counts thinking as output and does not report it separately.
            reasoning_tokens: 0,
        }
    }

    fn finish(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        self.counter.end_text(out);
        // An end without any content is invalid without a stop reason. With one, it is valid: the vendor's models may
        // end their turn without text if they have nothing to add to tool results.
        let is_nothing = self.stop.is_none() && !self.counter.has_content();
        if !self.open.is_empty() || is_nothing {
            return Err(ReadError::Garbage);
        }
        let last = self.without_input.take();
        out.extend(last.map(|call| finished_last(call, self.stop)));
        out.extend(self.blocks.finish().map(Chunk::State));
        out.push(Chunk::End {
            usage: self.usage(),
            stop: self.stop.unwrap_or(StopReason::End),
        });
        Ok(true)
    }
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: &Event, out: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        // llama.cpp sends only the inner object. The event name identifies it.
        if event.name == "error" {
            let error: Value = serde_json::from_str(&event.data).map_err(|_| ReadError::Garbage)?;
            return Err(ReadError::Vendor(refusal::in_stream(&error)));
        }
        let frame: Frame = serde_json::from_str(&event.data).map_err(|_| ReadError::Garbage)?;
        match frame {
            Frame::MessageStart { message } => {
                if let Some(usage) = message.usage {
                    self.count(&usage);
                }
            }
            Frame::ContentBlockStart {
                index,
                content_block,
            } => self.begin_block(index, content_block, out)?,
            Frame::ContentBlockDelta { index, delta } => self.block_delta(index, delta, out)?,
            Frame::ContentBlockStop { index } => self.end_block(index, out)?,
            Frame::MessageDelta { delta, usage } => {
                if let Some(usage) = usage {
                    self.count(&usage);
                }
                if let Some(reason) = delta.stop_reason {
                    self.stop = Some(stop_reason(&reason));
                }
            }
            Frame::MessageStop => return self.finish(out),
            Frame::Error { error } => {
                return Err(ReadError::Vendor(refusal::in_stream(&error)));
            }
            Frame::Unknown => {}
        }
        Ok(false)
    }

    fn document(&mut self, body: &[u8], out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        let whole: WholeResponse = read_document(body)?;
        if let Some(error) = whole.error.filter(|error| !error.is_null()) {
            return Err(ReadError::Vendor(refusal::in_stream(&error)));
        }
        if let Some(usage) = whole.usage {
            self.count(&usage);
        }
        self.stop = whole.stop_reason.as_deref().map(stop_reason);
        let blocks = whole.content.ok_or(ReadError::Garbage)?;
        for (index, block) in (0..).zip(blocks) {
            self.begin_block(index, block, out)?;
            self.end_block(index, out)?;
        }
        self.finish(out).map(drop)
    }

    fn end(&mut self, _: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        Ok(false)
    }

    fn arrived(&self) -> Arrived {
        Arrived {
            usage: self.usage(),
            bytes: self.counter.written_bytes(),
        }
    }
}

/// Maps a stop reason. Values: <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>.
/// `pause_turn` ends an incomplete answer. Only server-side tools cause it, and none are offered.
fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" | "pause_turn" => StopReason::Length,
        "refusal" => StopReason::Refused,
        _ => StopReason::End,
    }
}
