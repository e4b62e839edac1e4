//! The voice of a persona at one provider.

use crate::persona::{
    PersonaBinding,
    input::checks::{Checked, MAX_BINDINGS, PITCH, SPEED, UNIT, in_range, invalid, word},
};
use crate::{ProviderId, TtsId};
use schemars::JsonSchema;
use serde::Deserialize;

/// The voice settings of a persona at one provider.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingInput {
    /// The provider, by ID or vendor name.
    pub(super) provider: String,
    /// The provider's name or ID of the voice.
    #[serde(default, alias = "voiceId")]
    voice_id: Option<String>,
    /// An alias of `voice_id`.
    voice: Option<String>,
    model: Option<String>,
    /// The speed; 1 is normal.
    #[schemars(range(min = 0.25, max = 4.0))]
    speed: Option<f64>,
    /// The stability of the voice.
    #[schemars(range(min = 0.0, max = 1.0))]
    stability: Option<f64>,
    /// The similarity to the original voice.
    #[serde(default, alias = "similarityBoost")]
    #[schemars(range(min = 0.0, max = 1.0))]
    similarity_boost: Option<f64>,
    /// An alias of `speed`.
    #[serde(default, alias = "speakingRate")]
    #[schemars(range(min = 0.25, max = 4.0))]
    speaking_rate: Option<f64>,
    /// The pitch in semitones.
    #[schemars(range(min = -20.0, max = 20.0))]
    pitch: Option<f64>,
}

pub(super) fn bindings(list: Vec<BindingInput>) -> Checked<Vec<PersonaBinding>> {
    if list.len() > MAX_BINDINGS {
        return invalid(
            "providerBindings",
            format!("at most {MAX_BINDINGS} bindings"),
        );
    }
    let mut bindings: Vec<PersonaBinding> = Vec::with_capacity(list.len());
    for binding in list {
        let binding = binding.checked()?;
        if bindings.iter().any(|one| one.provider == binding.provider) {
            let reason = format!("two bindings for {}", binding.provider);
            return invalid("providerBindings", reason);
        }
        bindings.push(binding);
    }
    Ok(bindings)
}

impl BindingInput {
    fn checked(self) -> Checked<PersonaBinding> {
        let voice_id = word("voice_id", self.voice_id)?;
        let voice = word("voice", self.voice)?;
        if matches!((&voice_id, &voice), (Some(one), Some(other)) if one != other) {
            return invalid("voice", "is an alias of voice_id, and the two differ");
        }
        let speed = in_range("speed", self.speed, &SPEED)?;
        let speaking_rate = in_range("speaking_rate", self.speaking_rate, &SPEED)?;
        #[expect(clippy::float_cmp, reason = "both are parsed from the caller's text")]
        if matches!((speed, speaking_rate), (Some(one), Some(other)) if one != other) {
            return invalid("speaking_rate", "is an alias of speed, and the two differ");
        }
        Ok(PersonaBinding {
            provider: TtsId::parse("provider", &self.provider)?,
            voice_id: voice_id.or(voice),
            model: word("model", self.model)?,
            speed,
            stability: in_range("stability", self.stability, &UNIT)?,
            similarity_boost: in_range("similarity_boost", self.similarity_boost, &UNIT)?,
            speaking_rate,
            pitch: in_range("pitch", self.pitch, &PITCH)?,
        })
    }
}
