//! What a caller is told when a vendor is in a bad mood: the contract's error, its status, and nothing of
//! what it said or of what it was sent.

use super::{ALL, Desk, speech};
use crate::vendor::listener::KEY;
use crate::vendor::mood::{Mood, SECRET_BODY};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_voice::SttId;

fn is_discreet(problem: &Problem) {
    let told = format!("{problem:?}");
    for secret in [SECRET_BODY, KEY, "RIFF"] {
        assert!(!told.contains(secret), "{told}");
    }
}

async fn told(id: SttId, mood: Mood) -> (Desk, Problem) {
    let desk = Desk::new(id).await;
    desk.listener.server.set_mood(mood);
    let problem = desk.refused(speech()).await;
    is_discreet(&problem);
    assert_eq!(problem.details["provider"], id.as_str());
    (desk, problem)
}

#[tokio::test]
async fn a_status_is_told_and_says_whether_it_is_worth_another_try() {
    for id in ALL {
        for (status, retryable) in [
            (400, false),
            (401, false),
            (402, false),
            (403, false),
            (404, false),
            (413, false),
            (415, false),
            (422, false),
            (429, true),
            (500, true),
            (502, true),
            (503, true),
            (529, true),
        ] {
            let (_, problem) = told(id, Mood::Status(status, None)).await;
            assert_eq!(problem.code, ErrorCode::ProviderFailed, "{id} {status}");
            assert_eq!(problem.details["status"], status);
            assert_eq!(problem.details["retryable"], retryable, "{id} {status}");
            assert!(!problem.details.contains_key("retry_after_seconds"));
        }
    }
}

#[tokio::test]
async fn a_vendors_wait_is_passed_on() {
    for id in ALL {
        let (_, problem) = told(id, Mood::Status(429, Some("7"))).await;
        assert_eq!(problem.details["retry_after_seconds"], 7, "{id}");
        let (_, problem) = told(id, Mood::Status(503, Some("0"))).await;
        assert_eq!(problem.details["retry_after_seconds"], 1, "{id}");
        let (_, problem) = told(id, Mood::Status(503, Some("soon"))).await;
        assert!(!problem.details.contains_key("retry_after_seconds"), "{id}");
    }
}

#[tokio::test]
async fn who_does_not_answer_takes_too_long() {
    for id in ALL {
        let (_, problem) = told(id, Mood::Slow).await;
        assert_eq!(problem.code, ErrorCode::Timeout, "{id}");
    }
}

#[tokio::test]
async fn who_stops_in_the_middle_takes_too_long() {
    for id in ALL {
        let (_, problem) = told(id, Mood::Stall(9)).await;
        assert_eq!(problem.code, ErrorCode::Timeout, "{id}");
    }
}

#[tokio::test]
async fn who_breaks_off_may_be_asked_again() {
    for id in ALL {
        let (_, problem) = told(id, Mood::BreakOff(9)).await;
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{id}");
        assert_eq!(problem.details["retryable"], true, "{id}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    for id in ALL {
        for mood in [Mood::Empty, Mood::NotAudio, Mood::OtherJson] {
            let (_, problem) = told(id, mood.clone()).await;
            assert_eq!(problem.code, ErrorCode::ProviderFailed, "{id} {mood:?}");
            assert!(
                problem.message.contains("answered what cannot be read"),
                "{problem:?}"
            );
            assert_eq!(problem.details["retryable"], false, "{id} {mood:?}");
        }
    }
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    for id in ALL {
        let (desk, problem) = told(id, Mood::Redirect).await;
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{id}");
        assert_eq!(problem.details["status"], 307);
        assert_eq!(desk.listener.server.requests().len(), 1, "{id}");
    }
}

#[tokio::test]
async fn nobody_there_may_be_tried_again() {
    for id in ALL {
        let gone = "http://127.0.0.1:9/v1".parse().unwrap();
        let desk = Desk::with(id, |settings| settings.base_url = Some(gone)).await;
        let problem = desk.refused(speech()).await;
        is_discreet(&problem);
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{id}");
        assert_eq!(problem.details["retryable"], true, "{id}");
    }
}

#[tokio::test]
async fn a_call_ends_with_who_made_it() {
    for id in ALL {
        for mood in [Mood::Slow, Mood::Stall(9)] {
            let desk = Desk::patient(id).await;
            desk.listener.server.set_mood(mood.clone());
            let voice = desk.voice.clone();
            let call = async move { voice.transcribe(speech()).await };
            let call = tokio::task::JoinSet::from_iter([call]);
            desk.listener.server.asked(1).await;
            drop(call);
            assert!(desk.listener.server.was_left().await, "{id} {mood:?}");
        }
    }
}
