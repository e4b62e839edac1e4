//! The links that were sent for tool calls that wait for approval, and how each call ended. They are kept in memory
//! only: after a restart, and on nodes that did not send it, an old link is unknown.

use gatehouse_agents::Approval;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::ApprovalId;
use gatehouse_store::WaitingApprovalRow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of links. The oldest is removed first.
const MAX_LINKS: usize = 1_000;
/// How much earlier than its expiry a call can end by its timer, because clocks differ in speed.
const TOLERANCE: Duration = Duration::from_secs(1);

/// The way in which a person answered a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnsweredThrough {
    /// A link that is its own credential.
    Link,
    /// A button in a chat.
    Chat,
    /// The API, which the web UI uses too.
    Api,
}

impl AnsweredThrough {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Chat => "chat",
            Self::Api => "api",
        }
    }
}

/// An answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub allowed: bool,
    pub at: Timestamp,
    /// `None` if the call was answered on another node, or together with another call.
    pub through: Option<AnsweredThrough>,
}

/// How the call of a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    Answered(Decision),
    /// Nobody answered until then.
    Expired(Timestamp),
    /// The turn ended before an answer.
    Stopped,
}

#[derive(Debug)]
struct SentLink {
    /// Identifies the token, which itself is not kept.
    token_key: String,
    id: ApprovalId,
    expires_at: Timestamp,
    decision: Option<Decision>,
    /// Whether the turn ended before the expiry.
    is_stopped: bool,
}

/// The links that this process sent.
#[derive(Debug, Default)]
pub(crate) struct SentLinks(Mutex<VecDeque<SentLink>>);

impl SentLinks {
    fn lock(&self) -> MutexGuard<'_, VecDeque<SentLink>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the link to a call.
    pub(crate) fn note_sent(&self, asked: &Approval, token: &str) {
        let mut links = self.lock();
        if links.len() >= MAX_LINKS {
            links.pop_front();
        }
        links.push_back(SentLink {
            token_key: WaitingApprovalRow::token_key_of(token),
            id: asked.id.clone(),
            expires_at: asked.expires_at,
            decision: None,
            is_stopped: false,
        });
    }

    /// Records the answer to a call. The first report counts. A later one can add how the call was answered.
    pub(crate) fn note_decision(&self, id: &ApprovalId, decision: Decision) {
        let mut links = self.lock();
        for link in links.iter_mut().filter(|link| link.id == *id) {
            match &mut link.decision {
                Some(known) => known.through = known.through.or(decision.through),
                None => link.decision = Some(decision),
            }
        }
    }

    /// Records that a call no longer waits although nobody answered it.
    pub(crate) fn note_unanswered(&self, id: &ApprovalId, now: Timestamp) {
        let mut links = self.lock();
        for link in links.iter_mut().filter(|link| link.id == *id) {
            link.is_stopped = now.after(TOLERANCE) < link.expires_at;
        }
    }

    /// How a call was answered; `None` if it was not, or on another node.
    pub(crate) fn through_of(&self, id: &ApprovalId) -> Option<AnsweredThrough> {
        let links = self.lock();
        let link = links.iter().find(|link| link.id == *id)?;
        link.decision.and_then(|decision| decision.through)
    }

    /// How the call of a link ended, if it no longer waits; `None` for an unknown link.
    pub(crate) fn end_of(&self, token: &str, now: Timestamp) -> Option<LinkEnd> {
        let key = WaitingApprovalRow::token_key_of(token);
        let links = self.lock();
        let link = links.iter().find(|link| link.token_key == key)?;
        Some(match link.decision {
            Some(decision) => LinkEnd::Answered(decision),
            None if !link.is_stopped && now >= link.expires_at => LinkEnd::Expired(link.expires_at),
            None => LinkEnd::Stopped,
        })
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_link_without_an_answer_expires_at_its_time() {
        let links = SentLinks::default();
        links.note_sent(&asked("apr_1"), "one");
        let at = |ms: i64| links.end_of("one", Timestamp::from_millis(ms));
        assert_eq!(at(999), Some(LinkEnd::Stopped));
        assert_eq!(at(1_000), Some(LinkEnd::Expired(EXPIRES_AT)));
        assert_eq!(at(1_001), Some(LinkEnd::Expired(EXPIRES_AT)));
        assert_eq!(links.end_of("two", EXPIRES_AT), None);
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
            assert_eq!(links.end_of("one", EXPIRES_AT), Some(end));
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
        let end = links.end_of("one", EXPIRES_AT);
        assert_eq!(end, Some(LinkEnd::Answered(expected)));
        assert_eq!(links.through_of(&id), Some(AnsweredThrough::Chat));
        let unanswered = ApprovalId::from_text("apr_2");
        assert_eq!(links.through_of(&unanswered), None);
        let other = links.end_of("two", EXPIRES_AT);
        assert_eq!(other, Some(LinkEnd::Expired(EXPIRES_AT)));
    }

    #[test]
    fn links_are_kept_within_a_limit() {
        let links = SentLinks::default();
        for number in 0..MAX_LINKS {
            links.note_sent(&asked(&format!("apr_{number}")), &number.to_string());
        }
        assert!(links.end_of("0", EXPIRES_AT).is_some());
        links.note_sent(&asked("apr_more"), "more");
        assert!(links.end_of("0", EXPIRES_AT).is_none());
        assert!(links.end_of("1", EXPIRES_AT).is_some());
    }
}
