//! Tool calls that wait for approval. They are kept in the memory of the process that runs the turn.

use crate::error::AgentsError;
use crate::event::{AgentEvent, Approval, Resolved, Shown};
use crate::handle::{Agents, Inner};
use crate::taint::{AskReason, Effect};
use gatehouse_domain::id::{ApprovalId, SessionId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// A call that needs approval.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) session: SessionId,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) reason: AskReason,
    pub(crate) effect: Effect,
}

/// The calls that wait for approval.
#[derive(Debug, Default)]
pub(crate) struct Approvals(Mutex<BTreeMap<ApprovalId, Waiting>>);

#[derive(Debug)]
struct Waiting {
    approval: Arc<Approval>,
    answer: oneshot::Sender<bool>,
}

impl Approvals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ApprovalId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the call from the list and reports the answer, however the wait ends.
struct PendingApproval<'a> {
    inner: &'a Inner,
    id: ApprovalId,
    allowed: bool,
}

impl Drop for PendingApproval<'_> {
    fn drop(&mut self) {
        self.inner.approvals.lock().remove(&self.id);
        let resolved = Resolved {
            id: self.id.clone(),
            allowed: self.allowed,
        };
        self.inner
            .publish(AgentEvent::ApprovalResolved(Arc::new(resolved)));
    }
}

impl Inner {
    /// Requests approval and waits. No answer within `approval_wait` counts as a denial. Dropping the future,
    /// as when the turn is stopped, withdraws the request.
    pub(crate) async fn ask_approval(&self, question: Question) -> bool {
        let wait = self.settings.load().approval_wait;
        let approval = Arc::new(Approval {
            id: ApprovalId::generate(&*self.clock, &*self.random),
            shown: Shown::of(&question.tool, &question.arguments),
            tool: question.tool,
            arguments: question.arguments,
            reason: question.reason,
            effect: question.effect,
            session: question.session,
            expires_at: self.clock.now().after(wait),
        });
        let (answer, answered) = oneshot::channel();
        let mut asked = PendingApproval {
            inner: self,
            id: approval.id.clone(),
            allowed: false,
        };
        let waiting = Waiting {
            approval: Arc::clone(&approval),
            answer,
        };
        self.approvals.lock().insert(approval.id.clone(), waiting);
        self.publish(AgentEvent::ApprovalRequested(approval));
        let answered = tokio::time::timeout(wait, answered).await;
        asked.allowed = matches!(answered, Ok(Ok(true)));
        asked.allowed
    }
}

impl Agents {
    /// The calls that wait for approval, oldest first.
    pub fn list_approvals(&self) -> Vec<Approval> {
        let waiting = self.0.approvals.lock();
        waiting
            .values()
            .map(|waiting| Approval::clone(&waiting.approval))
            .collect()
    }

    /// Approves or denies a call; `NotFound` when it no longer waits.
    pub fn resolve_approval(&self, id: &ApprovalId, allow: bool) -> Result<(), AgentsError> {
        let waiting = self.0.approvals.lock().remove(id);
        let waiting = waiting.ok_or(AgentsError::NotFound("approval"))?;
        // The turn may have ended in the meantime.
        waiting
            .answer
            .send(allow)
            .map_err(|_| AgentsError::NotFound("approval"))
    }
}
