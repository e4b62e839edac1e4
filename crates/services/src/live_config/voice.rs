//! Translates the settings for `voice`.

use super::written_keys::{WrittenKeys, model_service};
use gatehouse_config::{Layers, Origin, Resolved, Settings, VoiceSection};
use gatehouse_domain::KeyBinding;
use gatehouse_voice::{Borrowed, ProviderId, SectionSettings, SpeakingSettings, VoiceSettings};
use std::collections::BTreeSet;
use std::time::Duration;
use url::Url;

/// Translates the settings for `voice`. A key from the file or the environment belongs to the URL configured there.
/// If a run-time change sets another URL, the key for that URL must be entered with `providers.set_key`.
pub fn voice_settings(resolved: &Resolved, layers: &Layers) -> VoiceSettings {
    let settings = &resolved.settings;
    let voice = &settings.voice;
    let keys = WrittenKeys::new(resolved, layers);
    VoiceSettings {
        local_concurrency: voice.local_concurrency,
        keep_warm: Duration::from_mins(voice.keep_warm_minutes),
        cache_max_bytes: voice.cache_max_bytes,
        audio_max_bytes: voice.audio_max_bytes,
        tts: section(&keys, settings, |settings| &settings.voice.tts),
        speaking: SpeakingSettings {
            auto: voice.auto,
            max_text_length: voice.max_text_length,
        },
        stt: section(&keys, settings, |settings| &settings.voice.stt),
        openai: borrowed(&keys, resolved, layers),
        child_variables: layers.process().child_variables.clone(),
        ..VoiceSettings::default()
    }
}

/// Returns the configured URL of the model provider `openai`; `None` for the vendor's default.
fn address_of_models(settings: &Settings) -> Option<&Url> {
    let provider = settings.models.providers.get("openai")?;
    let is_default = provider.base_url.as_str() == provider.kind.default_base_url();
    (!is_default).then_some(&provider.base_url)
}

/// The section of one kind of provider.
type Section = fn(&Settings) -> &VoiceSection;

/// Returns the service of a provider: at its own URL, at the URL of the key that it shares, or at the vendor's
/// default.
fn service<Id: ProviderId>(settings: &Settings, of: Section, id: Id) -> Option<KeyBinding> {
    let about = id.about();
    let own = of(settings).providers.get(about.id);
    let own = own.and_then(|provider| provider.base_url.as_ref());
    let borrowed = address_of_models(settings).filter(|_| about.borrows());
    let default = about.default_url().and_then(|url| Url::parse(url).ok());
    let url = own.or(borrowed).or(default.as_ref())?;
    Some(KeyBinding::of_url(Id::SECTION, url))
}

fn borrowed(keys: &WrittenKeys<'_>, resolved: &Resolved, layers: &Layers) -> Borrowed {
    let of_models = |settings: &Settings| model_service(settings, "openai");
    let provider = resolved.settings.models.providers.get("openai");
    let is_set = resolved.origin("models.providers.openai.base_url") != Origin::Default;
    let given = provider.and_then(|provider| provider.api_key.clone());
    Borrowed {
        base_url: provider
            .filter(|_| is_set)
            .map(|provider| provider.base_url.clone()),
        api_key: keys.keep(given, of_models),
        environment: keys.keep(layers.process().openai_api_key.clone(), of_models),
    }
}

fn section<Id: ProviderId>(
    keys: &WrittenKeys<'_>,
    settings: &Settings,
    of: Section,
) -> SectionSettings<Id> {
    let section = of(settings);
    let ids = |names: &[&str]| names.iter().filter_map(|name| Id::find(name)).collect();
    let is_moved = |id: &Id| !keys.is_written(|settings| service(settings, of, *id));
    let moved: BTreeSet<Id> = Id::ALL.iter().copied().filter(is_moved).collect();
    let providers = section.providers.iter().filter_map(|(id, provider)| {
        let id = Id::find(id)?;
        let mut provider = provider.clone();
        provider.api_key = provider.api_key.filter(|_| !moved.contains(&id));
        Some((id, provider))
    });
    SectionSettings {
        enabled: section.enabled,
        provider: section.provider.and_then(Id::find),
        shown: ids(&section.shown),
        fallback: ids(&section.fallback),
        providers: providers.collect(),
        moved,
    }
}

#[cfg(test)]
mod tests;
