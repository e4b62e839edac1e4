//! `synthesize`: text to audio.

use super::connect::{Answers, Requests, connect, invalid};
use super::voice_and_speaker;
use crate::VoiceError;
use crate::resources::{MAX_ANSWER_BYTES, Resources};
use crate::tts::{Encoding, Speech, TtsCall};
use crate::wyoming::event::Event;
use crate::wyoming::sample_format::SampleFormat;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use gatehouse_audio::pcm_of_samples;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// Speaks the text. The samples are forwarded as they arrive.
pub(crate) async fn speak(
    resources: &Resources,
    id: &'static str,
    address: &Url,
    call: &TtsCall,
) -> Result<Speech, VoiceError> {
    let timeouts = resources.timeouts;
    let (mut requests, mut answers) = connect(resources, id, address, timeouts.program).await?;
    requests.send(&synthesize(call)).await?;
    let format = begun(id, &mut answers, timeouts.answer).await?;
    let audio = Audio {
        id,
        answers,
        _requests: requests,
        format,
        patience: timeouts.idle,
        read: 0,
    };
    let pieces = stream::try_unfold(audio, |mut audio| async move {
        let piece = audio.next().await?;
        Ok(piece.map(|piece| (piece, audio)))
    });
    Ok(Speech {
        encoding: Encoding::Samples { rate: format.rate },
        body: pieces.boxed(),
    })
}

/// Returns the event. `voice` names a voice, optionally followed by `#` and a speaker. `model` is
/// used as the voice if `voice` is absent.
fn synthesize(call: &TtsCall) -> Event {
    let mut data = json!({ "text": call.text });
    let voice = call.voice.as_ref().or(call.model.as_ref());
    if let (Some(voice), Value::Object(data)) = (voice, &mut data) {
        let voice = match voice_and_speaker(voice) {
            (name, Some(speaker)) => json!({ "name": name, "speaker": speaker }),
            (name, None) => json!({ "name": name }),
        };
        data.insert("voice".to_owned(), voice);
    }
    Event::new("synthesize", data)
}

/// Waits for the format of the audio.
async fn begun(
    id: &'static str,
    answers: &mut Answers,
    patience: Duration,
) -> Result<SampleFormat, VoiceError> {
    loop {
        let event = answers.next(patience).await?;
        match event.kind.as_str() {
            "audio-start" => {
                let unsupported =
                    VoiceError::failed(id, "returned audio in an unsupported format", false);
                return SampleFormat::of(&event).ok_or(unsupported);
            }
            "audio-chunk" => return Err(invalid(id)),
            "audio-stop" => return Err(VoiceError::failed(id, "returned no audio", true)),
            _ => {}
        }
    }
}

/// Audio that arrives.
struct Audio {
    id: &'static str,
    answers: Answers,
    _requests: Requests,
    format: SampleFormat,
    /// The longest wait for an event.
    patience: Duration,
    /// Bytes of audio so far.
    read: usize,
}

impl Audio {
    async fn next(&mut self) -> Result<Option<Bytes>, VoiceError> {
        loop {
            let event = self.answers.next(self.patience).await?;
            let is_other = || SampleFormat::of(&event) != Some(self.format);
            match event.kind.as_str() {
                "audio-stop" => return Ok(None),
                "audio-start" | "audio-chunk" if is_other() => return Err(invalid(self.id)),
                "audio-chunk" if !event.payload.is_empty() => return self.piece(event.payload),
                _ => {}
            }
        }
    }

    fn piece(&mut self, payload: Vec<u8>) -> Result<Option<Bytes>, VoiceError> {
        if !self.format.is_whole(&payload) {
            return Err(invalid(self.id));
        }
        if payload.len() > MAX_ANSWER_BYTES - self.read {
            let reason = "returned a response that is too large";
            return Err(VoiceError::failed(self.id, reason, false));
        }
        self.read += payload.len();
        let mono = if self.format.is_mono() {
            payload
        } else {
            pcm_of_samples(&self.format.samples(&payload))
        };
        Ok(Some(mono.into()))
    }
}
