//! Combines a request, a persona and the settings into parameters for one provider, according to its
//! capabilities.

use super::{FallbackPolicy, Persona, PersonaBinding, instructions};
use crate::VoiceError;
use crate::error::NO_BINDING;
use crate::provider::ProviderSettings;
use crate::tts::{Parameter, TtsId, TtsProvider};

/// The voice parameters of a request, already validated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestVoice {
    pub(crate) voice: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) speed: Option<f64>,
    pub(crate) stability: Option<f64>,
    pub(crate) similarity_boost: Option<f64>,
}

/// The resolved parameters. Contains only what the provider supports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) voice: Option<String>,
    pub(crate) model: Option<String>,
    /// The speed, within the provider's range.
    pub(crate) speed: Option<f64>,
    pub(crate) stability: Option<f64>,
    pub(crate) similarity_boost: Option<f64>,
    pub(crate) pitch: Option<f64>,
    pub(crate) instructions: Option<String>,
    /// Request fields that this provider does not support.
    pub(crate) ignored: Vec<&'static str>,
}

/// The values of one field from request, binding and settings, in order of precedence, and whether the
/// provider supports the field.
struct Field<T> {
    name: &'static str,
    takes: bool,
    request: Option<T>,
    binding: Option<T>,
    settings: Option<T>,
}

impl<T> Field<T> {
    fn choose(self, ignored: &mut Vec<&'static str>) -> Option<T> {
        if self.takes {
            return self.request.or(self.binding).or(self.settings);
        }
        if self.request.is_some() {
            ignored.push(self.name);
        }
        None
    }
}

/// Resolves the parameters. The request takes precedence over the persona's binding, and the binding over the
/// settings. Without a binding for this provider, the persona's policy applies; `fail` returns
/// `NotConfigured`.
pub(crate) fn apply(
    persona: Option<&Persona>,
    id: TtsId,
    request: &RequestVoice,
    settings: &ProviderSettings,
) -> Result<Chosen, VoiceError> {
    let provider = id.provider();
    let binding = persona.and_then(|persona| persona.binding(id));
    let keeps_prompt = match persona.map(|persona| persona.fallback) {
        Some(FallbackPolicy::Fail) if binding.is_none() => return Err(no_binding(id)),
        Some(FallbackPolicy::ProviderDefaults) if binding.is_none() => false,
        _ => provider.takes(Parameter::Instructions),
    };
    let prompt = persona.filter(|_| keeps_prompt);
    let mut ignored = Vec::new();
    let voice = Field {
        name: "voiceId",
        takes: provider.takes(Parameter::Voice),
        request: request.voice.clone(),
        binding: binding.and_then(|binding| binding.voice_id.clone()),
        settings: settings.voice.clone(),
    };
    let model = Field {
        name: "model",
        takes: provider.takes(Parameter::Model),
        request: request.model.clone(),
        binding: binding.and_then(|binding| binding.model.clone()),
        settings: settings.model.clone(),
    };
    let speed = Field {
        name: "speed",
        takes: provider.speed.is_some(),
        request: request.speed,
        binding: binding.and_then(speed_of),
        settings: settings.speed,
    };
    let stability = Field {
        name: "stability",
        takes: provider.takes(Parameter::Stability),
        request: request.stability,
        binding: binding.and_then(|binding| binding.stability),
        settings: settings.stability,
    };
    let similarity_boost = Field {
        name: "similarityBoost",
        takes: provider.takes(Parameter::Stability),
        request: request.similarity_boost,
        binding: binding.and_then(|binding| binding.similarity_boost),
        settings: settings.similarity_boost,
    };
    Ok(Chosen {
        voice: voice.choose(&mut ignored),
        model: model.choose(&mut ignored),
        speed: speed
            .choose(&mut ignored)
            .map(|speed| near(speed, provider)),
        stability: stability.choose(&mut ignored),
        similarity_boost: similarity_boost.choose(&mut ignored),
        pitch: binding
            .and_then(|binding| binding.pitch)
            .filter(|_| provider.takes(Parameter::Pitch)),
        instructions: prompt.and_then(|persona| instructions(&persona.prompt)),
        ignored,
    })
}

/// The speaking rate is an alias of the speed. A binding with both has the same value twice.
fn speed_of(binding: &PersonaBinding) -> Option<f64> {
    binding.speed.or(binding.speaking_rate)
}

/// Returns the nearest speed that the provider supports.
fn near(speed: f64, provider: &TtsProvider) -> f64 {
    match &provider.speed {
        Some(range) => speed.max(*range.start()).min(*range.end()),
        None => speed,
    }
}

fn no_binding(provider: TtsId) -> VoiceError {
    let hint = format!(
        "The persona has no binding for {provider}, and its fallback policy is fail: add a binding, \
         choose another provider, or change the policy."
    );
    VoiceError::not_configured(NO_BINDING, hint)
}

#[cfg(test)]
mod tests;
