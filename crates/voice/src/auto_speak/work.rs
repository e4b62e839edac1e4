//! Speaks an answer part by part, in its own task, while the model still writes.

use super::recording;
use super::script::{Script, Step};
use crate::session_audio::NewAudio;
use crate::speech::{Converted, SpeechRequest};
use crate::talk::output::Output;
use crate::text::Piece;
use crate::{Voice, VoiceError};
use gatehouse_agents::AnswerStart;
use gatehouse_audio::Format;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError};

/// The format of spoken answers.
const FORMAT: Format = Format::Mp3;
/// The longest part. A longer part would start playing later.
const MAX_PART_CHARACTERS: usize = 600;
/// How long one part may take, with all providers.
const PART_TIME_LIMIT: Duration = Duration::from_mins(2);

/// The speech of one answer.
pub(super) struct Work {
    voice: Voice,
    start: AnswerStart,
    steps: UnboundedReceiver<Step>,
    script: Script,
    /// The receiver of the parts. If absent, the parts are stored.
    output: Option<Arc<Output>>,
    /// The persona of the latest part, as the model's choice and as the persona that spoke.
    persona: Option<(Option<String>, Option<String>)>,
    spoken: Vec<Part>,
}

/// A part that was spoken.
struct Part {
    /// Absent if it was not stored.
    id: Option<String>,
    audio: Converted,
}

impl Work {
    pub(super) fn new(voice: Voice, start: AnswerStart, steps: UnboundedReceiver<Step>) -> Self {
        let output = start.output.as_ref().and_then(Output::of);
        Self {
            voice,
            output,
            start,
            steps,
            script: Script::default(),
            persona: None,
            spoken: Vec::new(),
        }
    }

    /// Speaks until the answer is complete. Returns the audio of the whole answer. Returns `None` if nothing in the
    /// answer can be spoken, or if the answer will never be complete.
    pub(super) async fn run(mut self) -> Result<Option<String>, VoiceError> {
        loop {
            if !self.take_what_arrived() {
                return Ok(None);
            }
            let limit = self.limit();
            if let Some(piece) = self.script.next(limit) {
                if !self.speak(piece).await? {
                    return Ok(None);
                }
            } else if self.script.is_complete() {
                break;
            } else {
                match self.steps.recv().await {
                    Some(step) => self.script.take(step),
                    None => return Ok(None),
                }
            }
        }
        self.store_whole().await
    }

    /// Returns whether the answer may still be complete.
    fn take_what_arrived(&mut self) -> bool {
        loop {
            match self.steps.try_recv() {
                Ok(step) => self.script.take(step),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return self.script.is_complete(),
            }
        }
    }

    fn limit(&self) -> usize {
        let most = self.voice.state().settings.speaking.max_text_length;
        most.clamp(1, MAX_PART_CHARACTERS)
    }

    /// Returns the persona for a part, given the model's choice.
    async fn persona(&mut self, chosen: Option<String>) -> Result<Option<String>, VoiceError> {
        if let Some((before, persona)) = &self.persona
            && *before == chosen
        {
            return Ok(persona.clone());
        }
        let by_agent = self.start.agent.config.voice_persona_id.as_deref();
        let persona = self.voice.persona_of(chosen.as_deref(), by_agent).await?;
        self.persona = Some((chosen, persona.clone()));
        Ok(persona)
    }

    /// Returns whether there is still a listener.
    async fn speak(&mut self, piece: Piece) -> Result<bool, VoiceError> {
        let persona = self.persona(piece.persona).await?;
        let text = piece.text;
        if let Some(output) = self.output.clone() {
            let persona = output.persona().map(str::to_owned).or(persona);
            let message = &self.start.message;
            let spoken = output.speak(&self.voice, message, &text, persona).await?;
            let Some(audio) = spoken else {
                return Ok(false);
            };
            self.spoken.push(Part { id: None, audio });
            return Ok(true);
        }
        let request = SpeechRequest {
            persona,
            format: Some(FORMAT.as_str().to_owned()),
            ..SpeechRequest::new(text.as_str())
        };
        let converting = tokio::time::timeout(PART_TIME_LIMIT, self.voice.convert(request));
        let audio = converting.await.map_err(|_elapsed| VoiceError::TooSlow)??;
        let id = self.voice.store_part(self.new_audio(audio.clone(), text));
        let id = id.await?.to_string();
        self.spoken.push(Part {
            id: Some(id.clone()),
            audio,
        });
        // More may have arrived in the meantime.
        let goes_on = self.take_what_arrived();
        let limit = self.limit();
        let is_last = goes_on && self.script.is_complete() && !self.script.has_next(limit);
        self.start.parts.push(id, is_last);
        Ok(true)
    }

    fn new_audio(&self, audio: Converted, text: String) -> NewAudio {
        NewAudio {
            session: self.start.session.clone(),
            is_inbound: false,
            format: audio.format.as_str(),
            mime_type: audio.format.mime_type(),
            duration_ms: audio.duration_ms,
            transcript: Some(text),
            data: audio.audio,
        }
    }

    /// Stores the audio of the whole answer. A single part is already the whole audio.
    async fn store_whole(mut self) -> Result<Option<String>, VoiceError> {
        if let [Part { id: Some(id), .. }] = self.spoken.as_slice() {
            return Ok(Some(id.clone()));
        }
        let parts = std::mem::take(&mut self.spoken);
        let parts = parts.into_iter().map(|part| part.audio).collect();
        let cpu = self.voice.state().resources.cpu.clone();
        let audio = cpu.run(move || Ok(recording::join(parts, FORMAT))).await?;
        let Some(audio) = audio else { return Ok(None) };
        let whole = std::mem::take(&mut self.script).into_whole();
        let stored = self.voice.store_audio(self.new_audio(audio, whole)).await?;
        Ok(Some(stored.to_string()))
    }
}
