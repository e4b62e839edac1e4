//! Tests of the parent module.

use super::*;
use gatehouse_agents::{Stop, Usage};
use gatehouse_domain::{Problem, SessionId, TurnId};

fn ended_with(problem: Problem) -> Outcome {
    let report = TurnReport {
        session: SessionId::from_text("ses_1"),
        session_key: String::new(),
        turn_id: TurnId::from_text("turn_1"),
        text: String::new(),
        stop: Stop::Error,
        has_answer: false,
        audio: None,
        audio_error: None,
        usage: Usage::default(),
        duration_ms: 0,
        actions: Vec::new(),
        error: Some(problem),
        cancelled: false,
    };
    let running = CancellationToken::new();
    let stops = Stops {
        run: &running,
        house: &running,
    };
    after_turn(report, stops, false, None)
}

#[test]
fn a_turn_that_the_database_interrupted_is_retried_and_one_that_the_model_refused_is_not() {
    let database = Problem::new(
        ErrorCode::StorageUnavailable,
        "The database is unavailable.",
    );
    assert!(matches!(ended_with(database), Outcome::Retry(..)));
    let model = Problem::new(ErrorCode::Internal, "The model refused.");
    assert!(matches!(ended_with(model), Outcome::Failed(..)));
}

#[test]
fn a_rate_limit_without_a_stated_delay_is_waited_for_and_exhausted_credit_is_not() {
    let refused = |reason: &str| {
        Problem::new(ErrorCode::ProviderFailed, "The model provider p refused.")
            .with("reason", reason)
    };
    let limited = refused("rate_limited");
    for (problem, expected) in [
        (limited.clone(), UNSTATED_WAIT),
        (
            limited.with("retry_after_seconds", 7),
            Duration::from_secs(7),
        ),
        (refused("overloaded"), UNSTATED_WAIT),
    ] {
        let outcome = ended_with(problem);
        assert!(
            matches!(outcome, Outcome::Wait(_, _, wait) if wait == expected),
            "{outcome:?}"
        );
    }
    let no_credit = refused("no_credit").with("retry_after_seconds", 7);
    assert!(matches!(ended_with(no_credit), Outcome::Failed(..)));
}
