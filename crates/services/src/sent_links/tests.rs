//! Tests of the parent module.

use super::*;
use gatehouse_agents::{AskReason, Effect, Shown};
use gatehouse_domain::id::SessionId;
use serde_json::json;

const EXPIRES_AT: Timestamp = Timestamp::from_millis(1_000);

fn asked(id: &str) -> Approval {
    Approval {
        id: ApprovalId::from_text(id),
        agent: "default".to_owned(),
        tool: "calc".to_owned(),
        arguments: json!({}),
        shown: Shown::of("calc", &json!({})),
        reason: AskReason::Required,
        effect: Effect::None,
        session: SessionId::from_text("ses_1"),
        conversation: None,
        expires_at: EXPIRES_AT,
    }
}

fn answer(allowed: bool, at: i64, through: Option<AnsweredThrough>) -> Decision {
    Decision {
        allowed,
        at: Timestamp::from_millis(at),
        through,
    }
}

fn end_of(links: &SentLinks, token: &str, now: Timestamp) -> Option<LinkEnd> {
    links.end_of(&LinkName::of_token(token), now)
}

#[test]
fn a_link_without_an_answer_expires_at_its_time() {
    let links = SentLinks::default();
    links.note_sent(&asked("apr_1"), "one");
    let at = |ms: i64| end_of(&links, "one", Timestamp::from_millis(ms));
    assert_eq!(at(999), Some(LinkEnd::Stopped));
    assert_eq!(at(1_000), Some(LinkEnd::Expired(EXPIRES_AT)));
    assert_eq!(at(1_001), Some(LinkEnd::Expired(EXPIRES_AT)));
    assert_eq!(end_of(&links, "two", EXPIRES_AT), None);
}

#[test]
fn a_call_that_was_stopped_does_not_expire_later() {
    for (early, end) in [
        (TOLERANCE, LinkEnd::Expired(EXPIRES_AT)),
        (TOLERANCE + Duration::from_millis(1), LinkEnd::Stopped),
    ] {
        let links = SentLinks::default();
        let asked = asked("apr_1");
        links.note_sent(&asked, "one");
        let early = i64::try_from(early.as_millis()).unwrap();
        let at = Timestamp::from_millis(EXPIRES_AT.as_millis() - early);
        links.note_unanswered(&asked.id, at);
        assert_eq!(end_of(&links, "one", EXPIRES_AT), Some(end));
    }
}

#[test]
fn the_first_answer_counts_and_a_later_report_adds_how_it_was_given() {
    let links = SentLinks::default();
    links.note_sent(&asked("apr_1"), "one");
    links.note_sent(&asked("apr_2"), "two");
    let id = ApprovalId::from_text("apr_1");
    links.note_decision(&id, answer(true, 5, None));
    links.note_decision(&id, answer(false, 6, Some(AnsweredThrough::Chat)));
    links.note_decision(&id, answer(false, 7, Some(AnsweredThrough::Api)));
    let expected = answer(true, 5, Some(AnsweredThrough::Chat));
    let end = end_of(&links, "one", EXPIRES_AT);
    assert_eq!(end, Some(LinkEnd::Answered(expected)));
    let call = LinkName::Call(id.clone());
    assert_eq!(links.end_of(&call, EXPIRES_AT), end);
    assert_eq!(links.through_of(&id), Some(AnsweredThrough::Chat));
    let unanswered = ApprovalId::from_text("apr_2");
    assert_eq!(links.through_of(&unanswered), None);
    let other = end_of(&links, "two", EXPIRES_AT);
    assert_eq!(other, Some(LinkEnd::Expired(EXPIRES_AT)));
}

#[test]
fn a_stored_link_ends_like_one_in_memory() {
    let row = |allowed, ended_at: Option<i64>, through: Option<&str>| ApprovalLinkRow {
        token_key: "key".to_owned(),
        approval_id: ApprovalId::from_text("apr_1"),
        expires_at: EXPIRES_AT,
        allowed,
        ended_at: ended_at.map(Timestamp::from_millis),
        answered_through: through.map(str::to_owned),
    };
    let answered = |allowed, through| LinkEnd::Answered(answer(allowed, 5, through));
    for (row, end) in [
        (row(None, None, None), LinkEnd::Expired(EXPIRES_AT)),
        (row(None, Some(5), None), LinkEnd::Stopped),
        (row(Some(false), Some(5), None), answered(false, None)),
        (
            row(Some(true), Some(5), Some("link")),
            answered(true, Some(AnsweredThrough::Link)),
        ),
        (
            row(Some(true), Some(5), Some("of a later version")),
            answered(true, None),
        ),
    ] {
        assert_eq!(LinkEnd::of(&row, EXPIRES_AT), end);
    }
    let early = Timestamp::from_millis(EXPIRES_AT.as_millis() - 1);
    assert_eq!(LinkEnd::of(&row(None, None, None), early), LinkEnd::Stopped);
    for through in AnsweredThrough::ALL {
        let stored = row(Some(true), Some(5), Some(through.as_str()));
        let end = LinkEnd::of(&stored, EXPIRES_AT);
        assert_eq!(end, answered(true, Some(through)));
    }
}

#[test]
fn a_stored_answer_counts_where_this_process_has_none() {
    let stopped = Some(LinkEnd::Stopped);
    let expired = Some(LinkEnd::Expired(EXPIRES_AT));
    let answered = Some(LinkEnd::Answered(answer(true, 5, None)));
    let complete = answer(true, 5, Some(AnsweredThrough::Api));
    let complete = Some(LinkEnd::Answered(complete));
    for (here, stored, known) in [
        (None, None, None),
        (None, expired, expired),
        (stopped, None, stopped),
        (stopped, expired, stopped),
        (expired, answered, answered),
        (answered, stopped, answered),
        (answered, complete, complete),
    ] {
        assert_eq!(LinkEnd::known(here, stored), known, "{here:?} {stored:?}");
    }
}

#[test]
fn links_are_kept_within_a_limit() {
    let links = SentLinks::default();
    for number in 0..MAX_LINKS {
        links.note_sent(&asked(&format!("apr_{number}")), &number.to_string());
    }
    assert!(end_of(&links, "0", EXPIRES_AT).is_some());
    links.note_sent(&asked("apr_more"), "more");
    assert!(end_of(&links, "0", EXPIRES_AT).is_none());
    assert!(end_of(&links, "1", EXPIRES_AT).is_some());
}
