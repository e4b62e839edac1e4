//! A text that arrives in pieces.

use super::event::Event;
use crate::auto_speak::{Script, Step};
use crate::{SpeechRequest, VoiceError};
use gatehouse_audio::Format;
use serde_json::Value;

/// The longest text that may arrive in pieces, in bytes. Each sentence is a separate request.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// A text that arrives in pieces.
pub(super) struct TextStream {
    /// The request with the voice. Its text is empty.
    pub(super) request: SpeechRequest,
    pub(super) script: Script,
    /// Bytes of text so far.
    arrived: usize,
    /// Whether audio was sent.
    pub(super) has_begun: bool,
    /// Whether speech failed. The rest of the text is then not spoken.
    pub(super) has_failed: bool,
}

impl TextStream {
    /// Reads the client's options from the event that starts the text.
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

    pub(super) fn add(&mut self, text: &str) -> Result<(), VoiceError> {
        if text.len() > MAX_TEXT_BYTES - self.arrived {
            let reason = format!("has more than {MAX_TEXT_BYTES} bytes");
            return Err(VoiceError::invalid("text", reason));
        }
        self.arrived += text.len();
        self.script.take(Step::Text(text.to_owned()));
        Ok(())
    }
}

/// Returns a request without text, with the voice that the event asks for.
pub(super) fn request(event: &Event) -> SpeechRequest {
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
