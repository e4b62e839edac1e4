//! Tool calls that wait for approval on the nodes of a shared database. The node that runs the turn stores the call,
//! and any node stores the answer. A row in the change feed then causes the first node to read the answer.

use crate::approval_buttons::PressedCall;
use crate::approvals::Rule;
use crate::error::AgentsError;
use crate::event::Approval;
use crate::handle::Inner;
use gatehouse_domain::Actor;
use gatehouse_domain::id::{ApprovalId, TurnId};
use gatehouse_store::{AuditEntry, StoreError, WaitingApprovalRow};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The number of attempts to read answers, and the pause between them.
const READS: u32 = 5;
const BETWEEN_READS: Duration = Duration::from_secs(1);

/// The subject of the change after an answer was stored.
pub(crate) const ANSWERED: &str = "approvals";

impl Inner {
    /// Stores a call before it waits, so that other nodes can list it.
    pub(crate) async fn share_approval(
        &self,
        approval: &Approval,
        turn: TurnId,
        token: &str,
    ) -> Result<(), StoreError> {
        if !self.has_other_nodes() {
            return Ok(());
        }
        let row = WaitingApprovalRow {
            id: approval.id.clone(),
            turn_id: turn,
            token_key: WaitingApprovalRow::token_key_of(token),
            // Serialization cannot fail: the keys of its maps are strings.
            approval: serde_json::to_string(approval).unwrap_or_default(),
            expires_at: approval.expires_at,
            allowed: None,
        };
        let write = self
            .store
            .write(move |conn| Box::pin(async move { conn.insert_waiting_approval(&row).await }));
        write.await
    }

    /// Deletes a call that no longer waits, and returns the answer that another node stored. If no one answered the
    /// call, adds a row to the audit log.
    pub(crate) async fn end_approval(
        &self,
        approval: &Arc<Approval>,
        is_answered_here: bool,
    ) -> Result<Option<bool>, StoreError> {
        let is_shared = self.has_other_nodes();
        if is_answered_here && !is_shared {
            return Ok(None);
        }
        let (asked, now) = (Arc::clone(approval), self.clock.now());
        let random = Arc::clone(&self.random);
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                if is_shared {
                    // If the row is missing, another node has ended the turn.
                    let Some(row) = conn.delete_waiting_approval(&asked.id).await? else {
                        return Ok(None);
                    };
                    if is_answered_here || row.allowed.is_some() {
                        return Ok(row.allowed);
                    }
                }
                // The entry contains only names, because the arguments may contain anything.
                let entry = AuditEntry {
                    kind: "approval.expired",
                    actor: &Actor::system(),
                    detail: json!({ "id": asked.id, "tool": asked.tool, "session": asked.session }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                Ok(None)
            })
        });
        write.await
    }

    /// Returns the call that waits with this token on any node.
    pub(crate) async fn shared_approval_of(
        &self,
        token: &str,
    ) -> Result<Option<Approval>, AgentsError> {
        self.shared_approval_under(WaitingApprovalRow::token_key_of(token))
            .await
    }

    /// Returns the call that waits with this key of its token on any node.
    async fn shared_approval_under(&self, key: String) -> Result<Option<Approval>, AgentsError> {
        let now = self.shared_now().await;
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_waiting_approval(&key, now).await }));
        let row: Option<WaitingApprovalRow> = read.await?;
        Ok(row.and_then(|row| serde_json::from_str(&row.approval).ok()))
    }

    /// Returns the calls that wait on any node, oldest first.
    pub(crate) async fn shared_approvals(&self) -> Result<Vec<Approval>, AgentsError> {
        let now = self.shared_now().await;
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.list_waiting_approvals(now).await }));
        let rows: Vec<WaitingApprovalRow> = read.await?;
        // If this node cannot read a row of a different version, a node of that version handles the
        // call.
        let readable = rows
            .iter()
            .filter_map(|row| serde_json::from_str(&row.approval).ok());
        Ok(readable.collect())
    }

    /// Returns the call whose token key fulfills a condition.
    pub(crate) async fn shared_approval_that(
        &self,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<PressedCall, AgentsError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_stored_approvals().await }));
        let rows: Vec<WaitingApprovalRow> = read.await?;
        let mut rows = rows.into_iter();
        let Some(row) = rows.find(|row| is_meant(&row.token_key)) else {
            return Ok(PressedCall::Gone);
        };
        if row.allowed.is_some() || row.expires_at < self.shared_now().await {
            return Ok(PressedCall::Gone);
        }
        let found = self.shared_approval_under(row.token_key).await?;
        Ok(found.map_or(PressedCall::Paused, |approval| {
            PressedCall::Waiting(Box::new(approval))
        }))
    }

    /// Stores the answer for the node that runs the turn, and the rule. Only the first answer
    /// counts.
    pub(crate) async fn store_answer(
        &self,
        id: ApprovalId,
        allow: bool,
        rule: Option<Rule>,
    ) -> Result<(), AgentsError> {
        let (now, shared_now) = (self.clock.now(), self.shared_now().await);
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                if !conn.update_waiting_approval(&id, allow, shared_now).await? {
                    return Err(AgentsError::NotFound("approval"));
                }
                if let Some(rule) = rule {
                    rule.store(conn, now).await?;
                }
                conn.insert_change(ANSWERED, now).await?;
                Ok(())
            })
        });
        write.await
    }

    /// Forwards answers that other nodes stored to the calls that wait on this node.
    pub(crate) async fn read_answers(&self) {
        if !self.has_other_nodes() || !self.has_approvals_here() {
            return;
        }
        for _ in 0..READS {
            let read = self
                .store
                .read(|conn| Box::pin(async move { conn.list_answered_approvals().await }));
            let answered: Result<Vec<WaitingApprovalRow>, StoreError> = read.await;
            match answered {
                Ok(rows) => {
                    for row in rows {
                        // `NotFound` means that the call waits on another node.
                        let _ = self.answer_here(&row.id, row.allowed == Some(true));
                    }
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "answers to waiting tool calls cannot be read");
                }
            }
            tokio::time::sleep(BETWEEN_READS).await;
        }
        // The answer is read when the wait ends.
    }
}
