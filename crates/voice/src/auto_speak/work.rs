//! Speaks an answer part by part, in its own task, while the model still writes.

use super::feed::Remainder;
use super::recording;
use crate::session_audio::NewAudio;
use crate::speech::{Converted, SpeechRequest};
use crate::text::{Sentences, pieces, speakable, speakable_part};
use crate::{Voice, VoiceError};
use gatehouse_agents::AnswerStart;
use gatehouse_audio::Format;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError};

/// The format of spoken answers.
const FORMAT: Format = Format::Mp3;
/// The longest part. Longer ones would begin later.
const MAX_PART_CHARACTERS: usize = 600;
/// How long one part may take, with all providers.
const PART_TIME_LIMIT: Duration = Duration::from_mins(2);

/// A step of the answer.
#[derive(Debug)]
pub(super) enum Step {
    /// Text that is spoken next, and the persona that the model chose.
    Text(String, Option<String>),
    /// The answer is complete.
    End(Remainder, Option<String>),
}

/// The speech of one answer.
pub(super) struct Work {
    voice: Voice,
    start: AnswerStart,
    steps: UnboundedReceiver<Step>,
    text: Sentences,
    /// The texts of the next parts.
    next: VecDeque<String>,
    /// The persona that the model chose.
    chosen: Option<String>,
    /// The persona to speak with.
    persona: Voicing,
    spoken: Vec<Part>,
    /// Everything that is spoken, once the answer is complete.
    whole: Option<String>,
}

/// Who speaks.
enum Voicing {
    /// It is chosen when the first part begins.
    Open,
    /// This persona; without one, the active persona.
    Chosen(Option<String>),
}

/// A part that was spoken.
struct Part {
    id: String,
    audio: Converted,
}

impl Work {
    pub(super) fn new(voice: Voice, start: AnswerStart, steps: UnboundedReceiver<Step>) -> Self {
        Self {
            voice,
            start,
            steps,
            text: Sentences::default(),
            next: VecDeque::new(),
            chosen: None,
            persona: Voicing::Open,
            spoken: Vec::new(),
            whole: None,
        }
    }

    /// Speaks until the answer is complete. Returns the audio of the whole answer; `None` if nothing of it can
    /// be spoken, or if it will never be complete.
    pub(super) async fn run(mut self) -> Result<Option<String>, VoiceError> {
        loop {
            if !self.take_what_arrived() {
                return Ok(None);
            }
            self.find_next();
            if let Some(text) = self.next.pop_front() {
                self.speak(text).await?;
            } else if self.whole.is_some() {
                break;
            } else {
                match self.steps.recv().await {
                    Some(step) => self.take(step),
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
                Ok(step) => self.take(step),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return self.whole.is_some(),
            }
        }
    }

    fn take(&mut self, step: Step) {
        let chosen = match step {
            Step::Text(text, chosen) => {
                self.text.push(&text);
                chosen
            }
            Step::End(end, chosen) => {
                if end.replaces {
                    self.text = Sentences::default();
                    self.next.clear();
                }
                self.text.push(&end.rest);
                self.text.end();
                self.whole = Some(end.whole);
                chosen
            }
        };
        self.chosen = chosen.or(self.chosen.take());
    }

    fn limit(&self) -> usize {
        let most = self.voice.state().settings.speaking.max_text_length;
        most.clamp(1, MAX_PART_CHARACTERS)
    }

    /// Finds the texts of the next parts, unless they are known.
    fn find_next(&mut self) {
        let limit = self.limit();
        while self.next.is_empty() {
            // The first sentence is a part of its own, so that speech begins early.
            let most = (!self.spoken.is_empty()).then_some(limit);
            let piece = match self.text.next(most) {
                None if self.whole.is_some() => self.text.rest(),
                piece => piece,
            };
            let Some(piece) = piece else { break };
            self.next.extend(parts(&piece, limit));
        }
        if let Some(whole) = self.whole.as_ref()
            && self.next.is_empty()
            && self.spoken.is_empty()
        {
            // An answer that is only code is spoken all the same.
            let said = speakable(whole);
            if is_speech(&said) {
                self.next.extend(pieces(&said, limit, usize::MAX));
            }
        }
    }

    async fn speak(&mut self, text: String) -> Result<(), VoiceError> {
        let persona = if let Voicing::Chosen(persona) = &self.persona {
            persona.clone()
        } else {
            let agent = &self.start.agent;
            let by_agent = agent.config.voice_persona_id.as_deref();
            let by_model = self.chosen.as_deref();
            let persona = self.voice.persona_of(by_model, by_agent).await?;
            self.persona = Voicing::Chosen(persona.clone());
            persona
        };
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
            id: id.clone(),
            audio,
        });
        // More may have arrived meanwhile.
        let goes_on = self.take_what_arrived();
        self.find_next();
        let is_last = goes_on && self.whole.is_some() && self.next.is_empty();
        self.start.parts.push(id, is_last);
        Ok(())
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

    /// Stores the audio of the whole answer. A single part is the whole already.
    async fn store_whole(mut self) -> Result<Option<String>, VoiceError> {
        if self.spoken.len() < 2 {
            return Ok(self.spoken.pop().map(|part| part.id));
        }
        let parts = std::mem::take(&mut self.spoken);
        let parts = parts.into_iter().map(|part| part.audio).collect();
        let cpu = self.voice.state().resources.cpu.clone();
        let audio = cpu.run(move || Ok(recording::join(parts))).await?;
        let Some(audio) = audio else { return Ok(None) };
        let whole = self.whole.take().unwrap_or_default();
        let stored = self.voice.store_audio(self.new_audio(audio, whole)).await?;
        Ok(Some(stored.to_string()))
    }
}

/// The texts of the parts that a piece of Markdown is spoken in; none if nothing in it is spoken.
fn parts(piece: &str, limit: usize) -> Vec<String> {
    let said = speakable_part(piece);
    if !is_speech(&said) {
        return Vec::new();
    }
    if piece.chars().nth(limit).is_none() {
        return vec![piece.trim().to_owned()];
    }
    let parts = pieces(&said, limit, usize::MAX).into_iter();
    parts.filter(|part| is_speech(part)).collect()
}

fn is_speech(text: &str) -> bool {
    !text.chars().all(|c| c.is_whitespace() || c.is_control())
}
