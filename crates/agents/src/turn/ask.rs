//! One request to the model: fits the conversation and streams the answer.

mod stream;

use super::failure::TurnFailure;
use super::reply::Reply;
use super::running::{Running, Setup};
use crate::message::ToolCallRecord;
use crate::tokens::tokens_of;
use gatehouse_models::{ChatRequest, ModelError, ToolCall};
use gatehouse_store::StoreError;
use std::collections::HashSet;

/// A request that failed.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) failure: TurnFailure,
    /// Whether the answer had begun. If not, the models crate has already retried the request.
    pub(super) had_begun: bool,
    /// Whether text was shown.
    pub(super) was_shown: bool,
}

impl Broken {
    const fn is_too_long(&self) -> bool {
        let failure = &self.failure;
        matches!(
            failure,
            TurnFailure::Model(ModelError::ContextTooLong { .. })
        )
    }
}

impl From<TurnFailure> for Broken {
    fn from(failure: TurnFailure) -> Self {
        Self {
            failure,
            had_begun: false,
            was_shown: false,
        }
    }
}

impl Running<'_> {
    /// Calls the model. A conversation that is too long is shortened until it fits. If that is not enough, the tools
    /// are omitted. The call fails only if the newest text alone does not fit.
    pub(super) async fn ask_model(&mut self, setup: &mut Setup) -> Result<Reply, Broken> {
        loop {
            let offer = self.offer(setup);
            let has_tools = !offer.specs.is_empty();
            let system = self.system_prompt(setup, has_tools);
            let sent_beside = system.as_deref().map_or(0, tokens_of) + offer.tokens;
            let budget = self.budget(setup, sent_beside);
            self.check_budgets(&setup.model).await?;
            let fitted = setup.conversation.fit(Some(budget));
            if let Some(through) = fitted.left_out {
                self.shorten(setup, through, Some(budget)).await?;
                continue;
            }
            let request = ChatRequest {
                system,
                messages: fitted.messages,
                tools: offer.specs,
                temperature: setup.agent.config.temperature,
                max_tokens: setup.agent.config.max_output_tokens,
                effort: setup.agent.config.reasoning_effort,
                ..ChatRequest::default()
            };
            let sent_tokens = fitted.tokens.saturating_add(sent_beside);
            self.check_not_taken_over().await?;
            match self.stream(setup, request).await {
                Err((_, broken)) if broken.is_too_long() && !fitted.is_least => {
                    self.limit = Some(fitted.tokens / 2);
                }
                Err((_, broken)) if broken.is_too_long() && has_tools => {
                    self.are_tools_too_long = true;
                }
                Err((said, broken)) => {
                    self.keep(setup, said, sent_tokens);
                    return Err(broken);
                }
                Ok(reply) => {
                    self.spend(&setup.model, reply.usage, reply.estimate(sent_tokens));
                    if !reply.text.is_empty() {
                        self.text.clone_from(&reply.text);
                    }
                    return Ok(reply);
                }
            }
        }
    }

    /// Fails if another node has ended the turn, or may have taken over its work because this node was suspended.
    /// Without this check, the turn could call a model after later turns of the session have run.
    async fn check_not_taken_over(&self) -> Result<(), TurnFailure> {
        if !self.turn.fence.holds() {
            return Err(TurnFailure::TakenOver);
        }
        let Some(node) = self.inner.node_among_others() else {
            return Ok(());
        };
        let id = self.turn.id.clone();
        let read = self
            .inner
            .store
            .read(move |conn| Box::pin(async move { conn.has_chat_turn_of(&id, &node).await }));
        let is_own: Result<bool, StoreError> = read.await;
        if is_own? {
            Ok(())
        } else {
            Err(TurnFailure::TakenOver)
        }
    }

    /// Returns the maximum number of tokens for the messages: the context window minus the system prompt, the tools and
    /// a reserve for the answer. The number is lower after the model has rejected a request as too long.
    fn budget(&self, setup: &Setup, beside: u64) -> u64 {
        let context = self.context(setup);
        let answer = setup.agent.config.max_output_tokens.map_or(4096, u64::from);
        // A tenth is kept in reserve because token counts are estimates.
        let room = context - context / 10 - (context / 4).min(answer);
        let room = room.saturating_sub(beside);
        self.limit.map_or(room, |limit| room.min(limit))
    }
}

/// Cleans a call for storage: its name is displayed and used in metrics.
fn storable_call(call: ToolCall) -> ToolCallRecord {
    let clean = |text: &str, most: usize| -> String {
        let characters = text.chars().filter(|c| !c.is_control());
        characters.take(most).collect()
    };
    ToolCallRecord {
        // The limit is large because some providers store their own state in the ID.
        id: clean(&call.id, 8192),
        name: clean(&call.name, 100),
        arguments: call.arguments,
    }
}

/// Makes call IDs unique. Some servers return the same ID, or no ID, for every call, and an answer must name its call.
fn name_apart(calls: &mut [ToolCallRecord]) {
    let mut taken = HashSet::new();
    for (number, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || !taken.insert(call.id.clone()) {
            call.id = format!("{}call_{number}", call.id);
            taken.insert(call.id.clone());
        }
    }
}

#[cfg(test)]
mod tests;
