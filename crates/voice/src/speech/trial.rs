//! A provider test that speaks one short word.

use super::order::Order;
use super::request::SpeechRequest;
use crate::last_use::LastUse;
use crate::provider::ProviderId;
use crate::tts::TtsId;
use crate::{Voice, VoiceError, usage};
use gatehouse_audio::Format;
use secrecy::SecretString;
use std::sync::Arc;

/// The test word. It is the same in most languages that providers speak.
const WORD: &str = "Test";

impl Voice {
    /// Speaks one word with this provider and its settings, even while speech is disabled. Calls the provider once and
    /// uses no persona, cache or fallback. If `key` is given, uses it instead of the stored key.
    ///
    /// # Errors
    /// Returns why the provider could not be tested, such as a sealed vault. A failure of the provider itself is not an
    /// error.
    pub async fn test_speech(
        &self,
        id: TtsId,
        key: Option<SecretString>,
    ) -> Result<LastUse, VoiceError> {
        let span = self.begin_request("api.speech");
        let spoken = span.run(self.speak_word(id, key)).await;
        let spoken = span.end(spoken);
        let last_uses = &self.state().resources.last_uses;
        last_uses.of_test((TtsId::SECTION, id.as_str()), spoken)
    }

    async fn speak_word(&self, id: TtsId, key: Option<SecretString>) -> Result<(), VoiceError> {
        let order = Order {
            state: Arc::new(self.state().for_test(key)),
            request: SpeechRequest::new(WORD),
            persona: None,
            format: Format::Mp3,
            text: WORD.to_owned(),
            speakers: vec![id],
        };
        let job = self.job(&order, id).await?;
        let counting = usage::begin_speech(id, &order.state.resources, job.setup);
        let made = job.make(&order.state).await.and_then(|made| {
            if made.is_sound {
                return Ok(made);
            }
            let reason = "returned something that is not audio";
            Err(VoiceError::failed(id.as_str(), reason, false))
        });
        let made = counting.of(made)?;
        usage::characters(id, WORD.len());
        usage::spoken_for(id, made.duration_ms);
        Ok(())
    }
}
