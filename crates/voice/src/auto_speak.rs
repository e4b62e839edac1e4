//! Spoken agent answers: filters `[[tts]]` marks and speaks answers according to the settings. This module
//! decides whether and with which voice to speak; the agents crate runs the turns.

use crate::persona::Personas;
use crate::session_audio::NewAudio;
use crate::settings::AutoSpeak;
use crate::speech::SpeechRequest;
use crate::text::markup::{MarkupFilter, Tag};
use crate::text::speakable;
use crate::{Voice, VoiceError};
use futures_util::future::BoxFuture;
use gatehouse_agents::{Answer, AnswerFilter, Filtered, Speaker};
use gatehouse_audio::Format;
use gatehouse_domain::Problem;
use std::sync::Arc;
use std::time::Duration;

/// The instruction for the model when it decides what is spoken.
const HINT: &str = "Your answers can be spoken aloud. To have an answer spoken, write [[tts]] in \
                    it. To have only a part of it spoken, write [[tts]] before that part and \
                    [[/tts]] after it. The marks are never shown.";

/// How long a complete answer waits for its audio.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// The format of spoken answers.
const FORMAT: Format = Format::Mp3;

#[derive(Debug)]
struct AutoSpeaker(Voice);

impl Voice {
    /// The speaker to register with the agents crate.
    pub fn auto_speaker(&self) -> Arc<dyn Speaker> {
        Arc::new(AutoSpeaker(self.clone()))
    }
}

impl Speaker for AutoSpeaker {
    fn begin(&self) -> Box<dyn AnswerFilter> {
        Box::new(Marks(MarkupFilter::new()))
    }

    fn spoken<'a>(&'a self, answer: &'a Answer) -> BoxFuture<'a, Result<Option<String>, Problem>> {
        Box::pin(async move { self.0.answer(answer).await.map_err(to_problem) })
    }

    fn time_limit(&self) -> Duration {
        TIME_LIMIT
    }

    fn hint(&self) -> Option<String> {
        let settings = &self.0.state().settings;
        let is_said = settings.tts.enabled && settings.speaking.auto == AutoSpeak::Tagged;
        is_said.then(|| HINT.to_owned())
    }
}

struct Marks(MarkupFilter);

impl AnswerFilter for Marks {
    fn push(&mut self, piece: &str) -> String {
        self.0.push(piece)
    }

    fn finish(self: Box<Self>) -> Filtered {
        let (rest, tag) = self.0.finish();
        Filtered {
            rest,
            marks: Box::new(tag),
        }
    }
}

impl Voice {
    /// Speaks an answer if the settings ask for it, and stores the audio with its session.
    async fn answer(&self, answer: &Answer) -> Result<Option<String>, VoiceError> {
        let tag = answer.marks.downcast_ref::<Option<Tag>>();
        let tag = tag.and_then(Option::as_ref);
        let state = self.state();
        if !state.settings.tts.enabled {
            return Ok(None);
        }
        let is_wanted = match state.settings.speaking.auto {
            AutoSpeak::Always => true,
            AutoSpeak::Off => false,
            AutoSpeak::Inbound => answer.user_spoke,
            AutoSpeak::Tagged => tag.is_some(),
        };
        let parts = tag.map(|tag| tag.parts.join("\n"));
        let text = parts.filter(|parts| !parts.is_empty());
        let text = text.unwrap_or_else(|| answer.text.clone());
        if !is_wanted || speakable(&text).trim().is_empty() {
            return Ok(None);
        }
        let by_tag = tag.and_then(|tag| tag.persona.as_deref());
        let by_agent = answer.agent.config.voice_persona_id.as_deref();
        let by_agent = first_known(self.personas(), by_agent).await?;
        let by_model = self.chosen_by_model(by_tag, by_agent.as_deref()).await?;
        let request = SpeechRequest {
            persona: by_model.or(by_agent),
            format: Some(FORMAT.as_str().to_owned()),
            ..SpeechRequest::new(text.clone())
        };
        let made = self.convert(request).await?;
        let new = NewAudio {
            session: answer.session.clone(),
            is_inbound: false,
            format: made.format.as_str(),
            mime_type: made.format.mime_type(),
            duration_ms: made.duration_ms,
            transcript: Some(text),
            data: made.audio,
        };
        Ok(Some(self.store_audio(new).await?.to_string()))
    }
}

/// Returns the agent's persona if it still exists. Without one, the active persona speaks.
async fn first_known(
    personas: &Personas,
    wanted: Option<&str>,
) -> Result<Option<String>, VoiceError> {
    match wanted {
        Some(id) if id == "none" || personas.find(id).await?.is_some() => Ok(Some(id.to_owned())),
        _ => Ok(None),
    }
}

/// Converts the error for the listener. Internal errors are logged here with their cause.
fn to_problem(error: VoiceError) -> Problem {
    if let VoiceError::Store(_) | VoiceError::Io(_) | VoiceError::Internal(_) = &error {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "an answer could not be spoken");
    }
    error.into()
}
