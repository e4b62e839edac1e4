//! Tests that settings and request fields reach the vendor under the vendor's names.

use super::{ALL, Bench, speech};
use crate::vendor::openai_stt::{self, SERVED};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest};

fn language_field(id: SttId) -> &'static str {
    match id {
        SttId::Google => "languageCode",
        _ => "language",
    }
}

#[tokio::test]
async fn a_language_of_the_settings_or_of_the_request() {
    for id in ALL {
        let field = language_field(id);
        let bench = Bench::with(id, |settings| settings.language = Some("de".to_owned())).await;
        bench.heard(speech()).await;
        let german = if id == SttId::Google { "de-DE" } else { "de" };
        assert_eq!(bench.sent(field).await, [german], "{id}");
        let request = TranscribeRequest {
            language: Some("fr".to_owned()),
            ..speech()
        };
        bench.heard(request).await;
        let french = if id == SttId::Google { "fr-FR" } else { "fr" };
        assert_eq!(bench.sent(field).await, [french], "{id}");
        let bench = Bench::new(id).await;
        bench.heard(speech()).await;
        let nobody_said: &[&str] = if id == SttId::Google { &["en-US"] } else { &[] };
        assert_eq!(bench.sent(field).await, nobody_said, "{id}");
    }
}

#[tokio::test]
async fn a_locale_loses_its_region_for_those_who_take_none() {
    for id in ALL {
        for said in ["en-US", "EN-us"] {
            let bench = Bench::with(id, |settings| settings.language = Some(said.to_owned())).await;
            bench.heard(speech()).await;
            let sent = bench.sent(language_field(id)).await;
            let takes_region = matches!(id, SttId::Google | SttId::Deepgram);
            assert_eq!(sent, [if takes_region { "en-US" } else { "en" }], "{id}");
        }
    }
}

#[tokio::test]
async fn deepgram_detects_a_language_only_when_nobody_says_one() {
    let bench = Bench::new(SttId::Deepgram).await;
    bench.heard(speech()).await;
    assert_eq!(bench.sent("detect_language").await, ["true"]);
    let bench = Bench::with(SttId::Deepgram, |s| s.language = Some("de".to_owned())).await;
    bench.heard(speech()).await;
    assert!(bench.sent("detect_language").await.is_empty());
}

#[tokio::test]
async fn deepgrams_smart_format_is_a_setting() {
    for (setting, expected) in [(None, "true"), (Some(true), "true"), (Some(false), "false")] {
        let bench = Bench::with(SttId::Deepgram, |settings| settings.smart_format = setting).await;
        bench.heard(speech()).await;
        assert_eq!(bench.sent("smart_format").await, [expected]);
        assert_eq!(bench.sent("punctuate").await, ["true"]);
    }
}

#[tokio::test]
async fn a_hint_goes_out_as_each_vendor_takes_it() {
    let hint = "Gatehouse, Anna Müller";
    for (id, model, field, expected) in [
        (SttId::OpenAi, None, "prompt", vec![hint]),
        (
            SttId::OpenAi,
            Some("gpt-4o-transcribe"),
            "prompt",
            vec![hint],
        ),
        (
            SttId::OpenAi,
            Some("gpt-4o-transcribe-diarize"),
            "prompt",
            vec![],
        ),
        (SttId::Groq, None, "prompt", vec![hint]),
        (
            SttId::Mistral,
            None,
            "context_bias",
            vec!["Gatehouse", "Anna_Müller"],
        ),
        (SttId::Voxtral, None, "prompt", vec![]),
        (
            SttId::Deepgram,
            None,
            "keyterm",
            vec!["Gatehouse", "Anna Müller"],
        ),
        (
            SttId::Deepgram,
            Some("nova-2"),
            "keywords",
            vec!["Gatehouse", "Anna", "Müller"],
        ),
        (SttId::Deepgram, Some("whisper-large"), "keywords", vec![]),
        (
            SttId::Google,
            None,
            "speechContexts",
            vec![r#"[{"phrases":["Gatehouse","Anna Müller"]}]"#],
        ),
    ] {
        let bench = Bench::new(id).await;
        let request = TranscribeRequest {
            prompt: Some(hint.to_owned()),
            model: model.map(str::to_owned),
            ..speech()
        };
        bench.heard(request).await;
        assert_eq!(bench.sent(field).await, expected, "{id} {model:?}");
    }
}

#[tokio::test]
async fn times_are_asked_for_where_the_model_has_them() {
    let verbose = ["verbose_json"];
    for (id, model, formats, times) in [
        (SttId::OpenAi, None, &verbose[..], &["word", "segment"][..]),
        (SttId::Groq, None, &verbose, &["word", "segment"]),
        (SttId::OpenAi, Some("gpt-4o-transcribe"), &["json"], &[]),
        (
            SttId::OpenAi,
            Some("gpt-4o-mini-transcribe-2025-12-15"),
            &["json"],
            &[],
        ),
        (
            SttId::OpenAi,
            Some("gpt-4o-transcribe-diarize"),
            &["diarized_json"],
            &[],
        ),
        (SttId::Voxtral, None, &["json"], &[]),
    ] {
        let bench = Bench::new(id).await;
        let request = TranscribeRequest {
            model: model.map(str::to_owned),
            ..speech()
        };
        bench.heard(request).await;
        assert_eq!(
            bench.sent("response_format").await,
            formats,
            "{id} {model:?}"
        );
        assert_eq!(
            bench.sent("timestamp_granularities[]").await,
            times,
            "{id} {model:?}"
        );
    }
}

#[tokio::test]
async fn who_needs_no_times_does_not_wait_for_those_of_words() {
    for id in [SttId::OpenAi, SttId::Groq] {
        let bench = Bench::new(id).await;
        let request = TranscribeRequest {
            timestamps: false,
            ..speech()
        };
        let heard = bench.heard(request).await;
        assert_eq!(bench.sent("timestamp_granularities[]").await, ["segment"]);
        assert_eq!((heard.words.len(), heard.segments.len()), (0, 1));
    }
}

#[tokio::test]
async fn with_mistral_a_language_excludes_times() {
    let bench = Bench::new(SttId::Mistral).await;
    let heard = bench.heard(speech()).await;
    assert_eq!(bench.sent("timestamp_granularities").await, ["segment"]);
    assert_eq!(heard.segments.len(), 1);
    let request = TranscribeRequest {
        language: Some("de".to_owned()),
        ..speech()
    };
    let heard = bench.heard(request).await;
    assert!(bench.sent("timestamp_granularities").await.is_empty());
    assert_eq!((heard.segments.len(), heard.language.as_str()), (0, "de"));
}

#[tokio::test]
async fn voxtral_is_asked_for_its_model_only_when_nobody_says_one() {
    let bench = Bench::new(SttId::Voxtral).await;
    bench.heard(speech()).await;
    let paths = |bench: &Bench| -> Vec<String> {
        let seen = bench.listener().server.requests();
        seen.iter()
            .map(|seen| format!("{} {}", seen.method, seen.path))
            .collect()
    };
    assert_eq!(
        paths(&bench),
        ["GET /v1/models", "POST /v1/audio/transcriptions"]
    );
    let bench = Bench::with(SttId::Voxtral, |settings| {
        settings.model = Some(SERVED.to_owned());
    })
    .await;
    bench.heard(speech()).await;
    assert_eq!(paths(&bench), ["POST /v1/audio/transcriptions"]);
}

#[tokio::test]
async fn a_server_without_a_model_is_the_servers_fault() {
    let bench = Bench::new(SttId::Voxtral).await;
    bench
        .listener()
        .answer_with(serde_json::json!({"object": "list", "data": []}));
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["retryable"], false);
}

#[tokio::test]
async fn the_file_has_a_name_and_a_type_and_all_its_bytes() {
    for id in [SttId::OpenAi, SttId::Groq, SttId::Mistral, SttId::Voxtral] {
        let bench = Bench::new(id).await;
        let request = speech();
        bench.heard(request.clone()).await;
        let seen = bench.listener().server.requests();
        let form = openai_stt::form(seen.last().unwrap()).await.unwrap();
        assert_eq!(form.file_name, "audio.wav");
        assert_eq!(form.media_type, "audio/wav");
        assert_eq!(form.audio, request.audio);
    }
}
