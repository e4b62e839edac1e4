//! The form of responses (RFC 9051, section 2.2): finds the end of a response and checks whether it
//! may be parsed.

use imap_proto::Response;

/// The maximum total length of the lines of a response in bytes, without literals. RFC 7162, section 4, recommends 8192
/// for commands. Lists of UIDs in answers may be longer.
const MAX_LINES: usize = 1024 * 1024;
/// Maximum nesting depth of parentheses, because the parser is recursive. Responses to our commands have
/// one level, an envelope four.
const MAX_DEPTH: usize = 8;

/// The extent of the first response in a buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framed {
    Complete(usize),
    Partial,
    TooLong,
}

/// The position up to which the buffer was searched for the end of its first response. No byte is examined twice.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The start of the current line.
    line: usize,
    /// The position up to which the current line was searched. No line end was found before it.
    searched: usize,
    /// The number of bytes of all literals. The last literal may be incomplete.
    literals: usize,
}

impl Scan {
    /// Continues to search for the end of the first response: a line that does not end with the size of a literal.
    /// `buffer` must begin with the same bytes as in the last call. The total size of the literals is limited to `max`
    /// bytes.
    pub(super) fn frame(&mut self, buffer: &[u8], max: usize) -> Framed {
        loop {
            if self.literals > max {
                return Framed::TooLong;
            }
            let from = self.searched.max(self.line);
            let new = buffer.get(from..).unwrap_or_default();
            let end = new.iter().position(|byte| *byte == b'\n');
            let to = from.saturating_add(end.map_or(new.len(), |end| end.saturating_add(1)));
            if to.saturating_sub(self.literals) > MAX_LINES {
                return Framed::TooLong;
            }
            self.searched = to;
            if end.is_none() {
                return Framed::Partial;
            }
            let line = buffer.get(self.line..to).unwrap_or_default();
            let Some(size) = literal_size(line) else {
                *self = Self::default();
                return Framed::Complete(to);
            };
            self.literals = self.literals.saturating_add(size);
            self.line = to.saturating_add(size);
        }
    }
}

/// Returns the size of the literal that follows a line.
fn literal_size(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"}\r\n")?;
    let start = line.iter().rposition(|byte| *byte == b'{')?;
    number(line.get(start.saturating_add(1)..)?)
}

fn number(digits: &[u8]) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    Some(digits.parse().unwrap_or(usize::MAX))
}

/// Returns whether a response is about an email.
pub(super) fn is_fetch(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(24)).unwrap_or_default();
    start.starts_with(b"* ")
        && start
            .windows(7)
            .any(|part| part.eq_ignore_ascii_case(b" FETCH "))
}

/// Parses a response. Returns `None` if it has an unknown form.
pub(super) fn parse(bytes: &[u8]) -> Option<Response<'_>> {
    // The parser assumes that the byte after a response code is a space.
    let cuts_letter = |pair: &[u8]| matches!(pair, [b']', after] if !after.is_ascii());
    if !is_fetch(bytes) && bytes.windows(2).any(cuts_letter) {
        return None;
    }
    if is_deeper(bytes, MAX_DEPTH) {
        return None;
    }
    // The parser panics on some responses, such as `INTERNALDATE NIL`.
    match std::panic::catch_unwind(|| Response::parse(bytes)) {
        Ok(Ok((_, response))) => Some(response),
        _ => None,
    }
}

/// Returns whether parentheses outside quoted strings and literals are nested deeper than `max`. Strings and literals
/// have the same bounds as in the parser.
fn is_deeper(bytes: &[u8], max: usize) -> bool {
    let mut depth = 0_usize;
    let mut rest = bytes;
    // Whether a quoted string may still end. If one quoted string has no end, no later one has.
    let mut may_end = true;
    while let Some((first, after)) = rest.split_first() {
        let skipped = match first {
            b'"' if may_end => {
                let length = quoted_length(after);
                may_end = length.is_some();
                length
            }
            b'{' => literal_length(after),
            b'(' => {
                depth = depth.saturating_add(1);
                None
            }
            b')' => {
                depth = depth.saturating_sub(1);
                None
            }
            _ => None,
        };
        if depth > max {
            return true;
        }
        rest = after.get(skipped.unwrap_or(0)..).unwrap_or_default();
    }
    false
}

/// Returns the length of a quoted string after its first quote.
fn quoted_length(after: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    let end = after.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    Some(end?.saturating_add(1))
}

/// Returns the length of a literal after its first brace.
fn literal_length(after: &[u8]) -> Option<usize> {
    let digits = after.iter().position(|byte| !byte.is_ascii_digit())?;
    let data = after.get(digits..)?.starts_with(b"}\r\n").then_some(3)?;
    let size = number(after.get(..digits)?)?;
    Some(digits.saturating_add(data).saturating_add(size))
}

#[cfg(test)]
mod tests;
