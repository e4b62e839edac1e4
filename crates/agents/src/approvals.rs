//! Tool calls that wait for approval. They are kept in the memory of the process that runs the turn. On a shared
//! database, `shared_approvals` stores them too, so that every node can answer.

pub(crate) mod question;

use crate::allowed_calls::{ALLOWED, Remember, allowed};
use crate::error::AgentsError;
use crate::event::{AgentEvent, Approval, AskingConversation, Resolved, Shown};
use crate::handle::{Agents, Inner};
use crate::session::Source;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{ApprovalId, DeliveryId, SessionId};
use gatehouse_store::{AllowedCall, Conn, StoreError, inherit};
use question::{Question, Verdict, Waiting};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The prefix of the session keys of people who write through a channel. The channel and the person follow.
const CHANNEL_KEY: &str = "channel:";

/// Removes the call from the list and reports the answer when it is dropped, for any end of the
/// wait.
struct PendingApproval<'a> {
    inner: &'a Inner,
    id: ApprovalId,
    allowed: bool,
    is_answered: bool,
}

impl Drop for PendingApproval<'_> {
    fn drop(&mut self) {
        self.inner.approvals.lock().remove(&self.id);
        let resolved = Resolved {
            id: self.id.clone(),
            allowed: self.allowed,
            is_answered: self.is_answered,
        };
        self.inner
            .publish(AgentEvent::ApprovalResolved(Arc::new(resolved)));
    }
}

impl Inner {
    /// Requests approval and waits for `approval_wait`. If no person answers, adds a row to the audit log. Dropping the
    /// future, for example because the turn is stopped, withdraws the request.
    pub(crate) async fn ask_approval(&self, question: Question) -> Result<Verdict, StoreError> {
        let wait = self.settings.load().approval_wait;
        let approval = Arc::new(Approval {
            id: ApprovalId::generate(&*self.clock, &*self.random),
            shown: Shown::of(&question.tool, &question.arguments),
            agent: question.agent,
            tool: question.tool,
            arguments: question.arguments,
            reason: question.reason,
            effect: question.effect,
            conversation: self
                .asking_conversation(&question.session, question.delivery)
                .await?,
            session: question.session,
            expires_at: self.shared_now().await.after(wait),
        });
        let (answer, mut answered) = oneshot::channel();
        let mut asked = PendingApproval {
            inner: self,
            id: approval.id.clone(),
            allowed: false,
            is_answered: false,
        };
        let token = BASE64URL_NOPAD.encode(&self.random.bytes::<32>());
        self.share_approval(&approval, question.turn, &token)
            .await?;
        let waiting = Waiting {
            approval: Arc::clone(&approval),
            token,
            message: question.message,
            answer,
        };
        self.approvals.lock().insert(approval.id.clone(), waiting);
        // Another node may have answered since the call was stored.
        self.read_answers().await;
        self.publish(AgentEvent::ApprovalRequested(Arc::clone(&approval)));
        let waited = tokio::time::timeout(wait, &mut answered).await;
        let here = match waited {
            Ok(answer) => answer.ok(),
            Err(_elapsed) => {
                // Later answers are refused. An answer may have arrived after the timer ended.
                answered.close();
                answered.try_recv().ok()
            }
        };
        // Another node may have stored an answer just before the call was removed.
        let elsewhere = self.end_approval(&approval, here.is_some()).await?;
        let is_allowed = [here, elsewhere]
            .into_iter()
            .flatten()
            .reduce(|here, elsewhere| here || elsewhere);
        asked.allowed = is_allowed == Some(true);
        asked.is_answered = is_allowed.is_some();
        Ok(is_allowed.map_or(Verdict::Expired(wait), Verdict::of))
    }

    async fn asking_conversation(
        &self,
        session: &SessionId,
        delivery: Option<DeliveryId>,
    ) -> Result<Option<AskingConversation>, StoreError> {
        let id = session.clone();
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let Some(row) = conn.find_chat_session(&id).await? else {
                    return Ok(None);
                };
                let source = Source::of(&row.source);
                let from = match (source, delivery) {
                    (Source::Channel, _) => row.key.strip_prefix(CHANNEL_KEY).map(str::to_owned),
                    (Source::Webhook, Some(delivery)) => webhook_of(conn, &delivery).await?,
                    _ => None,
                };
                let conversation = AskingConversation::of(&row.label, source, from.as_deref());
                Ok::<_, StoreError>(Some(conversation))
            })
        });
        read.await
    }

    /// Forwards the answer to a call that waits on this node.
    pub(crate) fn answer_here(&self, id: &ApprovalId, allow: bool) -> Result<(), AgentsError> {
        let missing = || AgentsError::NotFound("approval");
        let waiting = self.approvals.lock().remove(id).ok_or_else(missing)?;
        // The turn may have ended in the meantime.
        waiting.answer.send(allow).map_err(|_| missing())
    }

    /// Answers like [`Self::answer_here`]. An expired call is `NotFound` even if its timer is still running.
    fn answer_unexpired(&self, id: &ApprovalId, allow: bool) -> Result<(), AgentsError> {
        let now = self.clock.now();
        let has_expired = |waiting: &Waiting| waiting.approval.expires_at < now;
        if self.approvals.lock().get(id).is_some_and(has_expired) {
            return Err(AgentsError::NotFound("approval"));
        }
        self.answer_here(id, allow)
    }

    /// Returns whether a call waits on this node, even if it has expired.
    pub(crate) fn has_approvals_here(&self) -> bool {
        !self.approvals.lock().is_empty()
    }

    /// Returns the calls that can be answered on this node, oldest first, and the tokens in links to them. Expired
    /// calls are omitted. Their timers may end later, for example after the machine was suspended.
    pub(crate) fn approvals_here(&self) -> Vec<(Arc<Approval>, String)> {
        let now = self.clock.now();
        let waiting = self.approvals.lock();
        waiting
            .values()
            .filter(|waiting| waiting.approval.expires_at >= now)
            .map(|waiting| (Arc::clone(&waiting.approval), waiting.token.clone()))
            .collect()
    }
}

/// Later calls that an approval allows.
#[derive(Debug)]
pub(crate) struct Rule {
    call: AllowedCall,
    /// The creator of the rule. See [`Conn::insert_allowed_call`].
    by: Option<String>,
}

impl Rule {
    /// Stores the rule. Returns whether it is new.
    pub(crate) async fn store(&self, conn: &mut Conn, now: Timestamp) -> Result<bool, StoreError> {
        let by = self.by.as_deref();
        let is_new = conn.insert_allowed_call(&self.call, by, now).await?;
        conn.insert_change(ALLOWED, now).await?;
        Ok(is_new)
    }
}

/// Returns the name of the webhook of a delivery.
async fn webhook_of(conn: &mut Conn, delivery: &DeliveryId) -> Result<Option<String>, StoreError> {
    let Some(delivery) = conn.find_delivery(delivery.as_str()).await? else {
        return Ok(None);
    };
    let webhook = conn.find_webhook(delivery.webhook_id.as_str()).await?;
    Ok(webhook.map(|webhook| webhook.name))
}

impl Agents {
    /// Returns the calls that wait for approval on any node, oldest first.
    pub async fn list_approvals(&self) -> Result<Vec<Approval>, AgentsError> {
        if self.0.has_other_nodes() {
            return self.0.shared_approvals().await;
        }
        let here = self.0.approvals_here().into_iter();
        Ok(here
            .map(|(approval, _)| Arc::unwrap_or_clone(approval))
            .collect())
    }

    /// Returns the token in links to a call that waits on this node, or `None` if it no longer
    /// waits.
    pub fn approval_token(&self, id: &ApprovalId) -> Option<String> {
        let waiting = self.0.approvals.lock();
        waiting.get(id).map(|waiting| waiting.token.clone())
    }

    /// Returns the channel message whose turn waits for this answer on this node.
    pub fn approval_message(&self, id: &ApprovalId) -> Option<DeliveryId> {
        let waiting = self.0.approvals.lock();
        waiting.get(id).and_then(|waiting| waiting.message.clone())
    }

    /// Returns the call that waits with this token.
    pub async fn find_approval_by_token(
        &self,
        token: &str,
    ) -> Result<Option<Approval>, AgentsError> {
        if self.0.has_other_nodes() {
            return self.0.shared_approval_of(token).await;
        }
        let here = self.0.approvals_here().into_iter();
        let mut found = here.filter(|(_, other)| other == token);
        Ok(found
            .next()
            .map(|(approval, _)| Arc::unwrap_or_clone(approval)))
    }

    /// Approves or denies a call. Returns `NotFound` if it no longer waits. With `remember`, the approval also applies
    /// to later calls. A denial cannot be remembered.
    pub async fn resolve_approval(
        &self,
        id: &ApprovalId,
        allow: bool,
        remember: Option<Remember>,
    ) -> Result<(), AgentsError> {
        self.resolve_approval_by(id, allow, remember, None).await
    }

    /// Answers like [`Self::resolve_approval`]. The approvals for later calls can be withdrawn by the name `by`.
    pub async fn resolve_approval_by(
        &self,
        id: &ApprovalId,
        allow: bool,
        remember: Option<Remember>,
        by: Option<&str>,
    ) -> Result<(), AgentsError> {
        let Some(remember) = remember else {
            return self.answer(id, allow, None).await;
        };
        if !allow {
            return Err(AgentsError::invalid(
                "remember",
                "only an approval can be remembered",
            ));
        }
        let (rule, also) = self.rule_of(id, remember, by).await?;
        let (agents, id) = (self.clone(), id.clone());
        // Runs in its own task, so that a caller who disconnects does not separate the rule from the answer.
        let answering = self.0.tasks.spawn(inherit(async move {
            agents.answer(&id, true, Some(rule)).await?;
            for id in also {
                // `NotFound` means that the call's turn has ended, which needs no answer.
                let _ = agents.answer(&id, true, None).await;
            }
            Ok::<_, AgentsError>(())
        }));
        answering.await.unwrap_or(Err(AgentsError::ShuttingDown))
    }

    /// Answers a call. The rule is stored before the turn continues, and only if this answer is the first.
    async fn answer(
        &self,
        id: &ApprovalId,
        allow: bool,
        rule: Option<Rule>,
    ) -> Result<(), AgentsError> {
        if self.0.has_other_nodes() {
            self.0.store_answer(id.clone(), allow, rule).await?;
            // `NotFound` means that the call waits on another node, which reads the stored answer.
            let _ = self.0.answer_here(id, allow);
            return Ok(());
        }
        let Some(rule) = rule else {
            return self.0.answer_unexpired(id, allow);
        };
        // Without the lock, another approval could find this rule before it is deleted, and not store its own.
        let _turn = self.0.remembering.lock().await;
        let rule_id = rule.call.id();
        let now = self.0.clock.now();
        let write = self
            .0
            .store
            .write(move |conn| Box::pin(async move { rule.store(conn, now).await }));
        let is_new: Result<bool, StoreError> = write.await;
        let is_new = is_new?;
        let answered = self.0.answer_unexpired(id, allow);
        if is_new && answered.is_err() {
            // Another answer was first, such as a denial, or the call has expired.
            match self.delete_allowed_call(&rule_id).await {
                Ok(()) | Err(AgentsError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        answered
    }

    /// Returns the later calls that are allowed, and the IDs of other waiting calls that they include.
    async fn rule_of(
        &self,
        id: &ApprovalId,
        remember: Remember,
        by: Option<&str>,
    ) -> Result<(Rule, Vec<ApprovalId>), AgentsError> {
        let call_of = |asked: &Approval| {
            let place = (asked.agent.as_str(), &asked.session);
            allowed(remember, place, (&asked.tool, &asked.arguments))
        };
        let waiting = self.list_approvals().await?;
        let asked = waiting.iter().find(|asked| asked.id == *id);
        let call = call_of(asked.ok_or(AgentsError::NotFound("approval"))?);
        let others = waiting.iter().filter(|other| other.id != *id);
        let alike = others.filter(|other| call_of(other) == call);
        let also = alike.map(|other| other.id.clone()).collect();
        let by = by.map(str::to_owned);
        Ok((Rule { call, by }, also))
    }
}
