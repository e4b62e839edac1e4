//! Translation of speech to English, which Whisper models offer.

use crate::VoiceError;

/// How a provider translates.
#[derive(Debug)]
pub(crate) struct Translator {
    /// The model that translates if the configured model cannot. `None` for a local program, which has only its own
    /// model.
    pub(crate) model: Option<&'static str>,
    /// Whether this model is known not to translate.
    pub(crate) lacks: fn(&str) -> bool,
}

/// A local program translates with the configured model.
pub(crate) const WITH_ITS_MODEL: Translator = Translator {
    model: None,
    lacks: |_| false,
};

impl Translator {
    /// Returns the model for a translation: the requested one, else the configured one if it can
    /// translate.
    pub(crate) fn choose(
        &self,
        asked: Option<String>,
        set: Option<&String>,
    ) -> Result<Option<String>, VoiceError> {
        match asked {
            Some(asked) if (self.lacks)(&asked) => {
                let known = self.model.unwrap_or_default();
                let reason = format!("this model does not translate; {known} does");
                Err(VoiceError::invalid("model", reason))
            }
            Some(asked) => Ok(Some(asked)),
            None => {
                let set = set.filter(|set| !(self.lacks)(set)).cloned();
                Ok(set.or_else(|| self.model.map(str::to_owned)))
            }
        }
    }
}
