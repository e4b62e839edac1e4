//! Transcripts as server-sent events: `TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in `OpenAI`'s OpenAPI
//! document.

use super::{TokenUsage, TranscriptPiece, TranscriptStream};
use crate::VoiceError;
use crate::resources::MAX_TEXT_ANSWER_BYTES;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use gatehouse_outbound::event_stream::{Event, EventStream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The maximum number of bytes of one event.
const MAX_EVENT_BYTES: usize = 1 << 20;

pub(super) fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    let media = media.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = media.split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

/// An event. Other events and `[DONE]` are skipped.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Sent {
    #[serde(rename = "transcript.text.delta")]
    Delta { delta: String },
    #[serde(rename = "transcript.text.done")]
    Done {
        text: String,
        #[serde(default, deserialize_with = "known_usage")]
        usage: Option<TokenUsage>,
    },
    #[serde(rename = "error")]
    Error,
    #[serde(other)]
    Other,
}

/// Ignores usage in a different form, such as seconds of audio, because the transcript is usable
/// without it.
fn known_usage<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TokenUsage>, D::Error> {
    let usage = Value::deserialize(from)?;
    Ok(serde_json::from_value(usage).ok())
}

/// A stream that is being read.
struct Reading {
    provider: &'static str,
    body: BoxStream<'static, Result<Bytes, VoiceError>>,
    events: EventStream,
    /// Bytes that are not parsed yet.
    bytes: Bytes,
    /// Bytes received so far.
    received: usize,
}

/// Waits for the first piece, so that a fallback can still be tried.
pub(super) async fn begun(
    provider: &'static str,
    body: BoxStream<'static, Result<Bytes, VoiceError>>,
) -> Result<TranscriptStream, VoiceError> {
    let mut reading = Reading {
        provider,
        body: body.fuse().boxed(),
        events: EventStream::new(MAX_EVENT_BYTES),
        bytes: Bytes::new(),
        received: 0,
    };
    let first = reading.next().await?;
    let is_over = |piece: &TranscriptPiece| matches!(piece, TranscriptPiece::Done { .. });
    let state = (!is_over(&first)).then_some(reading);
    let rest = stream::unfold(state, move |state| async move {
        let mut reading = state?;
        match reading.next().await {
            Ok(piece) => {
                let state = (!is_over(&piece)).then_some(reading);
                Some((Ok(piece), state))
            }
            error => Some((error, None)),
        }
    });
    let first = stream::once(std::future::ready(Ok(first)));
    Ok(first.chain(rest).boxed())
}

impl Reading {
    async fn next(&mut self) -> Result<TranscriptPiece, VoiceError> {
        loop {
            let mut rest = &*self.bytes;
            let event = self.events.next(&mut rest);
            let left = rest.len();
            self.bytes = self.bytes.split_off(self.bytes.len() - left);
            match event.map_err(|_| self.failed("returned a response that is too large"))? {
                Some(event) => {
                    if let Some(piece) = self.piece(&event)? {
                        return Ok(piece);
                    }
                }
                None if self.read().await? => {}
                None => {
                    // Some servers omit the blank line after the last event. An incomplete event is ignored.
                    let last = self.events.end().ok().flatten();
                    let piece = last.and_then(|event| self.piece(&event).ok().flatten());
                    return piece.ok_or_else(|| {
                        VoiceError::failed(self.provider, "closed the connection early", true)
                    });
                }
            }
        }
    }

    /// Reads more of the body. Returns `false` at its end.
    async fn read(&mut self) -> Result<bool, VoiceError> {
        let Some(bytes) = self.body.next().await else {
            return Ok(false);
        };
        self.bytes = bytes?;
        self.received += self.bytes.len();
        if self.received > MAX_TEXT_ANSWER_BYTES {
            return Err(self.failed("returned a response that is too large"));
        }
        Ok(true)
    }

    fn piece(&self, event: &Event) -> Result<Option<TranscriptPiece>, VoiceError> {
        if event.data == "[DONE]" {
            return Ok(None);
        }
        match serde_json::from_str(&event.data) {
            Ok(Sent::Delta { delta }) if delta.is_empty() => Ok(None),
            Ok(Sent::Delta { delta }) => Ok(Some(TranscriptPiece::Text(delta))),
            Ok(Sent::Done { text, usage }) => Ok(Some(TranscriptPiece::Done { text, usage })),
            Ok(Sent::Other) => Ok(None),
            Ok(Sent::Error) => Err(self.failed("reported an error")),
            Err(_) => Err(self.failed("returned an invalid response")),
        }
    }

    const fn failed(&self, reason: &'static str) -> VoiceError {
        VoiceError::failed(self.provider, reason, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pieces(body: &'static str) -> Vec<Result<TranscriptPiece, VoiceError>> {
        let body = stream::iter([Ok(Bytes::from_static(body.as_bytes()))]).boxed();
        match begun("p", body).await {
            Ok(stream) => stream.collect().await,
            Err(error) => vec![Err(error)],
        }
    }

    #[tokio::test]
    async fn the_last_event_counts_without_a_blank_line_and_with_any_usage() {
        let done = r#"data: {"type":"transcript.text.done","text":"a","usage":{"type":"duration","seconds":1}}"#;
        let read = pieces(done).await;
        let [Ok(TranscriptPiece::Done { text, usage: None })] = read.as_slice() else {
            panic!("{read:?}");
        };
        assert_eq!(text, "a");
    }

    #[tokio::test]
    async fn half_an_event_is_a_connection_that_closed_early() {
        for body in ["", r#"data: {"type":"transcript.te"#, "data: [DONE]"] {
            let read = pieces(body).await;
            let [Err(error)] = read.as_slice() else {
                panic!("{read:?}");
            };
            assert!(
                error.to_string().contains("closed the connection early"),
                "{error}"
            );
        }
    }
}
