//! An incremental parser for server-sent events (WHATWG HTML, section 9.2.6 "Interpreting an event stream").
//!
//! The crate `sse-stream` is already a transitive dependency, but is not used: it buffers an unterminated line
//! without limit and rejects lines that the standard allows.

/// An event with data. Events without data are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event name; empty when absent.
    pub name: String,
    /// The data lines, joined by line feeds.
    pub data: String,
}

/// A line or an event exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The state of a partially read stream.
#[derive(Debug)]
pub struct EventStream {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Whether the last byte was a carriage return. A following line feed belongs to the same line ending.
    after_return: bool,
    at_start: bool,
    max_bytes: usize,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl EventStream {
    /// Limits each line and each event to `max_bytes`.
    pub const fn new(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_return: false,
            at_start: true,
            max_bytes,
        }
    }

    /// Reads until an event is complete or the input is consumed. Advances `bytes` past the parsed part.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Event>, TooLong> {
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                *bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some((part, tail)) = end.and_then(|end| bytes.split_at_checked(end)) else {
                let all = std::mem::take(bytes);
                self.grow_line(all)?;
                break;
            };
            self.grow_line(part)?;
            let Some((&ending, rest)) = tail.split_first() else {
                break;
            };
            self.after_return = ending == b'\r';
            *bytes = rest;
            if let Some(event) = self.end_line()? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Returns the unfinished event at the end of the stream. The standard discards it, but some servers omit the
    /// last blank line, so the caller decides.
    pub fn end(&mut self) -> Result<Option<Event>, TooLong> {
        if !self.line.is_empty()
            && let Some(event) = self.end_line()?
        {
            return Ok(Some(event));
        }
        Ok(self.dispatch())
    }

    fn grow_line(&mut self, part: &[u8]) -> Result<(), TooLong> {
        if self.line.len().saturating_add(part.len()) > self.max_bytes {
            return Err(TooLong);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Event>, TooLong> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.at_start) {
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        let event = if text.is_empty() {
            self.dispatch()
        } else {
            self.field(text)?;
            None
        };
        // Reuses the allocation of the line.
        self.line = line;
        self.line.clear();
        Ok(event)
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon.and_then(|colon| line.split_at_checked(colon)) {
            Some((name, value)) => (name, value.strip_prefix(b":").unwrap_or(value)),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                let length = self.data.len().saturating_add(value.len());
                if length.saturating_add(1) > self.max_bytes {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Ignores comments (with an empty name), `id`, `retry` and unknown fields.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then(|| Event {
            name: String::from_utf8_lossy(&name).into_owned(),
            data: String::from_utf8_lossy(&data).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
