//! Cases about calls that end early, run concurrently or fall back to another provider.

use crate::conformance_stt::bench::Bench;
use crate::stt_cloud::{self, speech};
use crate::vendor::fake_server::Behavior;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest};
use tokio::task::JoinSet;

async fn leaves(id: SttId, behavior: Behavior) {
    let bench = Bench::new(id).await;
    bench.set_behavior(behavior);
    let voice = bench.voice.clone();
    let call = JoinSet::from_iter([async move { voice.transcribe(speech()).await }]);
    bench.asked(1).await;
    drop(call);
    assert!(bench.was_left().await);
}

pub async fn a_caller_who_leaves_ends_the_wait(id: SttId) {
    leaves(id, Behavior::Slow).await;
}

pub async fn a_caller_who_leaves_ends_the_answer(id: SttId) {
    leaves(id, Behavior::Stall(9)).await;
}

pub async fn several_at_once_are_all_heard(id: SttId) {
    let bench = Bench::new(id).await;
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let voice = bench.voice.clone();
        calls.spawn(async move { voice.transcribe(speech()).await });
    }
    for heard in calls.join_all().await {
        assert!(
            heard
                .unwrap()
                .text
                .to_lowercase()
                .starts_with("hello real world")
        );
    }
    assert!(bench.calls() >= 8);
}

/// Returns a different provider.
const fn other(id: SttId) -> SttId {
    match id {
        SttId::Groq => SttId::Deepgram,
        _ => SttId::Groq,
    }
}

async fn with_another(id: SttId, is_listed: bool) -> (Bench, stt_cloud::Listener) {
    let other = other(id);
    let second = stt_cloud::listener(other).await;
    let bench = Bench::open(id, |settings| {
        let place = stt_cloud::place(other, &second);
        settings.stt.providers.insert(other, place);
        settings.stt.provider = Some(id);
        settings.stt.fallback.extend(is_listed.then_some(other));
    })
    .await;
    bench.set_behavior(Behavior::Status(503, None));
    (bench, second)
}

pub async fn another_listens_where_it_is_listed(id: SttId) {
    let (bench, second) = with_another(id, true).await;
    let heard = bench.hear(speech()).await.unwrap();
    assert_eq!(heard.provider, other(id));
    assert_eq!(bench.calls(), 1);
    assert_eq!(second.server.requests().len(), 1);
}

pub async fn no_other_listens_where_none_is_listed(id: SttId) {
    let (bench, second) = with_another(id, false).await;
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["provider"], id.as_str());
    assert!(second.server.requests().is_empty());
}

pub async fn switched_off_calls_nobody(id: SttId) {
    let bench = Bench::open(id, |settings| settings.stt.enabled = false).await;
    let request = TranscribeRequest {
        provider: Some(id.as_str().to_owned()),
        ..speech()
    };
    let problem = bench.refused(request).await;
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(problem.details["what"], "voice.stt.enabled");
    assert!(bench.calls() == 0);
}

pub async fn the_status_names_it(id: SttId) {
    let status = Bench::new(id).await.voice.stt_status().await;
    assert_eq!(status.provider, id.as_str());
    assert!(status.enabled && status.configured);
}
