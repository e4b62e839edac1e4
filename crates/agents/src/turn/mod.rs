//! Runs a turn: asks a model, runs the tools that it calls, and asks again until there is an answer, or until
//! the steps are used up. Then the model gives a last answer without tools.

mod approve;
mod ask;
mod call;
mod conclude;
mod failure;
mod fallback;
mod finish;
pub(crate) mod left_out;
mod messages;
mod offer;
pub(crate) mod queued;
mod refused;
mod repeats;
mod reply;
mod returned_files;
mod running;
mod set_up;
mod speech;
mod spending;
mod summarise;

use crate::handle::{Inner, LAST_WORDS};
use crate::message::ToolCallRecord;
use crate::stop::Stop;

use failure::TurnFailure;
use futures_util::FutureExt;
use gatehouse_domain::id::SessionId;
use gatehouse_domain::trace::{ActiveSpan, SpanKind};
use gatehouse_models::Usage;
use queued::Turn;
use running::{Running, Setup, Spending};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs the turns of a lane one after another until none waits.
pub(crate) async fn serve(inner: &Arc<Inner>, session: &SessionId) {
    loop {
        if let Some(turn) = inner.lanes.next_behind_other_nodes(session) {
            inner.wait_for_other_nodes(&turn).await;
        }
        let Some(turn) = inner.lanes.next(session) else {
            return;
        };
        Box::pin(run(inner, turn)).await;
    }
}

async fn run(inner: &Arc<Inner>, mut turn: Turn) {
    let began = inner.clock.monotonic_ms();
    let report = turn.report.take();
    let nothing_before = CancellationToken::new();
    nothing_before.cancel();
    let mut running = Running {
        inner,
        turn,
        usage: Usage::default(),
        spending: Spending::default(),
        actions: Vec::new(),
        text: String::new(),
        stop: Stop::End,
        error: None,
        partial: None,
        concluded: None,
        is_out_of_steps: false,
        are_tools_too_long: false,
        speaking: None,
        spoken_before: nothing_before,
        repeats: Mutex::default(),
        limit: None,
    };
    // A panic ends one turn, not the lane.
    let limit = inner.settings.load().turn_timeout;
    let cancel = running.turn.cancel.clone();
    let mut span = running.begin_span();
    let fence = running.turn.fence.clone();
    let answer = Box::pin(fence.over(span.run(running.answer())));
    let answer = AssertUnwindSafe(answer).catch_unwind();
    let (ended, is_late) = within(limit, &cancel, answer).await;
    let failure = match ended {
        Some(Ok(Ok(()))) => None,
        None | Some(Ok(Err(TurnFailure::Stopped))) if is_late => Some(TurnFailure::TimedOut(limit)),
        None => Some(TurnFailure::Stopped),
        Some(Ok(Err(failure))) => Some(failure),
        Some(Err(_panic)) => Some(TurnFailure::Panicked),
    };
    let duration_ms = inner.clock.monotonic_ms().saturating_sub(began);
    let outcome = failure.as_ref().map_or("ok", TurnFailure::outcome);
    count(outcome, duration_ms);
    span.set("gatehouse.turn.outcome", outcome);
    if failure.is_some() {
        span.fail(outcome);
    }
    running.end_span(span);
    let cancelled = matches!(failure, Some(TurnFailure::Stopped));
    if let Some(failure) = failure {
        running.fail(failure).await;
    }
    running.store_rest().await;
    if running.turn.is_one_off {
        inner.delete_one_off(&running.turn.session).await;
    }
    running.finish(report, cancelled, duration_ms);
}

/// Waits for an answer. After `limit`, the turn is canceled. If it has not ended [`LAST_WORDS`] later, it is dropped.
/// Also returns whether the limit was reached.
async fn within<T>(
    limit: Duration,
    cancel: &CancellationToken,
    answer: impl Future<Output = T>,
) -> (Option<T>, bool) {
    let mut answer = std::pin::pin!(answer);
    if let Ok(ended) = tokio::time::timeout(limit, &mut answer).await {
        return (Some(ended), false);
    }
    cancel.cancel();
    (tokio::time::timeout(LAST_WORDS, answer).await.ok(), true)
}

#[expect(clippy::cast_precision_loss, reason = "a duration in a histogram")]
fn count(outcome: &'static str, duration_ms: u64) {
    metrics::counter!("agent_turns_total", "outcome" => outcome).increment(1);
    metrics::histogram!("agent_turn_duration_seconds").record(duration_ms as f64 / 1000.0);
}

impl Running<'_> {
    fn begin_span(&self) -> ActiveSpan {
        let turn = &self.turn;
        let tracer = &self.inner.tracer;
        let mut span = tracer.begin("agent.turn", SpanKind::Internal, turn.caller);
        span.set("gen_ai.operation.name", "invoke_agent");
        span.set("gatehouse.turn.id", turn.id.as_str());
        span.set("gatehouse.session.id", turn.session.as_str());
        span.set("gatehouse.turn.origin", turn.origin.as_str());
        span
    }

    async fn answer(&mut self) -> Result<(), TurnFailure> {
        if self.turn.cancel.is_cancelled() {
            return Err(TurnFailure::Stopped);
        }
        let mut setup = self.set_up().await?;
        let steps = setup.agent.config.max_turns;
        for step in 1..=steps {
            let mut reply = self.ask(&mut setup).await?;
            if reply.calls.is_empty() {
                return self.conclude(setup, reply).await;
            }
            let calls: Vec<ToolCallRecord> = reply.calls.clone();
            let row = self.assistant_row(&setup.model, &reply);
            let text = row.content.clone();
            self.say(&mut setup.conversation, row).await?;
            drop(self.end_speech(&setup.agent, &mut reply, text));
            self.call_all(&mut setup, calls, step == steps).await?;
        }
        self.is_out_of_steps = true;
        let mut reply = self.ask(&mut setup).await?;
        reply.calls.clear();
        // If the answer was cut or withheld, that reason takes precedence.
        if reply.stop == Stop::End {
            reply.stop = Stop::ToolLimit;
        }
        self.conclude(setup, reply).await
    }

    fn add_usage(&mut self, usage: Usage) {
        let sum = &mut self.usage;
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        sum.cached_tokens = sum.cached_tokens.saturating_add(usage.cached_tokens);
        sum.reasoning_tokens = sum.reasoning_tokens.saturating_add(usage.reasoning_tokens);
    }
}
