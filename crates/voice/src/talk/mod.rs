//! A spoken conversation with an agent: microphone audio is the input, and speech is the output from the first sentence
//! on. `listener` finds the utterances, `conversation` runs the turns, `output` speaks the answers, and `playback`
//! computes which part was heard. This module is independent of sockets.

mod answers;
mod approvals;
mod conversation;
mod listener;
pub(crate) mod output;
mod playback;
mod utterances;
mod wire;

pub use wire::{TalkMessage, TalkOutput, TalkStart, error_message};

use crate::listening::check_language;
use crate::{ProviderId, SttId, TtsId, Voice, VoiceError};
use bytes::Bytes;
use conversation::Conversation;
use futures_util::future::BoxFuture;
use gatehouse_agents::Agents;
use gatehouse_domain::id::SessionId;
use gatehouse_domain::{Actor, Problem};
use listener::Listener;
use output::SpeechSettings;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender};

/// The longest utterance. A longer one is transcribed in parts of this length.
const MAX_UTTERANCE_SECONDS: u32 = 120;

/// Decides whether the caller still has access. Called for each utterance.
pub type Admit = Arc<dyn Fn() -> BoxFuture<'static, Result<(), Problem>> + Send + Sync>;

/// The dependencies of a conversation.
#[derive(Clone)]
pub struct TalkParts {
    pub voice: Voice,
    pub agents: Agents,
    pub actor: Actor,
    pub admit: Admit,
    /// Whether the caller may answer tool calls that wait for approval.
    pub approves: bool,
}

impl fmt::Debug for TalkParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TalkParts")
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// A message of the client after the start.
#[derive(Debug)]
pub enum TalkInput {
    /// Samples of the microphone.
    Audio(Bytes),
    /// The utterance ends now.
    Commit,
    /// The answer stops.
    Stop,
}

/// A conversation that can begin.
#[derive(Debug)]
pub struct Talk(Conversation);

impl Talk {
    /// Validates the client's options.
    pub async fn open(parts: TalkParts, start: TalkStart) -> Result<Self, VoiceError> {
        let format = start.format()?;
        let listener = Listener::new(start.rate()?, start.silence_ms()?, MAX_UTTERANCE_SECONDS)?;
        parts.voice.check_talk(&start).await?;
        if let Some(agent) = &start.agent {
            parts.agents.get_agent(agent).await?;
        }
        let session: Option<SessionId> = match &start.session {
            None => None,
            Some(name) => Some(parts.agents.get_session(name).await?.id),
        };
        let speech = SpeechSettings {
            format,
            provider: start.tts.clone(),
            persona: start.persona.clone(),
            voice: start.voice.clone(),
        };
        Ok(Self(Conversation::new(
            parts, start, session, listener, speech,
        )))
    }

    /// Runs the conversation until the input ends. Then stops the running turn and stores the part
    /// that was heard.
    pub async fn run(self, input: Receiver<TalkInput>, output: Sender<TalkOutput>) {
        self.0.run(input, output).await;
    }
}

impl Voice {
    /// Checks the options.
    ///
    /// # Errors
    /// Fails if no provider can transcribe or none can speak, or if an option names something unknown.
    async fn check_talk(&self, start: &TalkStart) -> Result<(), VoiceError> {
        check_language(start.language.as_deref())?;
        if let Some(name) = &start.stt {
            SttId::parse("stt", name)?;
        }
        if let Some(name) = &start.tts {
            TtsId::parse("tts", name)?;
        }
        let persona = self.persona(start.persona.as_deref()).await?;
        let (listens, speaks) = (self.stt_status().await, self.tts_status().await);
        if !listens.enabled || !speaks.enabled {
            let section = if listens.enabled { "tts" } else { "stt" };
            let hint = "A conversation needs voice.tts.enabled and voice.stt.enabled.";
            let what = format!("voice.{section}.enabled");
            return Err(VoiceError::not_configured(what, hint));
        }
        if start.stt.is_none() && !self.can_be_tried::<SttId>(None).await {
            let hint = "No provider for transcription is configured.";
            return Err(VoiceError::not_configured("voice.stt.provider", hint));
        }
        let speaker: Option<TtsId> = persona.and_then(|persona| persona.provider);
        let mut can_speak = start.tts.is_some() || self.can_be_tried(speaker).await;
        if !can_speak && start.persona.is_none() {
            // The agent's persona may speak instead of the active one.
            can_speak = self.can_be_tried::<TtsId>(None).await;
        }
        if !can_speak {
            let hint = "No provider for speech is configured.";
            return Err(VoiceError::not_configured("voice.tts.provider", hint));
        }
        Ok(())
    }
}
