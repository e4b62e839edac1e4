//! Who was asked, and how it went: a change of speaker is never silent.

use crate::VoiceError;
use crate::provider::TtsId;

use schemars::JsonSchema;
use serde::Serialize;

/// That a provider was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attempt {
    /// Its id.
    pub provider: TtsId,
    /// Whether it spoke.
    pub ok: bool,
    /// Why it did not: the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Why it did not: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Attempt {
    pub(crate) const fn good(provider: TtsId) -> Self {
        Self {
            provider,
            ok: true,
            code: None,
            message: None,
        }
    }

    pub(crate) fn failed(provider: TtsId, error: &VoiceError) -> Self {
        Self {
            provider,
            ok: false,
            code: Some(error.code().name()),
            message: Some(error.to_string()),
        }
    }
}
