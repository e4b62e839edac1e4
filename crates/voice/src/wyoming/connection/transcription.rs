//! Receives a recording and transcribes it.

use super::{Answering, Failed};
use crate::listening::{Hearing, MICROPHONE_RATES, Transcript};
use crate::stt::{TranscriptPiece, TranscriptStream, pieces_of};
use crate::wyoming::{event::Event, sample_format::SampleFormat};
use crate::{TranscribeRequest, VoiceError};
use bytes::Bytes;
use futures_util::StreamExt;
use gatehouse_audio::{Format, Sound, encode};
use serde_json::{Value, json};

/// The largest recording in bytes: two minutes at 16 kHz. Each connection can hold one recording.
const MAX_AUDIO_BYTES: usize = 4 << 20;

/// Audio that arrives.
pub(super) struct Recording {
    format: SampleFormat,
    bytes: Vec<u8>,
}

impl Answering {
    pub(super) fn begin(&mut self, event: &Event) -> Result<(), Failed> {
        let Some(format) = SampleFormat::of(event) else {
            let reason = format!(
                "expected {} to {} samples per second of 2 bytes, mono or stereo",
                MICROPHONE_RATES.start(),
                MICROPHONE_RATES.end()
            );
            return Err(VoiceError::invalid("audio", reason).into());
        };
        self.recording = Some(Recording {
            format,
            bytes: Vec::new(),
        });
        Ok(())
    }

    pub(super) fn add(&mut self, event: &Event) -> Result<(), Failed> {
        // Audio that arrives after a refusal is discarded.
        let Some(recording) = &mut self.recording else {
            return Ok(());
        };
        if recording.bytes.len() + event.payload.len() > MAX_AUDIO_BYTES {
            let max_bytes = MAX_AUDIO_BYTES as u64;
            return Err(VoiceError::TooLarge { max_bytes }.into());
        }
        recording.bytes.extend_from_slice(&event.payload);
        Ok(())
    }

    pub(super) async fn transcribe(&mut self) -> Result<(), Failed> {
        let Some(recording) = self.recording.take() else {
            return Ok(());
        };
        self.require_open()?;
        let state = self.voice.state();
        let encoding = state.resources.cpu.run(move || recording.into_wav());
        let audio = encoding.await?;
        let request = TranscribeRequest {
            audio,
            timestamps: false,
            ..self.wanted.clone()
        };
        if !self.voice.streams_transcripts().await {
            let transcript = self.voice.transcribe(request).await?;
            let language = Some(transcript.language.as_str());
            return self.send_transcript(transcript.text.trim(), language).await;
        }
        let language = request.language.clone();
        match self.voice.transcribe_as_it_comes(request).await? {
            Hearing::Whole(transcript) => {
                let Transcript { text, language, .. } = *transcript;
                self.send_pieces(pieces_of(text), Some(language)).await
            }
            Hearing::Pieces(pieces) => self.send_pieces(pieces, language).await,
        }
    }

    /// Sends the transcript in pieces. A client expects `transcript-stop` if `info` announced that transcripts arrive
    /// in pieces.
    async fn send_pieces(
        &mut self,
        mut pieces: TranscriptStream,
        language: Option<String>,
    ) -> Result<(), Failed> {
        let language = language.as_deref();
        let about = language.map_or(Value::Null, |language| json!({ "language": language }));
        self.send(&Event::new("transcript-start", about)).await?;
        while let Some(piece) = pieces.next().await.transpose()? {
            match piece {
                TranscriptPiece::Text(text) => {
                    let data = json!({ "text": text });
                    self.send(&Event::new("transcript-chunk", data)).await?;
                }
                TranscriptPiece::Done { text, .. } => {
                    self.send_transcript(text.trim(), language).await?;
                }
            }
        }
        self.send(&Event::new("transcript-stop", Value::Null)).await
    }

    async fn send_transcript(&mut self, text: &str, language: Option<&str>) -> Result<(), Failed> {
        let mut event = Event::new("transcript", json!({ "text": text }));
        if let Some(language) = language {
            let language = Value::from(language);
            event.data.insert("language".to_owned(), language);
        }
        self.send(&event).await
    }
}

impl Recording {
    fn into_wav(self) -> Result<Bytes, VoiceError> {
        let samples = self.format.samples(&self.bytes);
        if samples.is_empty() {
            return Err(VoiceError::invalid("audio", "must not be empty"));
        }
        let sound = Sound {
            rate: self.format.rate,
            samples,
        };
        let cannot = |_| VoiceError::Internal("a recording could not be encoded");
        Ok(encode(&sound, Format::Wav).map_err(cannot)?.into())
    }
}
