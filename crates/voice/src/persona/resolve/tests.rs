//! Tests every combination of provider, policy, and source of each field.

use super::*;
use crate::ProviderId;
use crate::persona::PersonaPrompt;
use gatehouse_domain::Timestamp;

fn binding(provider: TtsId) -> PersonaBinding {
    PersonaBinding {
        provider,
        voice_id: None,
        model: None,
        speed: None,
        stability: None,
        similarity_boost: None,
        speaking_rate: None,
        pitch: None,
    }
}

fn full_binding(provider: TtsId) -> PersonaBinding {
    PersonaBinding {
        voice_id: Some("bound voice".to_owned()),
        model: Some("bound model".to_owned()),
        speed: Some(1.1),
        stability: Some(0.2),
        similarity_boost: Some(0.3),
        pitch: Some(-4.0),
        ..binding(provider)
    }
}

fn persona(fallback: FallbackPolicy, bindings: Vec<PersonaBinding>) -> Persona {
    Persona {
        id: "narrator".to_owned(),
        label: "Narrator".to_owned(),
        description: String::new(),
        provider: None,
        prompt: PersonaPrompt {
            style: "dry".to_owned(),
            ..PersonaPrompt::default()
        },
        bindings,
        fallback,
        allow_markup: false,
        active: false,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    }
}

fn full_request() -> RequestVoice {
    RequestVoice {
        voice: Some("asked voice".to_owned()),
        model: Some("asked model".to_owned()),
        speed: Some(1.2),
        stability: Some(0.4),
        similarity_boost: Some(0.5),
    }
}

fn full_settings() -> ProviderSettings {
    ProviderSettings {
        voice: Some("set voice".to_owned()),
        model: Some("set model".to_owned()),
        speed: Some(0.9),
        stability: Some(0.6),
        similarity_boost: Some(0.7),
        ..ProviderSettings::default()
    }
}

fn choose(
    persona: Option<&Persona>,
    provider: TtsId,
    request: &RequestVoice,
    settings: &ProviderSettings,
) -> Chosen {
    apply(persona, provider, request, settings).unwrap()
}

/// The fields that each provider supports, in the order voice, model, speed, stability, pitch, prompt. Hard-coded,
/// because the providers must not be tested against themselves.
const TAKES: [(TtsId, [bool; 6]); 5] = [
    (TtsId::ElevenLabs, [true, true, true, true, false, false]),
    (TtsId::OpenAi, [true, true, true, false, false, true]),
    (TtsId::Google, [true, false, true, false, true, false]),
    (TtsId::Piper, [false, false, true, false, false, false]),
    (TtsId::Coqui, [true, true, false, false, false, false]),
];

const POLICIES: [FallbackPolicy; 3] = [
    FallbackPolicy::PreservePersona,
    FallbackPolicy::ProviderDefaults,
    FallbackPolicy::Fail,
];

#[test]
fn request_beats_binding_beats_settings_where_the_provider_can() {
    for (provider, [voice, model, speed, stability, pitch, prompt]) in TAKES {
        for policy in POLICIES {
            for said in 0..8_u8 {
                let [asks, binds, sets] = [1, 2, 4].map(|bit| said & bit != 0);
                let request = if asks {
                    full_request()
                } else {
                    RequestVoice::default()
                };
                let settings = if sets {
                    full_settings()
                } else {
                    ProviderSettings::default()
                };
                let bound = if binds {
                    full_binding(provider)
                } else {
                    binding(provider)
                };
                let persona = persona(policy, vec![bound]);
                let chosen = choose(Some(&persona), provider, &request, &settings);
                let words = |is_taken: bool, what: &str| {
                    let who = [(asks, "asked"), (binds, "bound"), (sets, "set")];
                    let who = who.into_iter().find(|(says, _)| *says).map(|(_, who)| who);
                    who.filter(|_| is_taken).map(|who| format!("{who} {what}"))
                };
                let number = |is_taken: bool, [asked, bound, set]: [f64; 3]| {
                    let who = [(asks, asked), (binds, bound), (sets, set)];
                    let who = who.into_iter().find(|(says, _)| *says).map(|(_, who)| who);
                    who.filter(|_| is_taken)
                };
                let mut ignored = vec![
                    (voice, "voiceId"),
                    (model, "model"),
                    (speed, "speed"),
                    (stability, "stability"),
                    (stability, "similarityBoost"),
                ];
                ignored.retain(|(is_taken, _)| asks && !is_taken);
                let expected = Chosen {
                    voice: words(voice, "voice"),
                    model: words(model, "model"),
                    speed: number(speed, [1.2, 1.1, 0.9]),
                    stability: number(stability, [0.4, 0.2, 0.6]),
                    similarity_boost: number(stability, [0.5, 0.3, 0.7]),
                    pitch: Some(-4.0).filter(|_| binds && pitch),
                    instructions: Some("Style: dry".to_owned()).filter(|_| prompt),
                    ignored: ignored.into_iter().map(|(_, name)| name).collect(),
                };
                assert_eq!(chosen, expected, "{provider} {policy:?} {said:03b}");
            }
        }
    }
}

#[test]
fn each_field_is_chosen_separately() {
    let request = RequestVoice {
        model: Some("asked model".to_owned()),
        ..RequestVoice::default()
    };
    let bound = PersonaBinding {
        voice_id: Some("bound voice".to_owned()),
        ..binding(TtsId::ElevenLabs)
    };
    let persona = persona(FallbackPolicy::Fail, vec![binding(TtsId::Piper), bound]);
    let chosen = choose(
        Some(&persona),
        TtsId::ElevenLabs,
        &request,
        &full_settings(),
    );
    assert_eq!(chosen.model.as_deref(), Some("asked model"));
    assert_eq!(chosen.voice.as_deref(), Some("bound voice"));
    assert_eq!((chosen.speed, chosen.stability), (Some(0.9), Some(0.6)));
}

#[test]
fn without_a_binding_the_policy_decides() {
    for (provider, [.., prompt]) in TAKES {
        let others = TtsId::ALL.iter().filter(|id| **id != provider);
        let others: Vec<_> = others.map(|id| full_binding(*id)).collect();
        let plain = choose(None, provider, &full_request(), &full_settings());
        assert_eq!(plain.instructions, None);
        for policy in POLICIES {
            let persona = persona(policy, others.clone());
            let outcome = apply(Some(&persona), provider, &full_request(), &full_settings());
            match policy {
                FallbackPolicy::PreservePersona => {
                    let kept = Chosen {
                        instructions: Some("Style: dry".to_owned()).filter(|_| prompt),
                        ..plain.clone()
                    };
                    assert_eq!(outcome.unwrap(), kept, "{provider}");
                }
                FallbackPolicy::ProviderDefaults => {
                    assert_eq!(outcome.unwrap(), plain, "{provider}");
                }
                FallbackPolicy::Fail => assert!(
                    matches!(&outcome, Err(VoiceError::NotConfigured { what, .. }) if what == "persona_binding"),
                    "{outcome:?}"
                ),
            }
        }
    }
}

#[test]
fn a_speed_is_moved_into_the_range_of_its_provider() {
    for (provider, speed, expected) in [
        (TtsId::ElevenLabs, 4.0, 1.2),
        (TtsId::ElevenLabs, 1.2, 1.2),
        (TtsId::ElevenLabs, 0.25, 0.7),
        (TtsId::Google, 2.01, 2.0),
        (TtsId::Google, 0.25, 0.25),
        (TtsId::OpenAi, 4.0, 4.0),
        (TtsId::Piper, 0.25, 0.25),
    ] {
        let asked = RequestVoice {
            speed: Some(speed),
            ..RequestVoice::default()
        };
        let none = ProviderSettings::default();
        assert_eq!(choose(None, provider, &asked, &none).speed, Some(expected));
        let set = ProviderSettings {
            speed: Some(speed),
            ..ProviderSettings::default()
        };
        let chosen = choose(None, provider, &RequestVoice::default(), &set);
        assert_eq!(chosen.speed, Some(expected), "{provider} {speed}");
    }
}

#[test]
fn a_speaking_rate_is_a_speed() {
    for provider in [TtsId::Google, TtsId::OpenAi] {
        let bound = PersonaBinding {
            speaking_rate: Some(1.5),
            ..binding(provider)
        };
        let persona = persona(FallbackPolicy::Fail, vec![bound]);
        let chosen = choose(
            Some(&persona),
            provider,
            &RequestVoice::default(),
            &full_settings(),
        );
        assert_eq!(chosen.speed, Some(1.5));
    }
}
