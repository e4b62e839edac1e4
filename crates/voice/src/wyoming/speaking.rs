//! Speech for a client: a whole text, or a text that arrives in pieces and is spoken sentence by sentence.

use super::connection::{Answering, Failed};
use super::event::Event;
use super::sample_format::SampleFormat;
use super::text_stream::request;
use crate::SpeechRequest;
use crate::auto_speak::Step;
use futures_util::StreamExt;
use gatehouse_audio::Format;
use serde_json::Value;

/// Bytes of an audio event: 200 ms of speech.
const CHUNK: usize = 9_600;

impl Answering {
    /// Speaks a whole text. A client that sends a text in pieces also sends it as a whole, for servers that do not
    /// accept pieces. That copy is ignored.
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
            // After a failure, the rest of the text is discarded.
            _ => return Ok(()),
        }
        self.speak_complete().await
    }

    /// Speaks the rest of a text. The text ends even if this fails.
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

    /// Sends the audio. Sends its format first, unless that was already sent.
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
