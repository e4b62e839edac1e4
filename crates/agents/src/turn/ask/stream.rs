//! Reads a streamed answer, publishes and stores it.

use super::{Broken, name_apart, storable_call};
use crate::event::{AgentEvent, Delta};
use crate::speaker::AnswerFilter;
use crate::turn::{
    failure::TurnFailure,
    reply::Reply,
    running::{Running, Setup},
};
use futures_util::StreamExt;
use gatehouse_models::{ChatRequest, Chunk, ModelError, ModelRef};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The maximum number of available chunks that are taken at a time.
const PIECES_AT_ONCE: usize = 64;

/// The shortest time between two deltas of an answer. Faster deltas would overflow the listeners' queues, and a socket
/// that falls behind is closed.
const SHOW_EVERY: Duration = Duration::from_millis(10);

/// How often an unfinished answer is stored.
const SAVE_EVERY: Duration = Duration::from_secs(1);

impl Running<'_> {
    /// Streams an answer. If this fails, also returns the part received so far.
    pub(super) async fn stream(
        &self,
        setup: &Setup,
        request: ChatRequest,
    ) -> Result<Reply, (Reply, Broken)> {
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
                // This branch is polled after the pieces, so an answer that arrives at once is
                // stored only once.
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

    /// Publishes the text that was not yet in a delta.
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

    /// Keeps the partial answer of a turn that ends early. Calls are omitted, because they may be incomplete and will
    /// not be run.
    pub(super) fn keep(&mut self, setup: &Setup, mut said: Reply, sent_tokens: u64) {
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

    pub(super) fn take(&mut self, chunk: Chunk) {
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

    /// Returns the answer so far, complete or not.
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
