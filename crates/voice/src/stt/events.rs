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
use serde::Deserialize;

/// The most bytes of one event.
const MAX_EVENT_BYTES: usize = 1 << 20;

pub(super) fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    let media = media.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = media.split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

/// An event. Others, and `[DONE]`, are skipped.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Sent {
    #[serde(rename = "transcript.text.delta")]
    Delta { delta: String },
    #[serde(rename = "transcript.text.done")]
    Done {
        text: String,
        usage: Option<TokenUsage>,
    },
    #[serde(rename = "error")]
    Error,
    #[serde(other)]
    Other,
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
        body,
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
                None => self.read().await?,
            }
        }
    }

    async fn read(&mut self) -> Result<(), VoiceError> {
        let Some(bytes) = self.body.next().await else {
            return Err(VoiceError::failed(
                self.provider,
                "closed the connection early",
                true,
            ));
        };
        self.bytes = bytes?;
        self.received += self.bytes.len();
        if self.received > MAX_TEXT_ANSWER_BYTES {
            return Err(self.failed("returned a response that is too large"));
        }
        Ok(())
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
            Ok(Sent::Error) => Err(self.failed("failed")),
            Err(_) => Err(self.failed("returned an invalid response")),
        }
    }

    const fn failed(&self, reason: &'static str) -> VoiceError {
        VoiceError::failed(self.provider, reason, false)
    }
}
