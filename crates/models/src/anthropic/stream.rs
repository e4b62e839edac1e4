//! Anthropic Messages: decoding the response stream.
//!
//! Format: <https://platform.claude.com/docs/en/build-with-claude/streaming>. Unknown events and blocks are
//! ignored, as its section "Other events" requires.

mod frame;

use super::thinking::{BlockCollector, OpenThinking};
use crate::Limits;
use crate::chat::{Chunk, StopReason, ToolCall, Usage};
use crate::decoder::{Counter, Decoder, ReadError, finished, finished_last, read_document};
use crate::progress::Arrived;
use crate::refusal;
use frame::{Block, BlockDelta, Frame, RawUsage, WholeResponse};
use gatehouse_outbound::event_stream::Event;
use serde_json::{Value, json};

struct OpenCall {
    index: u64,
    call: ToolCall,
    /// The input in the start event. It is used when no deltas follow.
    whole_input: Option<String>,
}

/// Decodes one response.
pub(super) struct AnthropicDecoder {
    counter: Counter,
    open: Vec<OpenCall>,
    /// The last call, if it has no input. The reason to stop, which follows, shows whether the input was cut.
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

    fn begin_block(
        &mut self,
        index: u64,
        block: Block,
        out: &mut Vec<Chunk>,
    ) -> Result<(), ReadError> {
        out.extend(self.without_input.take().map(finished));
        match block {
            Block::Text { text } => self.counter.text(&text, out),
            Block::ToolUse { id, name, input } => {
                if id.is_empty() || name.is_empty() {
                    return Err(ReadError::Garbage);
                }
                self.counter.begin_call()?;
                let mut call = ToolCall {
                    id: String::new(),
                    name: String::new(),
                    arguments: String::new(),
                };
                self.counter.grow(&mut call, |call| &mut call.id, &id)?;
                self.counter.grow(&mut call, |call| &mut call.name, &name)?;
                let filled = |input: &Value| input.as_object().is_some_and(|map| !map.is_empty());
                let whole_input = input.filter(filled).map(|input| input.to_string());
                self.open.push(OpenCall {
                    index,
                    call,
                    whole_input,
                });
                Ok(())
            }
            Block::Thinking {
                thinking,
                signature,
            } => {
                self.counter.reasoning(&thinking, out)?;
                self.thinking = Some(OpenThinking {
                    index,
                    text: thinking,
                    signature,
                });
                Ok(())
            }
            Block::RedactedThinking { data } => {
                self.counter.hidden(data.len())?;
                let block = json!({ "type": "redacted_thinking", "data": data });
                self.push_block(&block);
                Ok(())
            }
            Block::Unknown => Ok(()),
        }
    }

    fn block_delta(
        &mut self,
        index: u64,
        delta: BlockDelta,
        out: &mut Vec<Chunk>,
    ) -> Result<(), ReadError> {
        match delta {
            BlockDelta::TextDelta { text } => self.counter.text(&text, out),
            BlockDelta::InputJsonDelta { partial_json } => {
                let open = self.open.iter_mut().find(|open| open.index == index);
                // Without a call, it belongs to an unknown block, such as a server-side tool.
                open.map_or(Ok(()), |open| {
                    self.counter
                        .grow(&mut open.call, |call| &mut call.arguments, &partial_json)
                })
            }
            BlockDelta::ThinkingDelta { thinking } => {
                self.counter.reasoning(&thinking, out)?;
                if let Some(open) = self.thinking.as_mut().filter(|open| open.index == index) {
                    open.text.push_str(&thinking);
                }
                Ok(())
            }
            BlockDelta::SignatureDelta { signature } => {
                self.counter.hidden(signature.len())?;
                if let Some(open) = self.thinking.as_mut().filter(|open| open.index == index) {
                    open.signature.push_str(&signature);
                }
                Ok(())
            }
            BlockDelta::Unknown => Ok(()),
        }
    }

    fn push_block(&mut self, block: &Value) {
        let (after_text, calls) = self.counter.place();
        self.blocks.push(block, after_text, calls);
    }

    fn end_block(&mut self, index: u64, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        if let Some(open) = self.thinking.take_if(|open| open.index == index) {
            let OpenThinking {
                text, signature, ..
            } = open;
            self.push_block(
                &json!({ "type": "thinking", "thinking": text, "signature": signature }),
            );
            return Ok(());
        }
        let Some(at) = self.open.iter().position(|open| open.index == index) else {
            return Ok(());
        };
        let OpenCall {
            mut call,
            whole_input,
            ..
        } = self.open.remove(at);
        if let Some(input) = whole_input.filter(|_| call.arguments.is_empty()) {
            self.counter
                .grow(&mut call, |call| &mut call.arguments, &input)?;
        }
        out.extend(self.without_input.take().map(finished));
        if call.arguments.trim().is_empty() {
            self.without_input = Some(call);
        } else {
            out.push(finished(call));
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError> {
        self.counter.end_text(out);
        // An end without any content is invalid unless there is a stop reason: the vendor's models may end
        // their turn without text when they have nothing to add to tool results.
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
        // llama.cpp sends the inner object alone, identified by the event name.
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

/// Values: <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>. `pause_turn` ends an
/// incomplete answer; only server-side tools cause it, and none are offered.
fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" | "pause_turn" => StopReason::Length,
        "refusal" => StopReason::Refused,
        _ => StopReason::End,
    }
}
