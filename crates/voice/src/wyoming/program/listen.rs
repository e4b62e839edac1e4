//! `transcribe`: audio to text.

use super::connect::{Answers, Requests, connect, invalid};
use crate::VoiceError;
use crate::listening::{RECOGNISERS_RATE, samples};
use crate::resources::{MAX_TEXT_ANSWER_BYTES, Resources};
use crate::stt::{SttCall, SttResult, TranscriptPiece, TranscriptStream, in_short, pieces_of};
use crate::wyoming::event::Event;
use crate::wyoming::sample_format::SampleFormat;
use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value};
use std::pin::pin;
use std::time::Duration;
use url::Url;

/// Bytes of an audio event: half a second.
const CHUNK: usize = 16_000;

/// Transcribes the audio.
pub(crate) async fn listen(
    resources: &Resources,
    id: &'static str,
    address: &Url,
    call: &SttCall,
    language: Option<String>,
) -> Result<SttResult, VoiceError> {
    let audio = samples(&resources.cpu, call).await?;
    let limit = resources.timeouts.program;
    let (mut requests, mut answers) = connect(resources, id, address, limit).await?;
    let first = transcribe(call.model.as_deref(), language.as_deref());
    let mut answering = pin!(transcript(id, &mut answers, limit));
    tokio::select! {
        biased;
        answer = &mut answering => answer,
        // A program that detects the end of speech answers early, and may not read the rest of the
        // audio.
        _ = send(&mut requests, &first, &audio) => answering.await,
    }
}

/// Transcribes like [`listen`], and returns the text as it arrives.
pub(crate) async fn transcribe_stream(
    resources: &Resources,
    id: &'static str,
    address: &Url,
    call: &SttCall,
    language: Option<String>,
) -> Result<TranscriptStream, VoiceError> {
    let audio = samples(&resources.cpu, call).await?;
    let limit = resources.timeouts.program;
    let (requests, answers) = connect(resources, id, address, limit).await?;
    let first = transcribe(call.model.as_deref(), language.as_deref());
    let mut text = Text {
        id,
        answers,
        sending: Some(send_all(requests, first, audio).boxed()),
        requests: None,
        patience: limit,
        read: 0,
    };
    let first = match text.next().await? {
        TranscriptPiece::Done { text, .. } => return Ok(pieces_of(text)),
        first @ TranscriptPiece::Text(_) => first,
    };
    let rest = stream::unfold(Some(text), |text| async move {
        let mut text = text?;
        let piece = text.next().await;
        let is_last = !matches!(piece, Ok(TranscriptPiece::Text(_)));
        Some((piece, Some(text).filter(|_| !is_last)))
    });
    Ok(stream::iter([Ok(first)]).chain(rest).boxed())
}

/// Returns the sending side, which closes the connection when it is dropped.
async fn send_all(mut requests: Requests, first: Event, audio: Bytes) -> Requests {
    // A program that detects the end of speech answers early, and may not read the rest of the
    // audio.
    drop(send(&mut requests, &first, &audio).await);
    requests
}

/// A transcript that arrives.
struct Text {
    id: &'static str,
    answers: Answers,
    sending: Option<BoxFuture<'static, Requests>>,
    /// The sending side, after everything has been sent.
    requests: Option<Requests>,
    /// The longest wait for an event.
    patience: Duration,
    /// Bytes of text so far.
    read: usize,
}

impl Text {
    async fn next(&mut self) -> Result<TranscriptPiece, VoiceError> {
        let id = self.id;
        loop {
            let event = self.event().await?;
            let text = event.data.get("text").and_then(Value::as_str);
            match event.kind.as_str() {
                "transcript-chunk" => {
                    let text = text.ok_or_else(|| invalid(id))?;
                    if text.len() > MAX_TEXT_ANSWER_BYTES - self.read {
                        let reason = "returned a response that is too large";
                        return Err(VoiceError::failed(id, reason, false));
                    }
                    self.read += text.len();
                    if !text.is_empty() {
                        return Ok(TranscriptPiece::Text(text.to_owned()));
                    }
                }
                "transcript" => {
                    return Ok(TranscriptPiece::Done {
                        text: text.ok_or_else(|| invalid(id))?.trim().to_owned(),
                        usage: None,
                    });
                }
                _ => {}
            }
        }
    }

    /// Returns the next event. Sends the audio while it waits.
    async fn event(&mut self) -> Result<Event, VoiceError> {
        let answering = self.answers.next(self.patience);
        let Some(sending) = &mut self.sending else {
            return answering.await;
        };
        let mut answering = pin!(answering);
        tokio::select! {
            biased;
            event = &mut answering => event,
            requests = sending => {
                (self.sending, self.requests) = (None, Some(requests));
                answering.await
            }
        }
    }
}

fn transcribe(model: Option<&str>, language: Option<&str>) -> Event {
    let fields = [("name", model), ("language", language)];
    let given = fields.into_iter().filter_map(|(name, value)| {
        let value = Value::from(value?);
        Some((name.to_owned(), value))
    });
    Event::new("transcribe", Value::Object(given.collect::<Map<_, _>>()))
}

async fn send(requests: &mut Requests, first: &Event, audio: &[u8]) -> Result<(), VoiceError> {
    let format = SampleFormat::mono(RECOGNISERS_RATE);
    requests.send(first).await?;
    requests
        .send(&format.event("audio-start", Vec::new()))
        .await?;
    for chunk in audio.chunks(CHUNK) {
        let chunk = format.event("audio-chunk", chunk.to_vec());
        requests.send(&chunk).await?;
    }
    requests.send(&Event::new("audio-stop", Value::Null)).await
}

/// Waits for the whole transcript. Programs that send a transcript in pieces also send it as a
/// whole.
async fn transcript(
    id: &'static str,
    answers: &mut Answers,
    patience: Duration,
) -> Result<SttResult, VoiceError> {
    loop {
        let event = answers.next(patience).await?;
        if event.kind != "transcript" {
            continue;
        }
        let text = event.data.get("text").and_then(Value::as_str);
        return Ok(SttResult {
            text: text.ok_or_else(|| invalid(id))?.trim().to_owned(),
            language: event.text("language").map(in_short),
            ..SttResult::default()
        });
    }
}
