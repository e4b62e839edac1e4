//! Tool calls that wait for approval. They are kept in the memory of the process that runs the turn.

use crate::allowed_calls::{Remember, allowed};
use crate::error::AgentsError;
use crate::event::{AgentEvent, Approval, Resolved, Shown};
use crate::handle::{Agents, Inner};
use crate::taint::{AskReason, Effect};
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::id::{ApprovalId, SessionId};
use gatehouse_store::StoreError;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// A call that needs approval.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) agent: String,
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
    /// Identifies the call in links: 256 random bits as base64url.
    token: String,
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
            agent: question.agent,
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
            token: BASE64URL_NOPAD.encode(&self.random.bytes::<32>()),
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

    /// The token in links to this call; `None` when it no longer waits.
    pub fn approval_token(&self, id: &ApprovalId) -> Option<String> {
        let waiting = self.0.approvals.lock();
        waiting.get(id).map(|waiting| waiting.token.clone())
    }

    /// The call that waits under this token.
    pub fn find_approval_by_token(&self, token: &str) -> Option<Approval> {
        let waiting = self.0.approvals.lock();
        let found = waiting.values().find(|waiting| waiting.token == token);
        found.map(|waiting| Approval::clone(&waiting.approval))
    }

    /// Approves or denies a call; `NotFound` when it no longer waits. With `remember`, the approval also holds for
    /// later calls, which a denial cannot.
    pub async fn resolve_approval(
        &self,
        id: &ApprovalId,
        allow: bool,
        remember: Option<Remember>,
    ) -> Result<(), AgentsError> {
        let also = match (allow, remember) {
            (_, None) => Vec::new(),
            (true, Some(remember)) => self.remember(id, remember).await?,
            (false, Some(_)) => {
                return Err(AgentsError::invalid(
                    "remember",
                    "only an approval can be remembered",
                ));
            }
        };
        self.answer(id, allow)?;
        for id in also {
            // NotFound: its turn has ended, so there is nothing left to answer.
            let _ = self.answer(&id, true);
        }
        Ok(())
    }

    fn answer(&self, id: &ApprovalId, allow: bool) -> Result<(), AgentsError> {
        let missing = || AgentsError::NotFound("approval");
        let waiting = self.0.approvals.lock().remove(id).ok_or_else(missing)?;
        // The turn may have ended in the meantime.
        waiting.answer.send(allow).map_err(|_| missing())
    }

    /// Allows calls like this one from now on. Returns the others of them that already wait.
    async fn remember(
        &self,
        id: &ApprovalId,
        remember: Remember,
    ) -> Result<Vec<ApprovalId>, AgentsError> {
        let call_of = |asked: &Approval| {
            let place = (asked.agent.as_str(), &asked.session);
            allowed(remember, place, (&asked.tool, &asked.arguments))
        };
        let (call, also) = {
            let waiting = self.0.approvals.lock();
            let asked = waiting.get(id).ok_or(AgentsError::NotFound("approval"))?;
            let call = call_of(&asked.approval);
            let others = waiting.iter().filter(|(other, _)| *other != id);
            let alike = others.filter(|(_, other)| call_of(&other.approval) == call);
            let also = alike.map(|(id, _)| id.clone()).collect();
            (call, also)
        };
        let now = self.0.clock.now();
        let write = self
            .0
            .store
            .write(move |conn| Box::pin(async move { conn.insert_allowed_call(&call, now).await }));
        let written: Result<(), StoreError> = write.await;
        written?;
        Ok(also)
    }
}
