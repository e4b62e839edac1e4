//! Tool calls in a streamed answer.

use super::{OpenCall, OpenaiDecoder, frame::CallDelta};
use crate::chat::ToolCall;
use crate::decoder::ReadError;
use serde_json::Value;

impl OpenaiDecoder {
    pub(super) fn call(&mut self, delta: CallDelta) -> Result<(), ReadError> {
        let id = delta.id.unwrap_or_default();
        let function = delta.function;
        let (name, arguments) = function.map_or((None, None), |f| (f.name, f.arguments));
        let name = name.unwrap_or_default();
        let at = self.find_or_begin(delta.index, &id, &name)?;
        let Some(OpenCall { call, .. }) = self.calls.get_mut(at) else {
            return Err(ReadError::Garbage);
        };
        if let Some(extra) = delta.extra_content {
            self.counter.hidden(extra.to_string().len())?;
            self.state.call(at, extra);
        }
        // The ID and the name are sent once. Servers that repeat them send the same values.
        if call.id.is_empty() {
            self.counter.grow(call, |call| &mut call.id, &id)?;
        }
        if call.name.is_empty() {
            self.counter.grow(call, |call| &mut call.name, &name)?;
        }
        let arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        self.counter
            .grow(call, |call| &mut call.arguments, &arguments)
    }

    /// Finds the call that a delta continues. Some servers give all calls the number 0, or no number. In this case, a
    /// new ID together with a name starts another call.
    fn find_or_begin(
        &mut self,
        index: Option<u64>,
        id: &str,
        name: &str,
    ) -> Result<usize, ReadError> {
        let last = self.calls.last().map_or(0, |open| open.index);
        let known = |open: &OpenCall| match index {
            Some(index) => open.index == index,
            None => open.index == last && (id.is_empty() || open.call.id == id),
        };
        let is_another = |open: &OpenCall| {
            !id.is_empty() && !name.is_empty() && !open.call.id.is_empty() && open.call.id != id
        };
        if let Some(at) = self.calls.iter().rposition(known)
            && self.calls.get(at).is_some_and(|open| !is_another(open))
        {
            return Ok(at);
        }
        let number = self.counter.begin_call()?;
        self.calls.push(OpenCall {
            index: index.unwrap_or(number as u64),
            call: ToolCall {
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            },
        });
        Ok(number)
    }
}
