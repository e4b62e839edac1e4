//! Tests of translations to English.

use super::{Bench, speech};
use crate::vendor::program::TRANSDUCER;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{ProviderId, SttId, TranscribeRequest};

fn translation() -> TranscribeRequest {
    TranscribeRequest {
        translate: true,
        ..speech()
    }
}

#[tokio::test]
async fn a_vendor_translates_with_the_model_that_can() {
    for (id, set, model) in [
        (SttId::OpenAi, None, "whisper-1"),
        (SttId::OpenAi, Some("gpt-4o-transcribe"), "whisper-1"),
        (SttId::Groq, None, "whisper-large-v3"),
        (
            SttId::Groq,
            Some("whisper-large-v3-turbo"),
            "whisper-large-v3",
        ),
        (SttId::Groq, Some("whisper-large-v3"), "whisper-large-v3"),
    ] {
        let bench = Bench::with(id, |settings| {
            settings.model = set.map(str::to_owned);
            settings.language = Some("de".to_owned());
        })
        .await;
        let request = TranscribeRequest {
            prompt: Some("Ada".to_owned()),
            language: Some("fr".to_owned()),
            ..translation()
        };
        let heard = bench.heard(request).await;
        assert_eq!(
            (heard.text.as_str(), heard.language.as_str()),
            ("Good morning.", "en"),
            "{id}"
        );
        assert_eq!(heard.segments.len(), 1, "{id}");
        assert_eq!(bench.sent("model").await, [model], "{id} {set:?}");
        assert_eq!(bench.sent("prompt").await, ["Ada"], "{id}");
        assert!(bench.sent("language").await.is_empty(), "{id}");
        let path = bench.listener().server.requests().pop().unwrap().path;
        assert!(path.ends_with("/v1/audio/translations"), "{path}");
        // The same provider still transcribes.
        bench.heard(speech()).await;
        let path = bench.listener().server.requests().pop().unwrap().path;
        assert!(path.ends_with("/v1/audio/transcriptions"), "{path}");
    }
}

#[tokio::test]
async fn a_model_that_does_not_translate_calls_nobody() {
    for (id, model) in [
        (SttId::OpenAi, "gpt-4o-transcribe"),
        (SttId::Groq, "whisper-large-v3-turbo"),
    ] {
        let bench = Bench::new(id).await;
        let request = TranscribeRequest {
            model: Some(model.to_owned()),
            ..translation()
        };
        let problem = bench.refused(request).await;
        assert_eq!(problem.code, ErrorCode::InvalidParams, "{id}");
        assert_eq!(problem.details["field"], "model", "{id}");
        assert_eq!(bench.calls(), 0, "{id}");
    }
}

#[tokio::test]
async fn a_provider_that_does_not_translate_names_those_that_do() {
    for id in SttId::ALL {
        if id.provider().translates() {
            continue;
        }
        let bench = Bench::new(*id).await;
        let problem = bench.refused(translation()).await;
        assert_eq!(problem.code, ErrorCode::InvalidParams, "{id}");
        assert_eq!(problem.details["field"], "provider", "{id}");
        for other in ["stt_cloud_1", "stt_cloud_2", "stt_local_2", "stt_local_3"] {
            assert!(problem.message.contains(other), "{}", problem.message);
        }
        assert_eq!(bench.calls(), 0, "{id}");
    }
}

#[tokio::test]
async fn only_providers_that_translate_are_fallbacks() {
    let bench = Bench::open(SttId::OpenAi, |settings| {
        settings.stt.fallback = vec![SttId::Deepgram, SttId::Groq];
    })
    .await;
    bench.set_behavior(crate::vendor::fake_server::Behavior::Status(500, None));
    let problem = bench.refused(translation()).await;
    let tried = problem.details["attempts"].as_array().unwrap().clone();
    let tried: Vec<&str> = tried
        .iter()
        .map(|attempt| attempt["provider"].as_str().unwrap())
        .collect();
    assert_eq!(tried, ["stt_cloud_1", "stt_cloud_2"]);
}

#[tokio::test]
async fn programs_translate_with_an_option() {
    for (id, option) in [
        (SttId::WhisperCli, "-tr"),
        (SttId::SherpaOnnx, "--whisper-task=translate"),
    ] {
        let bench = Bench::new(id).await;
        let request = TranscribeRequest {
            language: Some("de".to_owned()),
            ..translation()
        };
        let heard = bench.heard(request).await;
        assert_eq!(heard.language, "en", "{id}");
        let has_option = |bench: &Bench| {
            let run = bench.program().runs().pop().unwrap();
            run.arguments.iter().any(|argument| argument == option)
        };
        assert!(has_option(&bench), "{id}");
        bench.heard(speech()).await;
        assert!(!has_option(&bench), "{id}");
    }
}

#[tokio::test]
async fn a_transducer_does_not_translate() {
    let bench = Bench::with(SttId::SherpaOnnx, |settings| {
        let model = settings.model_path.as_mut().unwrap();
        model.set_file_name(TRANSDUCER);
    })
    .await;
    let problem = bench.refused(translation()).await;
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "model");
    assert_eq!(bench.calls(), 0);
}
