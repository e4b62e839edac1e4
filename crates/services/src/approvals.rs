//! Answers to tool calls that wait for approval.

use crate::sent_links::{AnsweredThrough, Decision, StoredEnd};
use crate::{Services, to_problem};
use gatehouse_agents::{Approval, Remember};
use gatehouse_auth::audit::Concluded;
use gatehouse_domain::{Actor, Problem};
use serde_json::{Map, json};

/// The kind of the audit row of an answer.
pub const APPROVAL_RESOLVED: &str = "approval.resolved";
/// The kind of the audit row of a button press by a person who is not trusted.
pub const APPROVAL_PRESS_REFUSED: &str = "approval.press_refused";

/// An answer to a waiting call.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalAnswer<'a> {
    pub allow: bool,
    /// The later calls that the answer also allows.
    pub remember: Option<Remember>,
    /// The key of a person on a channel, or [`STRANGER`](gatehouse_auth::STRANGER). Approvals for later calls end
    /// with the permissions of this person or caller.
    pub by: Option<&'a str>,
    pub through: AnsweredThrough,
}

impl Services {
    /// Answers a waiting call. The answer is recorded before it takes effect, so a call never runs on an approval
    /// that is missing from the audit log. Recording fails if the caller's credential has ended.
    pub async fn resolve_approval(
        &self,
        actor: &Actor,
        asked: &Approval,
        answer: ApprovalAnswer<'_>,
    ) -> Result<(), Problem> {
        let ApprovalAnswer {
            allow,
            remember,
            by,
            through,
        } = answer;
        // Names only, because the arguments may contain anything.
        let mut detail = Map::new();
        for (name, value) in [
            ("id", json!(asked.id)),
            ("allow", json!(allow)),
            ("remember", json!(remember)),
            ("tool", json!(asked.tool)),
            ("session", json!(asked.session)),
        ] {
            detail.insert(name.to_owned(), value);
        }
        let intent = self.auth.intend(APPROVAL_RESOLVED, actor, detail);
        self.auth.begin_change(&intent).await.map_err(to_problem)?;
        let answered = self
            .agents
            .resolve_approval_by(&asked.id, allow, remember, by)
            .await
            .map_err(to_problem);
        let decision = Decision {
            allowed: allow,
            at: self.clock.now(),
            through: Some(through),
        };
        if answered.is_ok() {
            self.sent_links.note_decision(&asked.id, decision);
        }
        let ended = match &answered {
            Ok(()) => Concluded::Done(Map::new()),
            // Later calls may already have been allowed when it turned out that this call no longer waits.
            Err(problem) if allow && remember.is_some() => Concluded::Failed(problem.code.name()),
            Err(_) => Concluded::Withdrawn,
        };
        self.auth.conclude(intent, ended).await;
        // Stored after the audit row, whose time is the time of the answer.
        if answered.is_ok() {
            self.store_link_end(&asked.id, StoredEnd::Answered(decision))
                .await;
        }
        answered
    }
}
