//! Cases about voice, model and numeric parameters, from the request and from each setting.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::conformance_tts::sent_request::SentRequest;
use crate::lacks::{Lack, speaker_lacks};
use crate::vendor::google_tts::GoogleTts;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SpeechRequest, TtsId};

fn with_voice(voice: &str) -> SpeechRequest {
    SpeechRequest {
        voice: Some(voice.to_owned()),
        ..SpeechRequest::new(TEXT)
    }
}

fn with_model(model: &str) -> SpeechRequest {
    SpeechRequest {
        model: Some(model.to_owned()),
        ..SpeechRequest::new(TEXT)
    }
}

fn with_speed(speed: f64) -> SpeechRequest {
    SpeechRequest {
        speed: Some(speed),
        ..SpeechRequest::new(TEXT)
    }
}

pub async fn without_settings_the_usual_voice_speaks(bench: Bench) {
    let (converted, sent) = bench.heard(SpeechRequest::new(TEXT)).await;
    let facts = bench.facts();
    let expected = SentRequest {
        text: TEXT.to_owned(),
        voice: facts.usual_voice.map(str::to_owned),
        model: facts.usual_model.map(str::to_owned),
        format: sent.format.clone(),
        language: (bench.id == TtsId::Google).then(|| "en-US".to_owned()),
        ..SentRequest::default()
    };
    assert_eq!(sent, expected);
    assert_eq!((converted.persona, converted.warning), (None, None));
}

pub async fn the_requests_voice_arrives(bench: Bench) {
    let voice = bench.facts().voices[0];
    let (_, sent) = bench.heard(with_voice(voice)).await;
    assert_eq!(sent.voice.as_deref(), Some(voice));
}

pub async fn the_settings_voice_arrives(mut bench: Bench) {
    let voice = bench.facts().voices[0];
    bench.provider().voice = Some(voice.to_owned());
    let (_, sent) = bench.heard(SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.voice.as_deref(), Some(voice));
}

pub async fn the_requests_voice_beats_the_settings(mut bench: Bench) {
    let [one, other] = bench.facts().voices;
    bench.provider().voice = Some(one.to_owned());
    let (_, sent) = bench.heard(with_voice(other)).await;
    assert_eq!(sent.voice.as_deref(), Some(other));
}

pub async fn an_unknown_voice_is_the_vendors_refusal(bench: Bench) {
    let problem = bench.problem_of(bench.say(with_voice("nobody-here")).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["provider"], bench.id.as_str());
    let status = match bench.id {
        TtsId::ElevenLabs => 404,
        TtsId::Coqui => 500,
        _ => 400,
    };
    assert_eq!(problem.details["status"], status);
}

/// The voice name is arbitrary text, even in a URL path.
pub async fn a_voice_cannot_change_the_address(bench: Bench) {
    for voice in [
        "../../models",
        "a/b",
        "x?output_format=pcm_8000",
        "x#y",
        "%2e%2e",
        ".",
        "..",
    ] {
        let error = bench.say(with_voice(voice)).await.unwrap_err();
        let code = bench.problem_of(error).code;
        if bench.id == TtsId::ElevenLabs {
            assert_eq!(code, ErrorCode::InvalidParams, "{voice}");
        } else {
            assert_eq!(code, ErrorCode::ProviderFailed, "{voice}");
        }
    }
    let all_voices: Vec<_> = bench
        .all_sent()
        .into_iter()
        .filter_map(|sent| sent.voice)
        .collect();
    let expected: &[&str] = match bench.id {
        TtsId::ElevenLabs => &[],
        _ => &[
            "../../models",
            "a/b",
            "x?output_format=pcm_8000",
            "x#y",
            "%2e%2e",
            ".",
            "..",
        ],
    };
    assert_eq!(all_voices, expected);
}

pub async fn the_requests_model_arrives(bench: Bench) {
    let model = bench.facts().model;
    let (_, sent) = bench.heard(with_model(model)).await;
    assert_eq!(sent.model.as_deref(), Some(model));
}

pub async fn the_settings_model_arrives(mut bench: Bench) {
    let model = bench.facts().model;
    bench.provider().model = Some(model.to_owned());
    let (_, sent) = bench.heard(SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.model.as_deref(), Some(model));
}

pub async fn the_requests_speed_arrives(bench: Bench) {
    let speed = bench.facts().speed;
    let (converted, sent) = bench.heard(with_speed(speed)).await;
    assert_eq!((sent.speed, converted.warning), (Some(speed), None));
}

pub async fn the_settings_speed_arrives(mut bench: Bench) {
    let speed = bench.facts().speed;
    bench.provider().speed = Some(speed);
    let (_, sent) = bench.heard(SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.speed, Some(speed));
}

pub async fn a_speed_beyond_the_vendors_is_clamped_and_reported(bench: Bench) {
    let [_, most] = bench.facts().speeds.unwrap();
    let (converted, sent) = bench.heard(with_speed(4.0)).await;
    assert_eq!(sent.speed, Some(most));
    assert!(
        converted
            .warning
            .is_some_and(|warning| warning.contains("speed"))
    );
}

pub async fn a_speed_beyond_all_is_refused(bench: Bench) {
    for speed in [0.249, 4.001, -1.0, f64::NAN, f64::INFINITY] {
        let problem = bench.problem_of(bench.say(with_speed(speed)).await.unwrap_err());
        assert_eq!(problem.code, ErrorCode::InvalidParams, "{speed}");
        assert_eq!(problem.details["field"], "speed");
    }
    assert!(bench.is_untouched());
}

pub async fn stability_and_similarity_arrive(bench: Bench) {
    let request = SpeechRequest {
        stability: Some(0.0),
        similarity_boost: Some(1.0),
        ..SpeechRequest::new(TEXT)
    };
    let (converted, sent) = bench.heard(request).await;
    assert_eq!(
        (sent.stability, sent.similarity_boost),
        (Some(0.0), Some(1.0))
    );
    assert_eq!((sent.speed, converted.warning), (None, None));
}

pub async fn the_settings_stability_and_similarity_arrive(mut bench: Bench) {
    bench.provider().stability = Some(0.3);
    bench.provider().similarity_boost = Some(0.8);
    let (_, sent) = bench.heard(SpeechRequest::new(TEXT)).await;
    assert_eq!(
        (sent.stability, sent.similarity_boost),
        (Some(0.3), Some(0.8))
    );
}

pub async fn a_stability_beyond_one_is_refused(bench: Bench) {
    for (field, stability, similarity_boost) in [
        ("stability", Some(1.001), None),
        ("stability", Some(-0.001), None),
        ("similarityBoost", None, Some(1.001)),
        ("similarityBoost", None, Some(f64::NAN)),
    ] {
        let request = SpeechRequest {
            stability,
            similarity_boost,
            ..SpeechRequest::new(TEXT)
        };
        let problem = bench.problem_of(bench.say(request).await.unwrap_err());
        assert_eq!(problem.code, ErrorCode::InvalidParams);
        assert_eq!(problem.details["field"], field);
    }
    assert!(bench.is_untouched());
}

pub async fn instructions_arrive(bench: Bench) {
    let request = SpeechRequest {
        instructions: Some("Whisper.".to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    let (converted, sent) = bench.heard(request).await;
    assert_eq!(
        (sent.instructions.as_deref(), converted.warning),
        (Some("Whisper."), None)
    );
}

pub async fn the_settings_language_arrives(mut bench: Bench) {
    bench.provider().language = Some("de-DE".to_owned());
    let voice = bench.voice().await;
    voice.convert(SpeechRequest::new(TEXT)).await.unwrap();
    // The voice of a request has its own language.
    voice.convert(with_voice(GoogleTts::VOICE)).await.unwrap();
    let languages: Vec<_> = bench
        .all_sent()
        .into_iter()
        .map(|sent| sent.language)
        .collect();
    assert_eq!(
        languages,
        [Some("de-DE".to_owned()), Some("en-US".to_owned())]
    );
}

pub async fn an_unsupported_option_is_reported_and_not_sent(bench: Bench) {
    let facts = bench.facts();
    let request = SpeechRequest {
        voice: Some(facts.voices[0].to_owned()),
        model: Some(facts.model.to_owned()),
        speed: Some(facts.speed),
        stability: Some(0.5),
        similarity_boost: Some(0.5),
        instructions: (bench.id != TtsId::OpenAi).then(|| "Whisper.".to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    let (converted, sent) = bench.heard(request).await;
    let warning = converted.warning.unwrap();
    let sent = [
        ("voiceId", sent.voice.is_some()),
        ("model", sent.model.is_some()),
        ("speed", sent.speed.is_some()),
        ("stability", sent.stability.is_some()),
        ("similarityBoost", sent.similarity_boost.is_some()),
        (
            "instructions",
            sent.instructions.is_some() || bench.id == TtsId::OpenAi,
        ),
    ];
    for (field, is_sent) in sent {
        let is_ignored = facts.ignores.contains(&field);
        assert_eq!(warning.contains(field), is_ignored, "{field}: {warning}");
        assert_eq!(is_sent, !is_ignored, "{field}");
    }
}

/// Checks that the provider matches the vendor's documentation, as spelled out in
/// [`crate::conformance_tts::facts`].
pub async fn the_table_is_the_vendors(bench: Bench) {
    let facts = bench.facts();
    let can = bench.id.provider();
    assert_eq!(can.max_characters.min(can.max_bytes), facts.most);
    let speeds = can
        .speed
        .as_ref()
        .map(|range| [*range.start(), *range.end()]);
    assert_eq!(speeds, facts.speeds);
    assert_eq!(!speaker_lacks(bench.id, Lack::Streaming), facts.streams);
    for (field, lack) in [
        ("voiceId", Lack::Voice),
        ("model", Lack::Model),
        ("speed", Lack::Speed),
        ("stability", Lack::Stability),
        ("similarityBoost", Lack::Stability),
        ("instructions", Lack::Instructions),
    ] {
        assert_eq!(
            speaker_lacks(bench.id, lack),
            facts.ignores.contains(&field),
            "{field}"
        );
    }
}
