//! One request to the model: fits the conversation and streams the answer.

use super::failure::TurnFailure;
use super::reply::Reply;
use super::running::{Running, Setup};
use crate::event::{AgentEvent, Delta};
use crate::message::ToolCallRecord;
use crate::speaker::AnswerFilter;
use crate::tokens::tokens_of;
use futures_util::StreamExt;
use gatehouse_models::{ChatRequest, Chunk, ModelError, ModelRef, ToolCall};
use gatehouse_store::StoreError;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How many available chunks are taken at a time.
const PIECES_AT_ONCE: usize = 64;
/// The shortest time between two deltas of an answer. A model that writes faster must not outrun the listeners'
/// queues: a socket that falls behind is closed.
const SHOW_EVERY: Duration = Duration::from_millis(10);
/// How often an unfinished answer is stored.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// A request that failed.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) failure: TurnFailure,
    /// Whether the answer had begun. The models crate has already retried a request whose answer had not.
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
    /// Asks the model. A conversation that is too long is shortened until it fits, and then the tools are left
    /// out; this fails only when the newest text alone does not fit.
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

    /// Fails if another node has ended the turn or may have taken over its work, because this one was suspended. Without
    /// the check, it could ask a model after later turns of the session have run.
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

    /// How many tokens the messages may take: the context window minus the system prompt, the tools and a
    /// reserve for the answer. Lower after the model has rejected a request as too long.
    fn budget(&self, setup: &Setup, beside: u64) -> u64 {
        let context = self.context(setup);
        let answer = setup.agent.config.max_output_tokens.map_or(4096, u64::from);
        // Keep a tenth in reserve because token counts are estimates.
        let room = context - context / 10 - (context / 4).min(answer);
        let room = room.saturating_sub(beside);
        self.limit.map_or(room, |limit| room.min(limit))
    }

    /// Streams an answer. On failure also returns the part received so far.
    async fn stream(&self, setup: &Setup, request: ChatRequest) -> Result<Reply, (Reply, Broken)> {
        self.inner.lanes.begin_answer(&self.turn.session);
        let (filter, speech) = self.begin_speech(&setup.agent);
        let mut taking = IncomingReply {
            filter,
            reply: Reply {
                speech,
                ..Reply::default()
            },
            shown: 0,
            show_at: Instant::now(),
            saved: 0,
            save_at: Instant::now(),
            has_begun: false,
        };
        let ended = self.take_in(&setup.model, request, &mut taking).await;
        let (shown, had_begun) = (taking.shown, taking.has_begun);
        let mut reply = taking.finish();
        self.publish_delta(reply.text.get(shown..).unwrap_or_default());
        match ended {
            Ok(()) => {
                if reply.stop.is_withheld() {
                    reply.calls.clear();
                }
                name_apart(&mut reply.calls);
                Ok(reply)
            }
            Err(failure) => {
                let broken = Broken {
                    failure,
                    had_begun,
                    was_shown: !reply.text.is_empty(),
                };
                Err((reply, broken))
            }
        }
    }

    async fn take_in(
        &self,
        model: &ModelRef,
        request: ChatRequest,
        taking: &mut IncomingReply,
    ) -> Result<(), TurnFailure> {
        let cancel = &self.turn.cancel;
        let progress = taking.reply.progress.clone();
        let asking = self.inner.models.chat_noting(model, request, &progress);
        let asked = cancel.run_until_cancelled(asking).await;
        let stream = asked.ok_or(TurnFailure::Stopped)??;
        taking.has_begun = true;
        let mut pieces = stream.ready_chunks(PIECES_AT_ONCE);
        loop {
            let batch = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(TurnFailure::Stopped),
                batch = pieces.next() => match batch {
                    None => return Ok(()),
                    Some(batch) => batch,
                },
                () = sleep_until(taking.show_at), if taking.has_unshown() => {
                    self.show(taking);
                    continue;
                }
                // Polled after the pieces: an answer that arrives at once is stored once.
                () = sleep_until(taking.save_at), if taking.saved < taking.reply.text.len() => {
                    let saving = self.save_partial(model, &taking.reply.text);
                    cancel.run_until_cancelled(saving).await;
                    taking.saved = taking.reply.text.len();
                    taking.save_at = Instant::now() + SAVE_EVERY;
                    continue;
                }
            };
            batch.into_iter().try_for_each(|chunk| {
                taking.take(chunk?);
                Ok::<_, ModelError>(())
            })?;
            if taking.has_unshown() && taking.show_at <= Instant::now() {
                self.show(taking);
            }
        }
    }

    /// Publishes the text that no delta contains yet.
    fn show(&self, taking: &mut IncomingReply) {
        let text = &taking.reply.text;
        self.publish_delta(text.get(taking.shown..).unwrap_or_default());
        taking.shown = text.len();
        taking.show_at = Instant::now() + SHOW_EVERY;
    }

    fn publish_delta(&self, text: &str) {
        let lanes = &self.inner.lanes;
        if !text.is_empty() {
            self.inner.publish(AgentEvent::Delta(Arc::new(Delta {
                session: self.turn.session.clone(),
                turn_id: self.turn.id.clone(),
                text: text.to_owned(),
                at: lanes.add_to_answer(&self.turn.session, text),
            })));
        }
    }

    /// Keeps the partial answer of a turn that ends early. Calls are left out: they may be incomplete and
    /// will not be made.
    fn keep(&mut self, setup: &Setup, mut said: Reply, sent_tokens: u64) {
        self.spend_part(&setup.model, &said.progress, sent_tokens);
        said.calls.clear();
        if !said.text.is_empty() {
            self.partial = Some(self.assistant_row(&setup.model, &said));
            self.text = said.text;
        }
    }
}

/// An answer that is being received.
struct IncomingReply {
    filter: Option<Box<dyn AnswerFilter>>,
    reply: Reply,
    /// Length of the published part of the text in bytes, and when to publish more.
    shown: usize,
    show_at: Instant,
    /// Length of the stored part of the text in bytes, and when to store more.
    saved: usize,
    save_at: Instant,
    /// Whether the answer has begun.
    has_begun: bool,
}

impl IncomingReply {
    fn has_unshown(&self) -> bool {
        self.shown < self.reply.text.len()
    }

    fn take(&mut self, chunk: Chunk) {
        let reply = &mut self.reply;
        match (chunk, &mut self.filter) {
            (Chunk::Text(text), None) => reply.text.push_str(&text),
            (Chunk::Text(text), Some(filter)) => reply.text.push_str(&filter.push(&text)),
            (Chunk::Reasoning(text), _) => reply.reasoning.push_str(&text),
            (Chunk::State(state), _) => reply.state = Some(state),
            (Chunk::ToolCall(call), _) => reply.calls.push(storable_call(call)),
            (Chunk::End { usage, stop }, _) => {
                reply.usage = usage;
                reply.stop = stop.into();
            }
        }
    }

    /// The answer so far, complete or not.
    fn finish(self) -> Reply {
        let mut reply = self.reply;
        if let Some(filter) = self.filter {
            let end = filter.finish();
            reply.text.push_str(&end.rest);
            reply.marks = Some(end.marks);
        }
        reply
    }
}

/// Cleans a call for storage: its name is displayed and used in metrics.
fn storable_call(call: ToolCall) -> ToolCallRecord {
    let clean = |text: &str, most: usize| -> String {
        let characters = text.chars().filter(|c| !c.is_control());
        characters.take(most).collect()
    };
    ToolCallRecord {
        // Some providers keep their own state in the ID.
        id: clean(&call.id, 8192),
        name: clean(&call.name, 100),
        arguments: call.arguments,
    }
}

/// Makes call IDs unique: some servers give every call the same ID or none, and an answer must name its call.
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
