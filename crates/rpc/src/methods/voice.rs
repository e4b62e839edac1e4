//! `voice.test`: tests whether a speech or transcription provider works.

use super::voice_params::provider_of;
use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_secrets::storable_key;
use gatehouse_services::to_problem;
use gatehouse_voice::LastUse;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

pub const TEST: Method = method!(
    "voice.test",
    "Lets a provider speak one short word, or transcribe a second of silence, with its key or with \
     another one that is not stored. Vendors may charge for it.",
    Some(Scope::Write),
    test(TestParams) -> LastUse,
    ends_with_caller: true,
    errors: [VaultSealed],
    audit: Audit::Unrecorded("asks a provider")
);

/// Params of `voice.test`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestParams {
    /// What the provider does. A vendor may offer both.
    kind: VoiceKind,
    /// The provider's ID or vendor name.
    provider: String,
    /// A key to test instead of the provider's own. It is sent to the provider, but not stored. A provider without a
    /// key ignores it.
    #[schemars(with = "Option<String>")]
    key: Option<SecretString>,
}

/// Speech or transcription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VoiceKind {
    /// Text to speech.
    Tts,
    /// Speech to text.
    Stt,
}

async fn test(call: Call, params: TestParams) -> Result<LastUse, Problem> {
    let voice = &call.services.voice;
    let key = params.key.as_ref().map(storable_key).transpose();
    let key = key.map_err(to_problem)?;
    let tested = match params.kind {
        VoiceKind::Tts => voice.test_speech(provider_of(&params.provider)?, key).await,
        VoiceKind::Stt => {
            voice
                .test_transcription(provider_of(&params.provider)?, key)
                .await
        }
    };
    tested.map_err(to_problem)
}
