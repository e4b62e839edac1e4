//! Tests of the parent module.

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
    // The vendor's own URL is a default, not a setting.
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
