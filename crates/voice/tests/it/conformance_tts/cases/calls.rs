//! Cases about whole calls: cancellation, streaming, concurrency, fallbacks.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::vendor::fake_server::Behavior;
use crate::vendor::tone;
use futures_util::StreamExt;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SpeechRequest, TtsId};

fn native(bench: &Bench, text: &str) -> SpeechRequest {
    SpeechRequest {
        format: Some(bench.facts().native.to_owned()),
        ..SpeechRequest::new(text)
    }
}

pub async fn a_caller_who_leaves_ends_the_wait(bench: Bench) {
    bench.set_behavior(Behavior::Slow);
    let voice = bench.voice().await;
    tokio::select! {
        _ = voice.convert(SpeechRequest::new(TEXT)) => panic!("the vendor does not answer"),
        () = bench.asked(1) => {}
    }
    assert!(bench.was_left().await);
}

pub async fn a_caller_who_leaves_ends_the_stream(bench: Bench) {
    bench.set_behavior(Behavior::Stall(3000));
    let voice = bench.voice().await;
    let mut streamed = voice.stream(native(&bench, TEXT)).await.unwrap();
    streamed.body.next().await.unwrap().unwrap();
    drop(streamed);
    assert!(bench.was_left().await);
}

pub async fn the_first_bytes_come_before_the_last(bench: Bench) {
    bench.set_behavior(Behavior::Stall(3000));
    let voice = bench.voice().await;
    let mut streamed = voice.stream(native(&bench, TEXT)).await.unwrap();
    assert_eq!((streamed.provider, streamed.cached), (bench.id, false));
    let first = streamed.body.next().await.unwrap().unwrap();
    assert!(!first.is_empty());
}

pub async fn a_stream_is_what_the_whole_is(bench: Bench) {
    let voice = bench.voice().await;
    let whole = voice.convert(native(&bench, TEXT)).await.unwrap();
    let mut streamed = voice.stream(native(&bench, TEXT)).await.unwrap();
    let mut audio = Vec::new();
    while let Some(piece) = streamed.body.next().await {
        audio.extend_from_slice(&piece.unwrap());
    }
    assert_eq!(audio.len(), whole.audio.len());
    assert!(audio == whole.audio);
    assert_eq!(bench.calls(), 2);
}

pub async fn a_stream_that_breaks_says_so_at_its_end(bench: Bench) {
    bench.set_behavior(Behavior::BreakOff(3000));
    let voice = bench.voice().await;
    let mut streamed = voice.stream(native(&bench, TEXT)).await.unwrap();
    let mut bytes = 0;
    let error = loop {
        match streamed
            .body
            .next()
            .await
            .expect("a broken stream ends as if it were whole")
        {
            Ok(piece) => bytes += piece.len(),
            Err(error) => break error,
        }
    };
    assert!(bytes > 0 && bytes <= 3000);
    let problem = bench.problem_of(error);
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["retryable"], !bench.is_program());
    assert!(streamed.body.next().await.is_none());
}

pub async fn several_at_once_do_not_mix(bench: Bench) {
    let voice = bench.voice().await;
    let texts: Vec<String> = (1..=5)
        .map(|count| "Again and again. ".repeat(count))
        .collect();
    let calls = texts.iter().map(|text| {
        let request = SpeechRequest {
            format: Some("wav".to_owned()),
            ..SpeechRequest::new(text.trim())
        };
        voice.convert(request)
    });
    let all = futures_util::future::join_all(calls).await;
    for (text, converted) in texts.iter().zip(all) {
        let expected = tone::duration_ms(text.trim());
        let measured = usize::try_from(converted.unwrap().duration_ms).unwrap();
        assert!(
            measured.abs_diff(expected) <= 20,
            "{measured} ms instead of {expected}"
        );
    }
    assert_eq!(bench.calls(), 5);
}

/// Another provider, which works.
async fn other(bench: &Bench) -> Bench {
    let id = match bench.id {
        TtsId::OpenAi => TtsId::ElevenLabs,
        _ => TtsId::OpenAi,
    };
    Bench::new(id).await
}

pub async fn another_speaks_where_it_is_listed(mut bench: Bench) {
    let mut other = other(&bench).await;
    bench.settings.tts.provider = Some(bench.id);
    bench.settings.tts.fallback = vec![other.id];
    let settings = other.provider().clone();
    bench.settings.tts.providers.insert(other.id, settings);
    bench.set_behavior(Behavior::Status(503, None));
    let converted = bench.say(SpeechRequest::new(TEXT)).await.unwrap();
    assert_eq!(converted.provider, other.id);
    let attempts: Vec<_> = converted
        .attempts
        .iter()
        .map(|it| (it.provider, it.ok))
        .collect();
    assert_eq!(
        attempts,
        [(bench.id.as_str(), false), (other.id.as_str(), true)]
    );
    assert_eq!(converted.attempts[0].code, Some("PROVIDER_FAILED"));
}

pub async fn no_other_speaks_where_none_is_listed(mut bench: Bench) {
    let mut other = other(&bench).await;
    bench.settings.tts.provider = Some(bench.id);
    let settings = other.provider().clone();
    bench.settings.tts.providers.insert(other.id, settings);
    bench.set_behavior(Behavior::Status(503, None));
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.details["provider"], bench.id.as_str());
    assert!(other.is_untouched());
}

pub async fn what_was_said_is_kept(mut bench: Bench) {
    bench.settings.cache_max_bytes = 64 << 20;
    let voice = bench.voice().await;
    let first = voice.convert(SpeechRequest::new(TEXT)).await.unwrap();
    let again = voice.convert(SpeechRequest::new(TEXT)).await.unwrap();
    assert!(!first.cached && again.cached);
    assert!(first.audio == again.audio && first.duration_ms == again.duration_ms);
    assert_eq!(bench.calls(), 1);
    let mut otherwise = SpeechRequest::new(TEXT);
    if bench.is_program() {
        otherwise.speed = Some(bench.facts().speed);
    } else {
        otherwise.voice = Some(bench.facts().voices[0].to_owned());
    }
    assert!(!voice.convert(otherwise).await.unwrap().cached);
    assert_eq!(bench.calls(), 2);
}

pub async fn switched_off_calls_nobody(mut bench: Bench) {
    bench.settings.tts.enabled = false;
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(problem.details["what"], "voice.tts.enabled");
    assert!(bench.is_untouched());
}

pub async fn the_status_names_it(bench: Bench) {
    let status = bench.voice().await.tts_status().await;
    assert_eq!(
        (status.provider.as_str(), status.configured),
        (bench.id.as_str(), true)
    );
    assert!(bench.is_untouched());
}
