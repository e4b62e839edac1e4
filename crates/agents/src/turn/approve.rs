//! Requests the owner's approval of a call that needs it.

use super::failure::TurnFailure;
use super::{Running, Setup};
use crate::approvals::question::{Question, Verdict};
use crate::event::ToolState;
use crate::message::ToolCallRecord;
use crate::taint::{OwnerDecisions, Requested, reason_to_ask};
use crate::tool::Tool;
use crate::tool_policy::restrains;
use gatehouse_domain::trace::{self, SpanKind};
use serde_json::Value;

impl Running<'_> {
    /// Returns whether the call may be made. Waits for the owner's approval if the call needs it.
    pub(super) async fn approve(
        &self,
        setup: &Setup,
        tool: &dyn Tool,
        input: &Value,
        call: &ToolCallRecord,
    ) -> Result<Verdict, TurnFailure> {
        let settings = self.inner.settings.load_full();
        let effect = tool.effect(input, setup.read.private);
        let target = tool.target(input);
        let requested = Requested {
            tool: tool.name(),
            target: target.as_deref(),
            effect,
        };
        let decisions = OwnerDecisions {
            is_required: [
                &settings.require_approval,
                &setup.agent.config.require_approval,
            ]
            .into_iter()
            .any(|entries| restrains(entries, tool)),
            is_guarded: settings.taint,
            is_named: setup.permit.names(tool),
            trust: &settings.trust,
        };
        let Some(reason) = reason_to_ask(requested, setup.read, decisions) else {
            return Ok(Verdict::Allowed);
        };
        let question = Question {
            agent: setup.agent.id.clone(),
            session: self.turn.session.clone(),
            turn: self.turn.id.clone(),
            message: self.turn.origin.message().cloned(),
            delivery: self.turn.origin.delivery().cloned(),
            tool: tool.name().to_owned(),
            arguments: input.clone(),
            reason,
            effect,
        };
        if self.inner.is_allowed(&question).await? {
            return Ok(Verdict::Allowed);
        }
        self.publish_tool(call, ToolState::Waiting, None);
        let mut span = trace::child("approval.wait", SpanKind::Internal);
        span.set("gen_ai.tool.name", tool.name());
        let asking = self.inner.ask_approval(question);
        // A shutdown closes the sockets, so no client can answer.
        let asking = self.inner.stopping.run_until_cancelled(asking);
        let asked = self.turn.cancel.run_until_cancelled(asking).await;
        let verdict = asked.flatten().ok_or(TurnFailure::Stopped)??;
        span.set("gatehouse.approval.answer", verdict.as_str());
        Ok(verdict)
    }
}
