//! Translates the settings for `voice`.

use super::written_keys::{WrittenKeys, model_service};
use gatehouse_config::{Layers, Origin, Resolved, Settings, VoiceSection};
use gatehouse_domain::KeyBinding;
use gatehouse_voice::{Borrowed, ProviderId, SectionSettings, SpeakingSettings, VoiceSettings};
use std::collections::BTreeSet;
use std::time::Duration;
use url::Url;

/// Translates the settings for `voice`. A key from the file or the environment belongs to the address
/// configured there. If a run-time change sets another address, the key for it must be entered with
/// `providers.set_key`.
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

/// The configured address of the model provider `openai`; `None` when it is the vendor's default.
fn address_of_models(settings: &Settings) -> Option<&Url> {
    let provider = settings.models.providers.get("openai")?;
    let is_default = provider.base_url.as_str() == provider.kind.default_base_url();
    (!is_default).then_some(&provider.base_url)
}

/// The section of one kind of provider.
type Section = fn(&Settings) -> &VoiceSection;

/// The service of a provider: at its own address, or at the address of the key it borrows, or at the
/// vendor's default.
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
mod tests {
    use super::*;
    use gatehouse_config::{AutoSpeak, Environment, Invocation};
    use gatehouse_voice::{SttId, TtsId};
    use secrecy::ExposeSecret;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn settings(variables: &[(&str, &str)], rows: &[(&str, Value)]) -> VoiceSettings {
        let environment = Environment::from_pairs(variables.iter().copied());
        let invocation = Invocation {
            data_dir: Some(std::env::temp_dir()),
            ..Default::default()
        };
        let layers = Layers::load(&environment, &invocation).unwrap();
        let rows = rows
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        let resolved = layers.resolve(&rows.collect::<BTreeMap<_, _>>()).unwrap();
        assert!(resolved.warnings.is_empty(), "{:?}", resolved.warnings);
        voice_settings(&resolved, &layers)
    }

    #[test]
    fn every_setting_arrives() {
        let made = settings(
            &[
                ("PATH", "/bin"),
                ("SERVICE_VOICE__LOCAL_CONCURRENCY", "3"),
                ("SERVICE_VOICE__KEEP_WARM_MINUTES", "7"),
                ("SERVICE_VOICE__CACHE_MAX_BYTES", "0"),
                ("SERVICE_VOICE__AUDIO_MAX_BYTES", "7"),
                ("SERVICE_VOICE__TTS__ENABLED", "false"),
                ("SERVICE_VOICE__TTS__PROVIDER", "piper"),
                ("SERVICE_VOICE__TTS__PROVIDERS", "piper,coqui"),
                ("SERVICE_VOICE__TTS__AUTO", "inbound"),
                ("SERVICE_VOICE__TTS__MAX_TEXT_LENGTH", "9"),
                ("SERVICE_VOICE__TTS__FALLBACK", "openai"),
                ("SERVICE_VOICE__TTS__PIPER__LENGTH_SCALE", "0.5"),
                ("SERVICE_VOICE__TTS__PIPER__SPEAKER_ID", "2"),
                ("SERVICE_VOICE__STT__ENABLED", "0"),
                ("SERVICE_VOICE__STT__PROVIDER", "groq"),
                ("SERVICE_VOICE__STT__FALLBACK", "sherpa-onnx"),
                ("SERVICE_VOICE__STT__DEEPGRAM__SMART_FORMAT", "true"),
                (
                    "SERVICE_VOICE__STT__WHISPER_CLI__FIT_AUDIO_CONTEXT",
                    "false",
                ),
                ("SERVICE_VOICE__STT__SHERPA_ONNX__MODEL_DIR", "/m"),
            ],
            &[],
        );
        assert_eq!(
            (
                made.local_concurrency,
                made.cache_max_bytes,
                made.audio_max_bytes
            ),
            (3, 0, 7)
        );
        assert_eq!(made.keep_warm, Duration::from_mins(7));
        let (tts, stt) = (&made.tts, &made.stt);
        assert!(!tts.enabled && !stt.enabled);
        assert_eq!(
            (tts.provider, stt.provider),
            (Some(TtsId::Piper), Some(SttId::Groq))
        );
        assert_eq!(tts.shown, [TtsId::Piper, TtsId::Coqui]);
        let speaking = &made.speaking;
        assert_eq!(
            (speaking.auto, speaking.max_text_length),
            (AutoSpeak::Inbound, 9)
        );
        assert_eq!(
            (&tts.fallback[..], &stt.fallback[..]),
            (&[TtsId::OpenAi][..], &[SttId::SherpaOnnx][..])
        );
        let piper = &tts.providers[&TtsId::Piper];
        assert_eq!((piper.length_scale, piper.speaker_id), (Some(0.5), Some(2)));
        assert_eq!(stt.providers[&SttId::Deepgram].smart_format, Some(true));
        let whisper = &stt.providers[&SttId::WhisperCli];
        assert_eq!(whisper.fit_audio_context, Some(false));
        let sherpa = stt.providers[&SttId::SherpaOnnx].model_path.clone();
        assert_eq!(sherpa, Some("/m".into()));
        assert_eq!(made.child_variables, [("PATH".to_owned(), "/bin".into())]);
    }

    #[test]
    fn a_key_does_not_follow_an_address_that_was_set_at_run_time() {
        let given = [("SERVICE_VOICE__TTS__ELEVENLABS__API_KEY", "given")];
        let key = |made: &VoiceSettings| {
            let eleven = &made.tts.providers[&TtsId::ElevenLabs];
            (
                eleven.api_key.is_some(),
                made.tts.moved.contains(&TtsId::ElevenLabs),
            )
        };
        assert_eq!(key(&settings(&given, &[])), (true, false));
        let moved = [(
            "voice.tts.tts_cloud_1.base_url",
            json!("https://elsewhere.example"),
        )];
        assert_eq!(key(&settings(&given, &moved)), (false, true));
        let fixed = [
            given[0],
            (
                "SERVICE_VOICE__TTS__ELEVENLABS__BASE_URL",
                "https://a.example",
            ),
        ];
        assert_eq!(key(&settings(&fixed, &[])), (true, false));
        let same = [(
            "voice.tts.tts_cloud_1.base_url",
            json!("https://api.elevenlabs.io/v2"),
        )];
        assert_eq!(key(&settings(&given, &same)), (true, false));
    }

    #[test]
    fn the_key_of_models_is_lent() {
        let all = [
            ("OPENAI_API_KEY", "environment"),
            ("SERVICE_MODELS__PROVIDERS__OPENAI__API_KEY", "given"),
        ];
        let lent = settings(&all, &[]).openai;
        assert_eq!(lent.api_key.unwrap().expose_secret(), "given");
        assert_eq!(lent.environment.unwrap().expose_secret(), "environment");
        // The vendor's own address is a default, not a setting.
        assert_eq!(lent.base_url, None);
        // Whether models are detected automatically does not matter here.
        let off = [all[0], ("SERVICE_MODELS__AUTODETECT", "false")];
        assert!(settings(&off, &[]).openai.environment.is_some());
        let moved = [(
            "models.providers.openai.base_url",
            json!("https://elsewhere.example/v1"),
        )];
        let lent = settings(&all, &moved).openai;
        assert!(lent.api_key.is_none() && lent.environment.is_none());
        assert_eq!(
            lent.base_url.unwrap().as_str(),
            "https://elsewhere.example/v1"
        );
    }
}
