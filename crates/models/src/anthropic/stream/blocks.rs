//! The content blocks of a streamed answer.

use super::{
    AnthropicDecoder, OpenCall,
    frame::{Block, BlockDelta},
};
use crate::anthropic::thinking::OpenThinking;
use crate::chat::{Chunk, ToolCall};
use crate::decoder::{ReadError, finished};
use serde_json::{Value, json};

impl AnthropicDecoder {
    pub(super) fn begin_block(
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

    pub(super) fn block_delta(
        &mut self,
        index: u64,
        delta: BlockDelta,
        out: &mut Vec<Chunk>,
    ) -> Result<(), ReadError> {
        match delta {
            BlockDelta::TextDelta { text } => self.counter.text(&text, out),
            BlockDelta::InputJsonDelta { partial_json } => {
                let open = self.open.iter_mut().find(|open| open.index == index);
                // If no call is open, the delta belongs to an unknown block, such as a server-side
                // tool.
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

    pub(super) fn end_block(&mut self, index: u64, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
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
}
