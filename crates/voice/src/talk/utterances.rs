//! Turns utterances into the text of a turn.

use super::conversation::{Conversation, Step, too_much};
use super::listener::RATE;
use super::wire::ServerMessage;
use super::{TalkParts, TalkStart};
use crate::session_audio::NewAudio;
use crate::{TranscribeRequest, VoiceError};
use bytes::Bytes;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::Problem;
use gatehouse_domain::id::{AudioId, SessionId};
use gatehouse_domain::trace::{ActiveSpan, SpanKind};

/// How many utterances may wait to be transcribed.
const MAX_UTTERANCES: usize = 4;

/// Speech between two silences.
#[derive(Default)]
pub(super) struct Utterance {
    /// At [`RATE`].
    samples: Vec<i16>,
    /// The time from the end of the utterance to the end of its answer.
    span: ActiveSpan,
}

/// The transcript of an utterance.
pub(super) struct Understood {
    text: String,
    language: String,
    /// The recording and its session, if there was something to understand.
    recording: Option<Recording>,
    span: ActiveSpan,
}

pub(super) struct Recording {
    pub(super) audio: AudioId,
    pub(super) session: SessionId,
    /// The key of the session, if it is new.
    new_key: Option<String>,
}

impl Conversation {
    /// Transcribes an utterance after the preceding ones.
    pub(super) fn understand(&mut self, samples: Vec<i16>) {
        if self.utterances.len() >= MAX_UTTERANCES {
            self.fail(too_much());
            return;
        }
        let tracer = &self.parts.voice.0.tracer;
        let span = tracer.begin("talk.utterance", SpanKind::Server, None);
        self.utterances.push_back(Utterance { samples, span });
        if self.utterances.len() == 1 {
            self.transcribe_first();
        }
    }

    fn transcribe_first(&mut self) {
        let Some(utterance) = self.utterances.front_mut() else {
            return;
        };
        let Utterance { samples, mut span } = std::mem::take(utterance);
        let (parts, start) = (self.parts.clone(), self.start.clone());
        let session = self.session.clone();
        self.works.push(Box::pin(async move {
            let understanding = span.run(understand(parts, start, session, samples));
            let understood = understanding.await;
            if let Err(problem) = &understood {
                span.fail(problem.code.name());
            }
            Step::Understood(understood.map(|understood| Understood { span, ..understood }))
        }));
    }

    pub(super) fn understood(&mut self, understood: Result<Understood, Problem>) {
        if self.is_closing {
            return;
        }
        self.utterances.pop_front();
        match understood {
            Err(problem) => self.fail(problem),
            Ok(understood) => self.say(understood),
        }
        self.transcribe_first();
    }

    fn say(&mut self, understood: Understood) {
        self.tell(&ServerMessage::Transcript {
            text: &understood.text,
            language: &understood.language,
            audio_id: understood
                .recording
                .as_ref()
                .map(|recording| &recording.audio),
        });
        if let Some(recording) = &understood.recording
            && let Some(session_key) = &recording.new_key
        {
            self.session = Some(recording.session.clone());
            self.tell(&ServerMessage::Session {
                session: &recording.session,
                session_key,
            });
        }
        if understood.recording.is_none() {
            return;
        }
        let mut whole = understood;
        if let Some(before) = self.pending.take() {
            whole.text = format!("{} {}", before.text, whole.text);
            whole.span.link(before.span.context());
        }
        self.pending = Some(whole);
    }

    /// Begins a turn with the transcripts, unless the person is still speaking. If an answer was interrupted, the part
    /// that was heard is stored first, because the model must see it.
    pub(super) fn ask_when_ready(&mut self) {
        let is_ready = !self.is_closing
            && !self.is_interrupted()
            && self.utterances.is_empty()
            && self.stopped.is_empty()
            && self.notes == 0;
        let Some(whole) = self.pending.take_if(|_| is_ready) else {
            return;
        };
        if let Some(recording) = whole.recording {
            self.ask(recording, whole.text, whole.span);
        }
    }
}

async fn understand(
    parts: TalkParts,
    start: TalkStart,
    session: Option<SessionId>,
    samples: Vec<i16>,
) -> Result<Understood, Problem> {
    (parts.admit)().await?;
    let duration_ms = samples.len() as u64 * 1000 / u64::from(RATE);
    let sound = Sound {
        rate: RATE,
        samples,
    };
    let cannot = |_| VoiceError::Internal("an utterance could not be encoded");
    let data = Bytes::from(encode(&sound, Format::Wav).map_err(cannot)?);
    let request = TranscribeRequest {
        language: start.language,
        provider: start.stt,
        timestamps: false,
        ..TranscribeRequest::new(data.clone())
    };
    let transcript = parts.voice.transcribe(request).await?;
    let text = transcript.text.trim().to_owned();
    if text.is_empty() {
        return Ok(Understood {
            text,
            language: transcript.language,
            recording: None,
            span: ActiveSpan::default(),
        });
    }
    let (session, new_key) = if let Some(session) = session {
        (session, None)
    } else {
        let new = parts.agents.create_session(None, start.agent).await;
        let new = new.map_err(VoiceError::from)?;
        (new.id, Some(new.key))
    };
    let recording = NewAudio {
        session: session.clone(),
        is_inbound: true,
        format: Format::Wav.as_str(),
        mime_type: Format::Wav.mime_type(),
        duration_ms,
        transcript: Some(text.clone()),
        data,
    };
    let audio = parts.voice.store_audio(recording).await?;
    Ok(Understood {
        text,
        language: transcript.language,
        recording: Some(Recording {
            audio,
            session,
            new_key,
        }),
        span: ActiveSpan::default(),
    })
}
