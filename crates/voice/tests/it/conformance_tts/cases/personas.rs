//! Cases about the effect of a persona at a provider.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::conformance_tts::sent_request::SentRequest;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{Converted, SpeechRequest, TtsId, Voice, VoiceError};
use serde_json::{Value, json};

/// Returns a `Voice` with one persona, which is active.
async fn with_persona(bench: &Bench, members: Value) -> Voice {
    let voice = bench.voice().await;
    let mut persona = json!({ "id": "narrator", "label": "Narrator" });
    persona
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    let personas = voice.personas();
    personas
        .create(serde_json::from_value(persona).unwrap())
        .await
        .unwrap();
    personas.set_active(Some("narrator")).await.unwrap();
    voice
}

fn binding(bench: &Bench, members: &Value) -> Value {
    let mut binding = members.clone();
    binding["provider"] = bench.id.as_str().into();
    json!({ "providerBindings": [binding] })
}

/// Returns a persona with a binding for another provider.
fn elsewhere(bench: &Bench, policy: &str) -> Value {
    let other = match bench.id {
        TtsId::Piper => TtsId::Coqui,
        _ => TtsId::Piper,
    };
    json!({
        "prompt": { "style": "Like a pirate" },
        "providerBindings": [{ "provider": other.as_str(), "speed": 1.0 }],
        "fallbackPolicy": policy,
    })
}

async fn heard(bench: &Bench, voice: &Voice, request: SpeechRequest) -> (Converted, SentRequest) {
    let result: Result<Converted, VoiceError> = voice.convert(request).await;
    assert_eq!(bench.complaints(), Vec::<String>::new());
    (result.unwrap(), bench.all_sent().pop().unwrap())
}

pub async fn a_bindings_voice_arrives(bench: Bench) {
    let name = bench.facts().voices[0];
    let voice = with_persona(&bench, binding(&bench, &json!({ "voice_id": name }))).await;
    let (converted, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.voice.as_deref(), Some(name));
    assert_eq!(converted.persona.as_deref(), Some("narrator"));
}

pub async fn a_bindings_numbers_arrive(bench: Bench) {
    let speed = bench.facts().speed;
    let members = json!({ "speed": speed, "stability": 0.25, "similarity_boost": 0.75 });
    let voice = with_persona(&bench, binding(&bench, &members)).await;
    let (_, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.speed, Some(speed));
    let has_them = bench.id == TtsId::ElevenLabs;
    assert_eq!(sent.stability, has_them.then_some(0.25));
    assert_eq!(sent.similarity_boost, has_them.then_some(0.75));
}

pub async fn a_bindings_pitch_arrives(bench: Bench) {
    let members = json!({ "pitch": -4.5, "speaking_rate": 1.25 });
    let voice = with_persona(&bench, binding(&bench, &members)).await;
    let (_, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    assert_eq!((sent.pitch, sent.speed), (Some(-4.5), Some(1.25)));
}

pub async fn the_request_beats_the_binding(bench: Bench) {
    let [one, other] = bench.facts().voices;
    let voice = with_persona(&bench, binding(&bench, &json!({ "voice_id": one }))).await;
    let request = SpeechRequest {
        voice: Some(other.to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    let (_, sent) = heard(&bench, &voice, request).await;
    assert_eq!(sent.voice.as_deref(), Some(other));
}

pub async fn the_binding_beats_the_settings(mut bench: Bench) {
    let [one, other] = bench.facts().voices;
    bench.provider().voice = Some(other.to_owned());
    let voice = with_persona(&bench, binding(&bench, &json!({ "voice_id": one }))).await;
    let (_, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.voice.as_deref(), Some(one));
}

pub async fn a_prompt_arrives_as_instructions(bench: Bench) {
    let mut members = binding(&bench, &json!({ "speed": 1.0 }));
    members["prompt"] = json!({
        "profile": "An old sailor", "style": "Like a pirate", "accent": "Cornish",
        "pacing": "Slow", "scene": "On deck", "constraints": "Never sing",
    });
    let voice = with_persona(&bench, members).await;
    let (_, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    let instructions = sent.instructions.unwrap();
    for words in [
        "An old sailor",
        "Like a pirate",
        "Cornish",
        "Slow",
        "On deck",
        "Never sing",
    ] {
        assert!(instructions.contains(words), "{instructions}");
    }
}

pub async fn without_a_binding_the_prompt_is_kept(bench: Bench) {
    let voice = with_persona(&bench, elsewhere(&bench, "preserve-persona")).await;
    let (_, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    assert!(sent.instructions.unwrap().contains("Like a pirate"));
}

pub async fn provider_defaults_leave_the_prompt_out(bench: Bench) {
    let voice = with_persona(&bench, elsewhere(&bench, "provider-defaults")).await;
    let (_, sent) = heard(&bench, &voice, SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.instructions, None);
    assert_eq!(sent.voice.as_deref(), bench.facts().usual_voice);
}

pub async fn fail_calls_nobody(bench: Bench) {
    let voice = with_persona(&bench, elsewhere(&bench, "fail")).await;
    let problem = bench.problem_of(voice.convert(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(problem.details["what"], "persona_binding");
    assert!(bench.is_untouched());
}

pub async fn none_is_nobody(bench: Bench) {
    let name = bench.facts().voices[0];
    let mut members = binding(&bench, &json!({ "voice_id": name, "speed": 1.1 }));
    members["prompt"] = json!({ "style": "Like a pirate" });
    let voice = with_persona(&bench, members).await;
    let request = SpeechRequest {
        persona: Some("none".to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    let (converted, sent) = heard(&bench, &voice, request).await;
    assert_eq!((converted.persona, sent.instructions), (None, None));
    assert_eq!(
        (sent.voice.as_deref(), sent.speed),
        (bench.facts().usual_voice, None)
    );
}
