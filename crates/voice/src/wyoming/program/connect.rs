//! A connection to a program.

use crate::VoiceError;
use crate::error::Words;
use crate::resources::{Resources, of_outbound};
use crate::wyoming::event::{Event, Limits};
use gatehouse_outbound::{AddressSource, Duplex, OutboundError};
use std::io;
use std::time::Duration;
use tokio::io::{BufReader, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

/// The maximum length of the text that an error contains, in characters.
const MAX_WORDS: usize = 300;

/// Connects to a program. The call ends after `limit`.
pub(super) async fn connect(
    resources: &Resources,
    id: &'static str,
    address: &Url,
    limit: Duration,
) -> Result<(Requests, Answers), VoiceError> {
    let deadline = Instant::now() + limit;
    let bad = OutboundError::BadUrl("must have a host and a port");
    let (host, port) = match (address.host(), address.port()) {
        // The IPv6 address without brackets.
        (Some(Host::Ipv6(ip)), Some(port)) => (ip.to_string(), port),
        (Some(host), Some(port)) => (host.to_string(), port),
        _ => return Err(of_outbound(id, bad)),
    };
    let connecting = resources
        .outbound
        .connect(AddressSource::Owner, &host, port);
    let connected = timeout_at(deadline, connecting).await;
    let connected = connected.map_err(|_elapsed| VoiceError::Timeout { provider: id })?;
    let stream = connected.map_err(|error| of_outbound(id, error))?;
    let (reader, writer) = tokio::io::split(stream.io);
    let requests = Requests {
        id,
        stream: writer,
        deadline,
    };
    let answers = Answers {
        id,
        stream: BufReader::new(reader),
        deadline,
    };
    Ok((requests, answers))
}

/// The sending side to the program. Dropping it signals the end of the input, and some programs then stop. Keep it
/// until the answer is complete.
pub(super) struct Requests {
    id: &'static str,
    stream: WriteHalf<Box<dyn Duplex>>,
    deadline: Instant,
}

impl Requests {
    pub(super) async fn send(&mut self, event: &Event) -> Result<(), VoiceError> {
        let sent = timeout_at(self.deadline, event.write(&mut self.stream)).await;
        let provider = self.id;
        let sent = sent.map_err(|_elapsed| VoiceError::Timeout { provider })?;
        sent.map_err(|_| closed(provider))
    }
}

/// The events of a program.
pub(super) struct Answers {
    id: &'static str,
    stream: BufReader<ReadHalf<Box<dyn Duplex>>>,
    deadline: Instant,
}

impl Answers {
    /// Returns the next event. An `error` event, the end of the connection and a wait longer than `patience` are
    /// errors.
    pub(super) async fn next(&mut self, patience: Duration) -> Result<Event, VoiceError> {
        let provider = self.id;
        let until = self.deadline.min(Instant::now() + patience);
        let read = timeout_at(until, Event::read(&mut self.stream, Limits::PROGRAM)).await;
        match read {
            Err(_elapsed) => Err(VoiceError::Timeout { provider }),
            Ok(Ok(Some(event))) if event.kind == "error" => Err(reported(provider, &event)),
            Ok(Ok(Some(event))) => Ok(event),
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => Err(invalid(provider)),
            Ok(Ok(None) | Err(_)) => Err(closed(provider)),
        }
    }
}

pub(super) const fn invalid(id: &'static str) -> VoiceError {
    VoiceError::failed(id, "returned an invalid response", false)
}

const fn closed(id: &'static str) -> VoiceError {
    VoiceError::failed(id, "closed the connection early", true)
}

/// The text alone may not be enough. For an unknown voice, wyoming-piper sends only the name.
fn reported(provider: &'static str, event: &Event) -> VoiceError {
    let words = match (event.text("text"), event.text("code")) {
        (Some(text), Some(code)) => format!("{text} ({code})"),
        (text, code) => text.or(code).unwrap_or("no text").to_owned(),
    };
    VoiceError::Reported {
        provider,
        text: Words(in_one_line(&words, MAX_WORDS)),
    }
}

/// Returns the program's text in one line, without control characters, shortened.
pub(super) fn in_one_line(text: &str, max_characters: usize) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words = words.filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_is_one_short_line_of_the_programs_words() {
        let words = |data| match reported("x", &Event::new("error", data)) {
            VoiceError::Reported { text, .. } => text.0,
            other => panic!("{other:?}"),
        };
        let two = json!({ "text": " No\n\u{1b}[31mvoice\u{0} ", "code": "E" });
        assert_eq!(words(two), "No [31mvoice (E)");
        assert_eq!(words(json!({ "text": "", "code": "KeyError" })), "KeyError");
        assert_eq!(words(json!({})), "no text");
        assert_eq!(words(json!({ "text": "é".repeat(300) })), "é".repeat(300));
        let long = words(json!({ "text": "é".repeat(301) }));
        assert_eq!(long, format!("{}…", "é".repeat(300)));
        let error = reported("x", &Event::new("error", json!({ "text": "SECRET" })));
        assert!(!format!("{error} {error:?}").contains("SECRET"));
    }
}
