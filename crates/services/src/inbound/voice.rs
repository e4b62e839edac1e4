//! Voice messages: transcribes received ones, and speaks the answers.

use super::Inbound;
#[cfg(feature = "voice")]
use super::answers::FAILED;
use super::answers::Turn;
use gatehouse_channels::InboundAccount;
#[cfg(feature = "voice")]
use gatehouse_channels::SendError;
use gatehouse_store::ReceivedMessageRow;

#[cfg(feature = "voice")]
const NOTHING_HEARD: &str = "Nothing could be understood in the voice message.";
const NO_RECOGNIZER: &str = "Voice messages cannot be received here. Please write.";

impl Inbound {
    /// Returns the transcript of a recording. If the recording cannot be understood, the error is the outcome.
    #[cfg(feature = "voice")]
    pub(super) async fn transcribe(
        &self,
        account: &InboundAccount,
        audio: Vec<u8>,
    ) -> Result<String, Turn> {
        use gatehouse_domain::{ErrorCode, Problem};
        use gatehouse_voice::{TranscribeRequest, VoiceError};

        let request = TranscribeRequest {
            timestamps: false,
            ..TranscribeRequest::new(audio.into())
        };
        let error = match self.services.voice.transcribe(request).await {
            Ok(transcript) => {
                let text = transcript.text.trim();
                let heard = (!text.is_empty()).then(|| text.to_owned());
                return heard.ok_or_else(|| Turn::Answer(NOTHING_HEARD.to_owned()));
            }
            Err(error) => error,
        };
        tracing::warn!(account = account.id, %error, "a voice message was not transcribed");
        if matches!(error, VoiceError::NotConfigured { .. }) {
            return Err(Turn::Answer(NO_RECOGNIZER.to_owned()));
        }
        Err(match Problem::from(error).code {
            ErrorCode::VaultSealed | ErrorCode::RateLimited => Turn::Later,
            _ => Turn::Answer(FAILED.to_owned()),
        })
    }

    /// Also sends an answer as a voice message. A failure is only logged, because the text has been sent.
    #[cfg(feature = "voice")]
    pub(super) async fn speak(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
        (answer, format): (&str, &str),
    ) {
        use gatehouse_channels::VoiceMessage;
        use gatehouse_voice::SpeechRequest;
        use std::time::Duration;

        let request = SpeechRequest {
            format: Some(format.to_owned()),
            ..SpeechRequest::new(answer)
        };
        let spoken = match self.services.voice.convert(request).await {
            Ok(spoken) => spoken,
            Err(error) => {
                tracing::warn!(account = account.id, %error, "an answer was not spoken");
                return;
            }
        };
        let voice = VoiceMessage {
            audio: spoken.audio.to_vec(),
            duration: Duration::from_millis(spoken.duration_ms),
        };
        let (chat, thread) = (&message.chat, message.thread.as_deref());
        let channels = &self.services.channels;
        let sending = async {
            // More people may have joined the chat while the answer was converted to speech.
            if self.may_answer(account, message).await? {
                channels
                    .send_voice(&account.id, chat, thread, voice)
                    .await?;
            }
            Ok::<_, SendError>(())
        };
        if let Err(error) = sending.await {
            tracing::warn!(account = account.id, %error, "a voice message was not sent");
        }
    }

    /// Returns an error, because this build has no voice.
    #[cfg(not(feature = "voice"))]
    #[expect(clippy::unused_async, reason = "as in a build with voice")]
    pub(super) async fn transcribe(
        &self,
        _account: &InboundAccount,
        _audio: Vec<u8>,
    ) -> Result<String, Turn> {
        Err(Turn::Answer(NO_RECOGNIZER.to_owned()))
    }

    /// Does nothing, because this build has no voice.
    #[cfg(not(feature = "voice"))]
    #[expect(clippy::unused_async, reason = "as in a build with voice")]
    pub(super) async fn speak(
        &self,
        _account: &InboundAccount,
        _message: &ReceivedMessageRow,
        _answer: (&str, &str),
    ) {
    }
}
