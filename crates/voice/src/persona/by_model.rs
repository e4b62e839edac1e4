//! Personas chosen by a model, through markers in an answer or the `speak` tool. The model may have read untrusted
//! text. Such text must not make the gateway send speech to a vendor that the owner did not choose.

use super::Persona;
use crate::{TtsId, Voice, VoiceError};

impl Voice {
    /// Returns the persona with this ID if a model may choose it: the persona uses the same provider as without the
    /// choice, or the owner allows it. `otherwise` is the persona used without the choice, or `None` for the active
    /// one. An unknown ID is ignored.
    pub(crate) async fn chosen_by_model(
        &self,
        wanted: Option<&str>,
        otherwise: Option<&str>,
    ) -> Result<Option<String>, VoiceError> {
        let Some(id) = wanted else {
            return Ok(None);
        };
        let found = match id {
            "none" => None,
            _ => match self.personas().find(id).await? {
                Some(persona) => Some(persona),
                None => return Ok(None),
            },
        };
        let is_allowed = found.as_ref().is_some_and(|persona| persona.allow_markup);
        let usual = self.persona(otherwise).await?;
        if is_allowed || self.speaks(found.as_ref()).await == self.speaks(usual.as_ref()).await {
            return Ok(Some(id.to_owned()));
        }
        tracing::warn!(
            persona = id,
            "a model chose a persona of another provider, which requires allow_markup: the persona \
             was ignored"
        );
        Ok(None)
    }

    /// Returns the provider that speaks for this persona, or the provider used without a persona.
    async fn speaks(&self, persona: Option<&Persona>) -> Option<TtsId> {
        match persona.and_then(|persona| persona.provider) {
            Some(id) => Some(id),
            None => Some(self.chosen(&self.state()).await?.0),
        }
    }
}
