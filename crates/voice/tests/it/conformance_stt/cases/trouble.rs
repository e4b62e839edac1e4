//! Cases about failing vendors: the documented error and its status, without any content of the request or the
//! response.

use crate::conformance_stt::bench::{Bench, is_program};
use crate::stt_cloud::speech;
use crate::vendor::fake_server::{Behavior, SECRET_BODY};
use crate::vendor::listener::KEY;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_voice::SttId;

fn is_discreet(problem: &Problem) {
    let received = format!("{problem:?}");
    for secret in [SECRET_BODY, KEY, "RIFF"] {
        assert!(!received.contains(secret), "{received}");
    }
}

async fn problem_for(bench: &Bench, behavior: Behavior) -> Problem {
    bench.set_behavior(behavior);
    let problem = bench.refused(speech()).await;
    is_discreet(&problem);
    assert_eq!(problem.details["provider"], bench.id.as_str());
    problem
}

async fn has_status(id: SttId, status: u16, retryable: bool) {
    let problem = problem_for(&Bench::new(id).await, Behavior::Status(status, None)).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["status"], status);
    assert_eq!(problem.details["retryable"], retryable);
    assert!(!problem.details.contains_key("retry_after_seconds"));
}

pub async fn status_400(id: SttId) {
    has_status(id, 400, false).await;
}

pub async fn status_401(id: SttId) {
    has_status(id, 401, false).await;
}

pub async fn status_402(id: SttId) {
    has_status(id, 402, false).await;
}

pub async fn status_403(id: SttId) {
    has_status(id, 403, false).await;
}

pub async fn status_404(id: SttId) {
    has_status(id, 404, false).await;
}

pub async fn status_413(id: SttId) {
    has_status(id, 413, false).await;
}

pub async fn status_415(id: SttId) {
    has_status(id, 415, false).await;
}

pub async fn status_422(id: SttId) {
    has_status(id, 422, false).await;
}

pub async fn status_500(id: SttId) {
    has_status(id, 500, true).await;
}

pub async fn status_503(id: SttId) {
    has_status(id, 503, true).await;
}

pub async fn status_429_with_seconds(id: SttId) {
    let bench = Bench::new(id).await;
    for (sent, seconds) in [("7", 7), ("0", 1)] {
        let problem = problem_for(&bench, Behavior::Status(429, Some(sent))).await;
        assert_eq!(problem.details["retryable"], true);
        assert_eq!(problem.details["retry_after_seconds"], seconds);
    }
}

pub async fn status_429_with_a_date(id: SttId) {
    let long_ahead = "Fri, 31 Dec 2100 23:59:59 GMT";
    let problem = problem_for(
        &Bench::new(id).await,
        Behavior::Status(429, Some(long_ahead)),
    )
    .await;
    assert_eq!(problem.details["retry_after_seconds"], 24 * 60 * 60);
}

pub async fn status_429_with_rubbish(id: SttId) {
    let problem = problem_for(&Bench::new(id).await, Behavior::Status(429, Some("soon"))).await;
    assert_eq!(problem.details["retryable"], true);
    assert!(!problem.details.contains_key("retry_after_seconds"));
}

pub async fn no_answer_is_a_timeout(id: SttId) {
    let bench = Bench::hasty(id).await;
    let problem = problem_for(&bench, Behavior::Slow).await;
    assert_eq!(problem.code, ErrorCode::Timeout);
    assert!(bench.was_left().await);
}

pub async fn standing_still_in_the_answer_is_a_timeout(id: SttId) {
    let bench = Bench::hasty(id).await;
    let problem = problem_for(&bench, Behavior::Stall(9)).await;
    assert_eq!(problem.code, ErrorCode::Timeout);
    assert!(bench.was_left().await);
}

pub async fn breaking_off_in_the_answer(id: SttId) {
    let problem = problem_for(&Bench::new(id).await, Behavior::BreakOff(9)).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    // A crashed program would crash again.
    assert_eq!(problem.details["retryable"], !is_program(id));
}

fn is_unreadable(problem: &Problem, id: SttId) {
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    let reason = if is_program(id) {
        "returned no text"
    } else {
        "returned an invalid response"
    };
    assert!(problem.message.contains(reason), "{problem:?}");
    assert_eq!(problem.details["retryable"], false);
}

async fn is_no_answer(id: SttId, behavior: Behavior) {
    let problem = problem_for(&Bench::new(id).await, behavior).await;
    is_unreadable(&problem, id);
}

pub async fn an_empty_answer(id: SttId) {
    is_no_answer(id, Behavior::Empty).await;
}

pub async fn a_web_page_is_no_answer(id: SttId) {
    is_no_answer(id, Behavior::NotAudio).await;
}

pub async fn other_json_is_no_answer(id: SttId) {
    is_no_answer(id, Behavior::OtherJson).await;
}

pub async fn half_an_answer_is_no_answer(id: SttId) {
    let bench = Bench::new(id).await;
    bench.answer_with(serde_json::json!([{"text": SECRET_BODY}]));
    let problem = problem_for(&bench, Behavior::Fine).await;
    is_unreadable(&problem, id);
}

pub async fn a_redirect_is_not_followed(id: SttId) {
    let bench = Bench::new(id).await;
    let problem = problem_for(&bench, Behavior::Redirect).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["status"], 307);
    assert_eq!(bench.calls(), 1);
}

pub async fn nobody_is_there(id: SttId) {
    // The port was free a moment ago, so nothing listens on it.
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}/v1", socket.local_addr().unwrap());
    drop(socket);
    let bench = Bench::with(id, |settings| {
        settings.base_url = Some(gone.parse().unwrap());
    })
    .await;
    let problem = bench.refused(speech()).await;
    is_discreet(&problem);
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["retryable"], true);
}
