//! Speech for a client: of a whole text, or of a text that arrives piece by piece and is spoken sentence by sentence.

use super::connection::{Answering, Failed};
use super::event::Event;
use super::sample_format::SampleFormat;
use crate::auto_speak::{Script, Step};
use crate::{SpeechRequest, VoiceError};
use futures_util::StreamExt;
use gatehouse_audio::Format;
use serde_json::Value;

/// Bytes of an audio event: 200 ms of speech.
const CHUNK: usize = 9_600;
/// The longest text that may arrive piece by piece, in bytes. Each sentence is a request of its own.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// A text that arrives.
pub(super) struct Stream {
    /// The voice. Its text is empty.
    request: SpeechRequest,
    script: Script,
    /// Bytes of text so far.
    arrived: usize,
    /// Whether audio was sent.
    has_begun: bool,
    /// After a failure, the rest is not spoken.
    has_failed: bool,
}

impl Stream {
    /// Reads the client's options from the event that begins the text.
    pub(super) fn new(event: &Event) -> Self {
        let mut script = Script::default();
        script.take(Step::Begin(None));
        Self {
            request: request(event),
            script,
            arrived: 0,
            has_begun: false,
            has_failed: false,
        }
    }

    pub(super) const fn fail(&mut self) {
        self.has_failed = true;
    }

    fn add(&mut self, text: &str) -> Result<(), VoiceError> {
        if text.len() > MAX_TEXT_BYTES - self.arrived {
            let reason = format!("has more than {MAX_TEXT_BYTES} bytes");
            return Err(VoiceError::invalid("text", reason));
        }
        self.arrived += text.len();
        self.script.take(Step::Text(text.to_owned()));
        Ok(())
    }
}

impl Answering {
    /// Speaks a whole text. While a text arrives, the same text is also sent as a whole, for servers that take no
    /// pieces.
    pub(super) async fn synthesize(&mut self, event: &Event) -> Result<(), Failed> {
        if self.text.is_some() {
            return Ok(());
        }
        self.require_open()?;
        let request = SpeechRequest {
            text: event.text("text").unwrap_or_default().to_owned(),
            ..request(event)
        };
        let mut has_begun = false;
        self.speak(request, &mut has_begun).await?;
        self.send(&Event::new("audio-stop", Value::Null)).await
    }

    /// Takes more of a text and speaks its complete sentences.
    pub(super) async fn more_text(&mut self, event: &Event) -> Result<(), Failed> {
        match &mut self.text {
            Some(stream) if !stream.has_failed => {
                let more = event.data.get("text").and_then(Value::as_str);
                stream.add(more.unwrap_or_default())?;
            }
            // The text after a failure is discarded.
            _ => return Ok(()),
        }
        self.speak_complete().await
    }

    /// Speaks the rest of a text. The text has ended even if that fails.
    pub(super) async fn end_text(&mut self) -> Result<(), Failed> {
        let Some(stream) = &mut self.text else {
            return Ok(());
        };
        stream.script.take(Step::Close);
        let spoken = if stream.has_failed {
            Ok(())
        } else {
            self.speak_complete().await
        };
        if let Err(Failed::Refused(error)) = spoken {
            self.report(error).await?;
        } else {
            spoken?;
        }
        let stream = self.text.take();
        if stream.is_some_and(|stream| stream.has_begun) {
            self.send(&Event::new("audio-stop", Value::Null)).await?;
        }
        self.send(&Event::new("synthesize-stopped", Value::Null))
            .await
    }

    async fn speak_complete(&mut self) -> Result<(), Failed> {
        self.require_open()?;
        let limit = self.voice.state().settings.speaking.max_text_length;
        loop {
            let Some(stream) = &mut self.text else {
                return Ok(());
            };
            let Some(piece) = stream.script.next(limit) else {
                return Ok(());
            };
            let request = SpeechRequest {
                text: piece.text,
                ..stream.request.clone()
            };
            let mut has_begun = stream.has_begun;
            let spoken = self.speak(request, &mut has_begun).await;
            if let Some(stream) = &mut self.text {
                stream.has_begun = has_begun;
            }
            spoken?;
        }
    }

    /// Sends the audio, after its format if none was sent before.
    async fn speak(&mut self, request: SpeechRequest, has_begun: &mut bool) -> Result<(), Failed> {
        let mut streamed = self.voice.stream(request).await?;
        let format = SampleFormat::mono(Format::PCM_RATE);
        if !*has_begun {
            self.send(&format.event("audio-start", Vec::new())).await?;
            *has_begun = true;
        }
        let mut waiting = Vec::new();
        while let Some(bytes) = streamed.body.next().await.transpose()? {
            waiting.extend_from_slice(&bytes);
            while waiting.len() >= CHUNK {
                let rest = waiting.split_off(CHUNK);
                let payload = std::mem::replace(&mut waiting, rest);
                self.send(&format.event("audio-chunk", payload)).await?;
            }
        }
        if !waiting.is_empty() {
            self.send(&format.event("audio-chunk", waiting)).await?;
        }
        Ok(())
    }
}

/// Returns the request for the voice of the event.
fn request(event: &Event) -> SpeechRequest {
    let voice = event.data.get("voice");
    let of_voice = |name: &str| {
        let text = voice
            .and_then(|voice| voice.get(name))
            .and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    SpeechRequest {
        provider: of_voice("name"),
        voice: of_voice("speaker"),
        format: Some(Format::Pcm.as_str().to_owned()),
        ..SpeechRequest::new("")
    }
}
