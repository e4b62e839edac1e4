//! Cases about failing vendors: the code, the status, whether a retry may help, and the absence of response content.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::vendor::fake_server::Behavior;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_voice::SpeechRequest;
use serde_json::{Value, json};
use std::time::Duration;

/// Long enough to start a program on a busy machine.
const PROGRAM: Duration = Duration::from_millis(1500);

/// Makes one request while the vendor has this behavior and returns its error. Asserts that the vendor is called once.
async fn in_mood(bench: &Bench, behavior: Behavior) -> Problem {
    bench.set_behavior(behavior);
    let error = bench.say(SpeechRequest::new(TEXT)).await.unwrap_err();
    assert_eq!(bench.calls(), 1, "asked");
    let problem = bench.problem_of(error);
    assert_eq!(problem.details["provider"], bench.id.as_str());
    problem
}

async fn has_status(bench: &Bench, status: u16, is_retryable: bool) -> Problem {
    let problem = in_mood(bench, Behavior::Status(status, None)).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    let details = Value::Object(problem.details.clone());
    let expected = json!({
        "provider": bench.id.as_str(), "status": status, "retryable": is_retryable,
    });
    assert_eq!(details, expected);
    problem
}

pub async fn status_400(bench: Bench) {
    has_status(&bench, 400, false).await;
}

pub async fn status_401(bench: Bench) {
    let problem = has_status(&bench, 401, false).await;
    assert!(problem.message.contains("key"), "{}", problem.message);
}

pub async fn status_402(bench: Bench) {
    has_status(&bench, 402, false).await;
}

pub async fn status_403(bench: Bench) {
    has_status(&bench, 403, false).await;
}

pub async fn status_404(bench: Bench) {
    has_status(&bench, 404, false).await;
}

pub async fn status_422(bench: Bench) {
    has_status(&bench, 422, false).await;
}

pub async fn status_429_with_seconds(bench: Bench) {
    let problem = in_mood(&bench, Behavior::Status(429, Some("7"))).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["status"], 429);
    assert_eq!(problem.details["retryable"], true);
    assert_eq!(problem.details["retry_after_seconds"], 7);
}

pub async fn status_429_with_a_date(bench: Bench) {
    let long_ahead = "Fri, 31 Dec 2100 23:59:59 GMT";
    let problem = in_mood(&bench, Behavior::Status(429, Some(long_ahead))).await;
    assert_eq!(problem.details["retryable"], true);
    assert_eq!(problem.details["retry_after_seconds"], 24 * 60 * 60);
}

pub async fn status_500(bench: Bench) {
    has_status(&bench, 500, true).await;
}

pub async fn status_503(bench: Bench) {
    has_status(&bench, 503, true).await;
}

pub async fn no_answer_is_a_timeout(mut bench: Bench) {
    bench.settings.timeouts.answer = Duration::from_millis(200);
    bench.settings.timeouts.program = PROGRAM;
    let problem = in_mood(&bench, Behavior::Slow).await;
    assert_eq!(problem.code, ErrorCode::Timeout);
    assert!(bench.was_left().await);
}

async fn stands_still(mut bench: Bench, after: usize) {
    bench.settings.timeouts.idle = Duration::from_millis(200);
    bench.settings.timeouts.program = PROGRAM;
    let problem = in_mood(&bench, Behavior::Stall(after)).await;
    assert_eq!(problem.code, ErrorCode::Timeout);
    assert!(bench.was_left().await);
}

pub async fn standing_still_before_the_audio_is_a_timeout(bench: Bench) {
    stands_still(bench, 0).await;
}

pub async fn standing_still_in_the_audio_is_a_timeout(bench: Bench) {
    stands_still(bench, 3000).await;
}

async fn breaks_off(bench: Bench, after: usize) {
    let problem = in_mood(&bench, Behavior::BreakOff(after)).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    // A program that crashes would crash again.
    assert_eq!(problem.details["retryable"], !bench.is_program());
    assert_eq!(problem.details.get("status"), None);
}

pub async fn breaking_off_before_the_audio(bench: Bench) {
    breaks_off(bench, 0).await;
}

pub async fn breaking_off_in_the_audio(bench: Bench) {
    breaks_off(bench, 3000).await;
}

pub async fn an_empty_answer(bench: Bench) {
    let problem = in_mood(&bench, Behavior::Empty).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["retryable"], !bench.is_program());
    assert!(
        problem.message.contains("returned no audio"),
        "{}",
        problem.message
    );
}

async fn is_no_audio(bench: Bench, behavior: Behavior) {
    let problem = in_mood(&bench, behavior).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["retryable"], false);
    assert!(
        problem
            .message
            .contains("returned something other than audio"),
        "{}",
        problem.message
    );
}

pub async fn a_web_page_is_no_audio(bench: Bench) {
    is_no_audio(bench, Behavior::NotAudio).await;
}

pub async fn other_json_is_no_audio(bench: Bench) {
    is_no_audio(bench, Behavior::OtherJson).await;
}

pub async fn a_redirect_is_not_followed(bench: Bench) {
    let problem = in_mood(&bench, Behavior::Redirect).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["status"], 307);
    assert_eq!(problem.details["retryable"], false);
}

pub async fn nobody_is_there(mut bench: Bench) {
    bench.provider().base_url = Some(Bench::nowhere().await);
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["retryable"], true);
    assert!(
        problem.message.contains("could not be reached"),
        "{}",
        problem.message
    );
}
