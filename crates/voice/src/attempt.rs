//! Who was asked, and how it went: a change of speaker is never silent.

use crate::VoiceError;

use schemars::JsonSchema;
use serde::Serialize;

/// That a provider was asked, to speak or to listen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attempt {
    /// Its id.
    pub provider: &'static str,
    /// Whether it did it.
    pub ok: bool,
    /// Why it did not: the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Why it did not: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Attempt {
    pub(crate) const fn good(provider: &'static str) -> Self {
        Self {
            provider,
            ok: true,
            code: None,
            message: None,
        }
    }

    pub(crate) fn failed(provider: &'static str, error: &VoiceError) -> Self {
        Self {
            provider,
            ok: false,
            code: Some(error.code().name()),
            message: Some(error.to_string()),
        }
    }
}

/// Who was asked in vain.
#[derive(Default)]
pub(crate) struct Tries {
    pub(crate) attempts: Vec<Attempt>,
    first: Option<VoiceError>,
}

impl Tries {
    /// Notes a failure. One that is not the provider's ends it: no other would do better, or no other is
    /// meant to.
    pub(crate) fn failed(
        &mut self,
        provider: &'static str,
        error: VoiceError,
    ) -> Result<(), VoiceError> {
        if self.first.is_none() && !error.is_providers() {
            return Err(error);
        }
        self.attempts.push(Attempt::failed(provider, &error));
        self.first.get_or_insert(error);
        Ok(())
    }

    /// Nobody is left.
    pub(crate) fn over(mut self) -> VoiceError {
        match self.first.take() {
            Some(first) if self.attempts.len() > 1 => VoiceError::Attempts {
                first: Box::new(first),
                attempts: self.attempts,
            },
            Some(first) => first,
            None => VoiceError::Internal("nobody was asked"),
        }
    }
}
