//! Tests of the parent module.

use super::ended::decided;
use super::*;
use gatehouse_domain::Timestamp;
use gatehouse_services::AnsweredThrough;
use gatehouse_services::Decision;
use gatehouse_services::LinkEnd;

#[test]
fn an_old_link_says_how_its_call_ended() {
    let at = Timestamp::from_millis(0);
    let decision = |allowed, through| {
        LinkEnd::Answered(Decision {
            allowed,
            at,
            through,
        })
    };
    let time = |language| time(language, at);
    let (english, german) = (time(Language::English), time(Language::German));
    for (end, in_english, in_german) in [
        (
            decision(true, Some(AnsweredThrough::Link)),
            format!("This call was allowed through a link at {english}."),
            format!("Dieser Aufruf wurde über einen Link erlaubt: {german}."),
        ),
        (
            decision(false, None),
            format!("This call was denied at {english}."),
            format!("Dieser Aufruf wurde abgelehnt: {german}."),
        ),
        (
            decision(false, Some(AnsweredThrough::Api)),
            format!("This call was denied in the web UI or through the API at {english}."),
            format!(
                "Dieser Aufruf wurde in der Weboberfläche oder über die API abgelehnt: {german}."
            ),
        ),
    ] {
        let LinkEnd::Answered(decision) = end else {
            panic!("{end:?}");
        };
        assert_eq!(decided(Language::English, decision), in_english);
        assert_eq!(decided(Language::German, decision), in_german);
    }
    for (end, status) in [
        (Some(decision(true, None)), StatusCode::GONE),
        (Some(LinkEnd::Expired(at)), StatusCode::GONE),
        (Some(LinkEnd::Stopped), StatusCode::GONE),
        (None, StatusCode::NOT_FOUND),
    ] {
        assert_eq!(gone(Language::English, end).status(), status, "{end:?}");
    }
}
