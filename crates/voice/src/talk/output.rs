//! Speaks the answers of a turn into a conversation instead of storing parts of them.

use crate::speech::{Converted, SpeechRequest};
use crate::text::speakable;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use futures_util::StreamExt;
use gatehouse_agents::SpeechOutput;
use gatehouse_audio::Format;
use gatehouse_domain::id::MessageId;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Pieces that wait to be sent.
const WAITING: usize = 4;
/// The maximum duration of an audio piece. Pieces are short, so speech stops soon when the person interrupts.
const PIECE: Duration = Duration::from_millis(100);
/// How long a provider may be silent while it speaks a part.
const SILENCE_LIMIT: Duration = Duration::from_mins(2);
/// Bytes of raw samples per second.
const PCM_BYTES: u64 = 2 * Format::PCM_RATE as u64;

/// The speech settings of a conversation's answers.
#[derive(Clone, Debug)]
pub(crate) struct SpeechSettings {
    pub(crate) format: Format,
    pub(crate) provider: Option<String>,
    pub(crate) persona: Option<String>,
    pub(crate) voice: Option<String>,
}

/// A spoken part.
#[derive(Debug)]
pub(crate) enum Spoken {
    /// A part of a message begins.
    Begin { message: MessageId, text: String },
    /// Audio of the part, and how long it plays.
    Audio { bytes: Bytes, length: Duration },
}

/// The speaker's side of the channel.
#[derive(Debug)]
pub(crate) struct Output {
    speech: SpeechSettings,
    spoken: Sender<Spoken>,
}

/// The error of a conversation that has stopped listening.
#[derive(Clone, Copy, Debug)]
struct Stopped;

impl Output {
    /// Creates the output for one turn and the receiver of its events. The receiver ends when all
    /// answers are spoken.
    pub(crate) fn open(speech: SpeechSettings) -> (SpeechOutput, Receiver<Spoken>) {
        let (spoken, arriving) = mpsc::channel(WAITING);
        (SpeechOutput(Arc::new(Self { speech, spoken })), arriving)
    }

    pub(crate) fn of(output: &SpeechOutput) -> Option<Arc<Self>> {
        Arc::clone(&output.0).downcast().ok()
    }

    /// Returns the persona of the conversation, if it has one.
    pub(crate) fn persona(&self) -> Option<&str> {
        self.speech.persona.as_deref()
    }

    /// Speaks a part of a message. Returns its audio, or `None` if no listener is left.
    pub(crate) async fn speak(
        &self,
        voice: &Voice,
        message: &MessageId,
        text: &str,
        persona: Option<String>,
    ) -> Result<Option<Converted>, VoiceError> {
        let request = SpeechRequest {
            provider: self.speech.provider.clone(),
            persona,
            voice: self.speech.voice.clone(),
            format: Some(self.speech.format.as_str().to_owned()),
            ..SpeechRequest::new(text)
        };
        let begin = Spoken::Begin {
            message: message.clone(),
            text: speakable(text),
        };
        if self.speech.format == Format::Pcm {
            self.stream(voice, request, begin).await
        } else {
            self.convert(voice, request, begin).await
        }
    }

    /// Forwards samples as they arrive from the provider.
    async fn stream(
        &self,
        voice: &Voice,
        request: SpeechRequest,
        begin: Spoken,
    ) -> Result<Option<Converted>, VoiceError> {
        let streamed = tokio::time::timeout(SILENCE_LIMIT, voice.stream(request)).await;
        let mut streamed = streamed.map_err(|_elapsed| VoiceError::TooSlow)??;
        if self.send(begin).await.is_err() {
            return Ok(None);
        }
        let (mut whole, mut passed) = (Vec::new(), 0);
        loop {
            let next = tokio::time::timeout(SILENCE_LIMIT, streamed.body.next()).await;
            let Some(bytes) = next.map_err(|_elapsed| VoiceError::TooSlow)?.transpose()? else {
                break;
            };
            whole.extend_from_slice(&bytes);
            // A piece of the vendor's audio may end inside a sample.
            let complete = whole.len() / 2 * 2;
            let piece = Bytes::copy_from_slice(whole.get(passed..complete).unwrap_or_default());
            passed = complete;
            let length = samples(piece.len());
            if self.pass(piece, length).await.is_err() {
                return Ok(None);
            }
        }
        Ok(Some(Converted {
            duration_ms: milliseconds(samples(whole.len())),
            audio: whole.into(),
            format: streamed.format,
            provider: streamed.provider,
            persona: streamed.persona,
            cached: streamed.cached,
            attempts: streamed.attempts,
            warning: streamed.warning,
        }))
    }

    /// Forwards a complete file in pieces.
    async fn convert(
        &self,
        voice: &Voice,
        request: SpeechRequest,
        begin: Spoken,
    ) -> Result<Option<Converted>, VoiceError> {
        let converting = tokio::time::timeout(SILENCE_LIMIT, voice.convert(request)).await;
        let converted = converting.map_err(|_elapsed| VoiceError::TooSlow)??;
        let length = Duration::from_millis(converted.duration_ms);
        let sent = match self.send(begin).await {
            Ok(()) => self.pass(converted.audio.clone(), length).await,
            stopped => stopped,
        };
        Ok(sent.is_ok().then_some(converted))
    }

    async fn pass(&self, mut bytes: Bytes, mut length: Duration) -> Result<(), Stopped> {
        while !bytes.is_empty() {
            let pieces = u128::max(1, length.as_millis().div_ceil(PIECE.as_millis()));
            let pieces = usize::try_from(pieces).unwrap_or(usize::MAX);
            // Samples have two bytes.
            let some = bytes.len().div_ceil(pieces).next_multiple_of(2);
            let some = some.min(bytes.len());
            let piece = bytes.split_to(some);
            let part = if bytes.is_empty() {
                length
            } else {
                PIECE.min(length)
            };
            length = length.saturating_sub(part);
            self.send(Spoken::Audio {
                bytes: piece,
                length: part,
            })
            .await?;
        }
        Ok(())
    }

    async fn send(&self, spoken: Spoken) -> Result<(), Stopped> {
        self.spoken.send(spoken).await.map_err(|_gone| Stopped)
    }
}

fn samples(bytes: usize) -> Duration {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Duration::from_micros(bytes.saturating_mul(1_000_000) / PCM_BYTES)
}

fn milliseconds(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
