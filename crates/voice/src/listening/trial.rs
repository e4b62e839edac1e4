//! A provider test that transcribes a second of silence.

use super::request::{self, TranscribeRequest};
use super::transcribe::{RECOGNISERS_RATE, look};
use super::transcript::Want;
use crate::last_use::LastUse;
use crate::provider::ProviderId;
use crate::stt::SttId;
use crate::{Voice, VoiceError};
use gatehouse_audio::{Format, Sound, encode, sniff};
use secrecy::SecretString;

impl Voice {
    /// Transcribes a second of silence with this provider and its settings, even while transcription is disabled. Calls
    /// the provider once and uses no fallback. If `key` is given, uses it instead of the stored key.
    ///
    /// # Errors
    /// Returns why the provider could not be tested, such as a sealed vault. A failure of the provider itself is not an
    /// error.
    pub async fn test_transcription(
        &self,
        id: SttId,
        key: Option<SecretString>,
    ) -> Result<LastUse, VoiceError> {
        let span = self.begin_request("api.transcription");
        let heard = span.run(self.transcribe_silence(id, key)).await;
        let heard = span.end(heard);
        let last_uses = &self.state().resources.last_uses;
        last_uses.of_test((SttId::SECTION, id.as_str()), heard)
    }

    async fn transcribe_silence(
        &self,
        id: SttId,
        key: Option<SecretString>,
    ) -> Result<(), VoiceError> {
        let mut state = self.state().for_test(key);
        state.settings.stt.enabled = true;
        let silence = Sound {
            rate: RECOGNISERS_RATE,
            samples: vec![0; usize::try_from(RECOGNISERS_RATE).unwrap_or_default()],
        };
        let audio = encode(&silence, Format::Wav)
            .map_err(|_error| VoiceError::Internal("silence could not be encoded"))?;
        let request = TranscribeRequest {
            timestamps: false,
            ..TranscribeRequest::new(audio.into())
        };
        let checked = request::check(&request, &state.settings.stt, sniff(&request.audio))?;
        let looked = look(&state.resources.cpu, &request.audio, &checked).await?;
        self.listen(&state, id, request, &looked, Want::Whole)
            .await?;
        Ok(())
    }
}
