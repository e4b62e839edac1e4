//! One request to the model: fits the conversation and streams the answer.

use super::failure::TurnFailure;
use super::{Running, Setup};
use crate::event::{AgentEvent, Delta};
use crate::message::ToolCallRecord;
use crate::request::tokens_of;
use crate::speaker::{AnswerFilter, Marks};
use crate::stop::Stop;
use futures_util::StreamExt;
use gatehouse_models::{ChatRequest, Chunk, ModelError, ModelRef, ToolCall, ToolSpec, Usage};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How many available chunks are published as one delta.
const PIECES_AT_ONCE: usize = 64;
/// How often an unfinished answer is stored.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// A complete answer.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The text without markup.
    pub(super) text: String,
    /// What the speaker's filter found in it.
    pub(super) marks: Option<Marks>,
    pub(super) calls: Vec<ToolCallRecord>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
}

impl Running<'_> {
    /// Asks the model. A conversation that is too long is shortened until it fits; this fails only when the
    /// newest text alone does not fit.
    pub(super) async fn ask(&mut self, setup: &mut Setup) -> Result<Reply, TurnFailure> {
        loop {
            let tools = self.specs(setup);
            let system = self.system_prompt(setup, !tools.is_empty());
            let budget = self.budget(&setup.model, system.as_deref(), &tools);
            let fitted = setup.conversation.fit(budget);
            if let Some(through) = fitted.left_out {
                self.shorten(setup, through, budget).await?;
                continue;
            }
            let request = ChatRequest {
                system,
                messages: fitted.messages,
                tools,
                temperature: setup.agent.config.temperature,
                max_tokens: None,
            };
            match self.stream(&setup.model, request).await {
                Err((_, TurnFailure::Model(ModelError::ContextTooLong { .. })))
                    if !fitted.is_least =>
                {
                    self.limit = Some(fitted.tokens / 2);
                }
                Err((said, failure)) => {
                    self.keep(setup, said);
                    return Err(failure);
                }
                Ok(reply) => {
                    self.add_usage(reply.usage);
                    if !reply.text.is_empty() {
                        self.text.clone_from(&reply.text);
                    }
                    return Ok(reply);
                }
            }
        }
    }

    fn specs(&self, setup: &Setup) -> Vec<ToolSpec> {
        if self.is_out_of_steps {
            return Vec::new();
        }
        let offered = setup.permit.offered(&self.inner.tools);
        let spec = |tool: &Arc<dyn crate::Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters(),
        };
        offered.iter().map(spec).collect()
    }

    /// How many tokens the messages may take: the context window minus the system prompt, the tools and a
    /// reserve for the answer. Lower after the model has rejected a request as too long.
    fn budget(&self, model: &ModelRef, system: Option<&str>, tools: &[ToolSpec]) -> Option<u64> {
        let beside = system.map_or(0, tokens_of)
            + tools
                .iter()
                .map(|tool| tokens_of(&tool.description) + tokens_of(&tool.parameters.to_string()))
                .sum::<u64>();
        let known = self.inner.models.facts(model).context.map(|context| {
            // Keep a tenth in reserve because token counts are estimates.
            let room = context - context / 10 - (context / 4).min(4096);
            room.saturating_sub(beside)
        });
        match (known, self.limit) {
            (Some(known), Some(limit)) => Some(known.min(limit)),
            (known, limit) => known.or(limit),
        }
    }

    /// Streams an answer. On failure also returns the part received so far.
    async fn stream(
        &self,
        model: &ModelRef,
        request: ChatRequest,
    ) -> Result<Reply, (Reply, TurnFailure)> {
        self.inner.lanes.begin_answer(&self.turn.session);
        let mut taking = Taking {
            filter: self.inner.speaker.get().map(|speaker| speaker.begin()),
            reply: Reply::default(),
            saved: 0,
            save_at: Instant::now(),
        };
        let ended = self.take_in(model, request, &mut taking).await;
        let before = taking.reply.text.len();
        let mut reply = taking.finish();
        self.tell_delta(reply.text.get(before..).unwrap_or_default());
        match ended {
            Ok(()) => {
                if reply.stop.is_withheld() {
                    reply.calls.clear();
                }
                name_apart(&mut reply.calls);
                Ok(reply)
            }
            Err(failure) => Err((reply, failure)),
        }
    }

    async fn take_in(
        &self,
        model: &ModelRef,
        request: ChatRequest,
        taking: &mut Taking,
    ) -> Result<(), TurnFailure> {
        let cancel = &self.turn.cancel;
        let asked = cancel
            .run_until_cancelled(self.inner.models.chat(model, request))
            .await;
        let stream = asked.ok_or(TurnFailure::Stopped)??;
        let mut pieces = stream.ready_chunks(PIECES_AT_ONCE);
        loop {
            let batch = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(TurnFailure::Stopped),
                batch = pieces.next() => match batch {
                    None => return Ok(()),
                    Some(batch) => batch,
                },
                // After the pieces: an answer that arrives at once is stored once.
                () = sleep_until(taking.save_at), if taking.saved < taking.reply.text.len() => {
                    let saving = self.save_partial(model, &taking.reply.text);
                    cancel.run_until_cancelled(saving).await;
                    taking.saved = taking.reply.text.len();
                    taking.save_at = Instant::now() + SAVE_EVERY;
                    continue;
                }
            };
            let before = taking.reply.text.len();
            let taken = batch.into_iter().try_for_each(|chunk| {
                taking.take(chunk?);
                Ok::<_, ModelError>(())
            });
            self.tell_delta(taking.reply.text.get(before..).unwrap_or_default());
            taken?;
        }
    }

    fn tell_delta(&self, text: &str) {
        let lanes = &self.inner.lanes;
        if !text.is_empty() {
            self.inner.tell(AgentEvent::Delta(Arc::new(Delta {
                session: self.turn.session.clone(),
                turn_id: self.turn.id.clone(),
                text: text.to_owned(),
                at: lanes.add_to_answer(&self.turn.session, text),
            })));
        }
    }

    /// Keeps the partial answer of a turn that ends early. Calls are left out: they may be incomplete and
    /// will not be made.
    fn keep(&mut self, setup: &Setup, mut said: Reply) {
        self.add_usage(said.usage);
        said.calls.clear();
        if !said.text.is_empty() {
            self.partial = Some(self.assistant_row(&setup.model, &said));
            self.text = said.text;
        }
    }
}

/// An answer that is being received.
struct Taking {
    filter: Option<Box<dyn AnswerFilter>>,
    reply: Reply,
    /// How much of the text is stored, in bytes, and when to store more.
    saved: usize,
    save_at: Instant,
}

impl Taking {
    fn take(&mut self, chunk: Chunk) {
        let reply = &mut self.reply;
        match (chunk, &mut self.filter) {
            (Chunk::Text(text), None) => reply.text.push_str(&text),
            (Chunk::Text(text), Some(filter)) => reply.text.push_str(&filter.push(&text)),
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
        // Some providers keep their own state in the id.
        id: clean(&call.id, 8192),
        name: clean(&call.name, 100),
        arguments: call.arguments,
    }
}

/// Makes call ids unique: some servers give every call the same id or none, and an answer must name its call.
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
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_answer_have_ids_of_their_own() {
        let call = |id: &str| {
            storable_call(ToolCall {
                id: id.to_owned(),
                name: "calc\n".to_owned(),
                arguments: "{}".to_owned(),
            })
        };
        let mut calls = vec![call("a"), call(""), call("a"), call("")];
        name_apart(&mut calls);
        let ids: HashSet<_> = calls.iter().map(|call| &call.id).collect();
        assert_eq!(ids.len(), 4, "{calls:?}");
        assert_eq!(
            (calls[0].id.as_str(), calls[0].name.as_str()),
            ("a", "calc")
        );
    }
}
