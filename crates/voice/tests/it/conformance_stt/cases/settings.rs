//! Cases about settings and request fields, which reach the vendor or are rejected before any call.

use crate::conformance_stt::bench::Bench;
use crate::stt_cloud::speech;
use crate::vendor::openai_stt::SERVED;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest};

/// Returns the default model, if there is one, and another model.
fn models(id: SttId) -> (&'static str, &'static str) {
    match id {
        SttId::OpenAi => ("whisper-1", "gpt-4o-mini-transcribe"),
        SttId::Groq => ("whisper-large-v3-turbo", "whisper-large-v3"),
        SttId::Deepgram => ("nova-3", "nova-2"),
        SttId::Google => ("", "latest_long"),
        SttId::Mistral => ("voxtral-mini-latest", "voxtral-mini-2507"),
        _ => (SERVED, "another"),
    }
}

pub async fn the_usual_model_arrives(id: SttId) {
    let bench = Bench::new(id).await;
    bench.heard(speech()).await;
    assert_eq!(bench.sent("model").await, [models(id).0]);
}

pub async fn the_settings_model_arrives(id: SttId) {
    let model = models(id).1;
    let bench = Bench::with(id, |settings| settings.model = Some(model.to_owned())).await;
    bench.heard(speech()).await;
    assert_eq!(bench.sent("model").await, [model]);
}

pub async fn the_requests_model_beats_the_settings(id: SttId) {
    let model = models(id).1;
    let bench = Bench::with(id, |settings| settings.model = Some("whisper-9".to_owned())).await;
    let request = TranscribeRequest {
        model: Some(model.to_owned()),
        ..speech()
    };
    bench.heard(request).await;
    assert_eq!(bench.sent("model").await, [model]);
}

pub async fn an_unknown_model_is_the_vendors_refusal(id: SttId) {
    let bench = Bench::with(id, |settings| settings.model = Some("whisper-9".to_owned())).await;
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    let is_404 = matches!(id, SttId::OpenAi | SttId::Groq | SttId::Voxtral);
    assert_eq!(problem.details["status"], if is_404 { 404 } else { 400 });
    assert_eq!(problem.details["retryable"], false);
}

async fn sent_language(bench: &Bench) -> Vec<String> {
    match bench.id {
        SttId::Google => bench.sent("languageCode").await,
        SttId::WhisperCli => bench.sent("-l").await,
        SttId::SherpaOnnx => bench.sent("--whisper-language").await,
        _ => bench.sent("language").await,
    }
}

pub async fn the_settings_language_arrives(id: SttId) {
    let bench = Bench::with(id, |settings| settings.language = Some("de".to_owned())).await;
    bench.heard(speech()).await;
    let expected = if id == SttId::Google { "de-DE" } else { "de" };
    assert_eq!(sent_language(&bench).await, [expected]);
}

pub async fn the_requests_language_beats_the_settings(id: SttId) {
    let bench = Bench::with(id, |settings| settings.language = Some("de".to_owned())).await;
    let request = TranscribeRequest {
        language: Some("fr".to_owned()),
        ..speech()
    };
    bench.heard(request).await;
    let expected = if id == SttId::Google { "fr-FR" } else { "fr" };
    assert_eq!(sent_language(&bench).await, [expected]);
}

async fn calls_nobody(id: SttId, request: TranscribeRequest, field: &str) {
    let bench = Bench::new(id).await;
    let problem = bench.refused(request).await;
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], field);
    assert!(bench.calls() == 0);
}

pub async fn what_is_no_language_calls_nobody(id: SttId) {
    let request = TranscribeRequest {
        language: Some("klingon".to_owned()),
        ..speech()
    };
    calls_nobody(id, request, "language").await;
}

pub async fn a_hint_arrives(id: SttId) {
    let bench = Bench::new(id).await;
    let request = TranscribeRequest {
        prompt: Some("Gatehouse, Müller".to_owned()),
        ..speech()
    };
    bench.heard(request).await;
    let (field, expected): (_, &[&str]) = match id {
        SttId::Deepgram => ("keyterm", &["Gatehouse", "Müller"]),
        SttId::Mistral => ("context_bias", &["Gatehouse", "Müller"]),
        SttId::Google => (
            "speechContexts",
            &[r#"[{"phrases":["Gatehouse","Müller"]}]"#],
        ),
        SttId::WhisperCli => ("--prompt", &["Gatehouse, Müller"]),
        _ => ("prompt", &["Gatehouse, Müller"]),
    };
    assert_eq!(bench.sent(field).await, expected);
}

pub async fn the_longest_hint_is_no_reason_to_refuse(id: SttId) {
    let bench = Bench::new(id).await;
    for hint in ["x".repeat(4000), "word ".repeat(800), "ü1,ü2;ä".repeat(570)] {
        let request = TranscribeRequest {
            prompt: Some(hint),
            ..speech()
        };
        bench.heard(request).await;
    }
}

pub async fn a_longer_hint_calls_nobody(id: SttId) {
    let request = TranscribeRequest {
        prompt: Some("x".repeat(4001)),
        ..speech()
    };
    calls_nobody(id, request, "prompt").await;
}

pub async fn an_unknown_format_calls_nobody(id: SttId) {
    let request = TranscribeRequest {
        format: Some("doc".to_owned()),
        ..speech()
    };
    calls_nobody(id, request, "format").await;
}
