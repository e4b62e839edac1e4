//! Records which providers were tried and with what result. A fallback is always reported.

use crate::VoiceError;

use schemars::JsonSchema;
use serde::Serialize;

/// One attempt to use a provider for speech or transcription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attempt {
    /// The provider's ID.
    pub provider: &'static str,
    /// Whether the attempt succeeded.
    pub ok: bool,
    /// The error code, if the attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The error message, if the attempt failed.
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
            message: Some(match error {
                VoiceError::Reported { text, .. } => format!("{error}: {}", text.0),
                error => error.to_string(),
            }),
        }
    }
}

/// The failed attempts so far.
#[derive(Default)]
pub(crate) struct Tries {
    pub(crate) attempts: Vec<Attempt>,
    first: Option<VoiceError>,
}

impl Tries {
    /// Records a failure. Returns the error instead when another provider could not help or must not be used.
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

    /// Returns the final error after every provider failed.
    pub(crate) fn over(mut self) -> VoiceError {
        match self.first.take() {
            Some(first) if self.attempts.len() > 1 => VoiceError::Attempts {
                first: Box::new(first),
                attempts: self.attempts,
            },
            Some(first) => first,
            None => VoiceError::Internal("no provider was tried"),
        }
    }
}
