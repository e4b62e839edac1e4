//! Runs a turn: asks a model, runs the tools that it calls, and asks again until there is an answer, or until
//! the steps are used up. Then the model gives a last answer without tools.

mod approve;
mod ask;
mod call;
mod conclude;
mod failure;
mod fallback;
pub(crate) mod left_out;
mod messages;
mod offer;
pub(crate) mod queued;
mod refused;
mod repeats;
mod reply;
mod returned_files;
mod running;
mod speech;
mod spending;
mod summarise;

use crate::agent::{Agent, DEFAULT_AGENT};
use crate::context::{Conversation, Summary};
use crate::event::{AgentEvent, Answered, Done};
use crate::handle::{Inner, LAST_WORDS};
use crate::message::{Failure, Role, ToolCallRecord};
use crate::origin::MessageOrigin;
use crate::policy::Permit;
use crate::prompt::{self, Partner};
use crate::send::{Origin, TurnReport};
use crate::session::Source;
use crate::stop::Stop;
use crate::taint::HasRead;

use failure::TurnFailure;
use futures_util::FutureExt;
use gatehouse_domain::ErrorCode;
use gatehouse_domain::id::SessionId;
use gatehouse_domain::trace::{ActiveSpan, SpanKind};
use gatehouse_models::Usage;
use gatehouse_store::{ChatMessageRow, ChatSessionRow};
use queued::Turn;
use running::{Running, Setup, Spending};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How many messages are read. Older ones that no summary covers are left out.
const MAX_MESSAGES: i64 = 2000;

/// Runs the turns of a lane one after the other until none waits.
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

/// Waits for an answer. After `limit` the turn is cancelled; if it has not ended [`LAST_WORDS`] later, it is
/// dropped. Also returns whether the limit was reached.
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

/// How much of an answer a notification can show.
const ANSWER_CHARS: usize = 200;

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

    fn end_span(&self, mut span: ActiveSpan) {
        span.set("gen_ai.usage.input_tokens", self.usage.input_tokens);
        span.set("gen_ai.usage.output_tokens", self.usage.output_tokens);
        span.set("gatehouse.turn.tool_calls", self.actions.len());
    }

    /// Notes why the turn ended early. The reason is stored unless the answer already is.
    async fn fail(&mut self, failure: TurnFailure) {
        self.stop = failure.stop(self.inner.stopping.is_cancelled());
        let is_gone = matches!(failure, TurnFailure::SessionGone);
        let mut problem = failure.into_problem();
        if self.partial.is_some() && problem.code == ErrorCode::ProviderFailed {
            problem.message.push_str(" The answer so far is kept.");
        }
        tracing::info!(turn = %self.turn.id, code = problem.code.name(), "a turn ended early");
        if self.concluded.is_none() && !is_gone {
            self.end_early(self.stop, &problem).await;
        }
        self.error = Some(problem);
    }

    /// Publishes the end of the turn, and sends the report to a waiting caller.
    fn finish(
        self,
        report: Option<tokio::sync::oneshot::Sender<TurnReport>>,
        cancelled: bool,
        duration_ms: u64,
    ) {
        // A listener that queries the session after this event must not see it as running.
        self.inner.lanes.end_running(&self.turn.session);
        self.inner.publish(AgentEvent::Done(Arc::new(Done {
            session: self.turn.session.clone(),
            turn_id: self.turn.id.clone(),
            usage: self.usage,
            stop: self.stop,
            error: self.error.clone().map(Failure),
            answered: Some(Answered {
                caller: self.turn.actor.name.clone(),
                text: self.text.chars().take(ANSWER_CHARS).collect(),
            }),
        })));
        let Some(report) = report else { return };
        let ended = TurnReport {
            session: self.turn.session,
            session_key: self.turn.session_key,
            turn_id: self.turn.id,
            text: self.text,
            stop: self.stop,
            has_answer: self.concluded == Some(true),
            audio: None,
            audio_error: None,
            usage: self.usage,
            duration_ms,
            actions: self.actions,
            error: self.error,
            cancelled,
        };
        // The waiting caller may have disconnected; the turn still counts.
        match self.speaking {
            None => drop(report.send(ended)),
            Some(speaking) => {
                // The caller waits for the audio; the lane does not.
                self.inner.tasks.spawn(async move {
                    let speech = speaking.await.unwrap_or_default();
                    drop(report.send(TurnReport {
                        audio: speech.audio,
                        audio_error: speech.problem,
                        ..ended
                    }));
                });
            }
        }
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
        // That the answer was cut or withheld matters more.
        if reply.stop == Stop::End {
            reply.stop = Stop::ToolLimit;
        }
        self.conclude(setup, reply).await
    }

    async fn set_up(&self) -> Result<Setup, TurnFailure> {
        let (session, agent) = self.read_session().await?;
        let turn = &self.turn;
        let rows = self.read_rows(&session).await?;
        let has_gap = rows.len() >= usize::try_from(MAX_MESSAGES).unwrap_or(usize::MAX);
        let config = &agent.config;
        let mut fallback = VecDeque::from(config.fallback.clone());
        let model = self.choose_model(config, &mut fallback).await?;
        let has_files = rows.iter().any(|row| row.attachments.is_some());
        let learning = self.inner.models.learn_facts(&model, has_files);
        turn.cancel
            .run_until_cancelled(learning)
            .await
            .ok_or(TurnFailure::Stopped)?;
        let mut files = self.inner.read_files(&rows).await?;
        files.sees = self.inner.models.facts(&model).vision == Some(true);
        let source = Source::of(&session.source);
        let has_sender_text =
            session.tainted && matches!(source, Source::Webhook | Source::Channel);
        let summary = session.summary.map(|text| Summary {
            text,
            origin: MessageOrigin::of(&session.summary_origin),
        });
        Ok(Setup {
            fallback,
            permit: Permit::of(&turn.origin, has_sender_text, &config.tools),
            read: HasRead {
                strangers: session.tainted,
                private: session.private,
            },
            has_sender_text,
            is_of_channel: source == Source::Channel,
            conversation: Conversation::new(summary, rows, turn.number, model.to_string(), has_gap)
                .with_files(files),
            agent,
            model,
        })
    }

    async fn read_session(&self) -> Result<(ChatSessionRow, Agent), TurnFailure> {
        let (id, agent) = (self.turn.session.clone(), self.turn.agent.clone());
        let read = self.inner.store.read(move |conn| {
            Box::pin(async move {
                let session = conn.find_chat_session(&id).await?;
                let row = match conn.find_agent(&agent).await? {
                    Some(row) => Some(row),
                    None => conn.find_agent(DEFAULT_AGENT).await?,
                };
                Ok::<_, TurnFailure>((session, row.map(Agent::of).transpose()?))
            })
        });
        match read.await? {
            (Some(session), Some(agent)) => Ok((session, agent)),
            (None, _) => Err(TurnFailure::SessionGone),
            (_, None) => Err(TurnFailure::NoAgent),
        }
    }

    async fn read_rows(
        &self,
        session: &ChatSessionRow,
    ) -> Result<Vec<ChatMessageRow>, TurnFailure> {
        // Another node may have run and summarized a later turn before this one.
        let after = session.summary_turn.min(self.turn.number - 1);
        let (id, turns) = (session.id.clone(), (after, self.turn.number));
        let read = self.inner.store.read(move |conn| {
            Box::pin(async move { conn.list_chat_context(&id, turns, MAX_MESSAGES).await })
        });
        let mut rows: Vec<ChatMessageRow> = read.await?;
        // Leave out the messages of an earlier attempt of the same delivery.
        rows.retain(|row| row.turn_no < self.turn.number || row.role == Role::User.as_str());
        refused::leave_out(&mut rows, self.turn.number);
        if rows.is_empty() {
            return Err(TurnFailure::SessionGone);
        }
        Ok(rows)
    }

    /// `has_tools`: tools are offered. Earlier tool output is explained even when none are offered now.
    fn system_prompt(&self, setup: &Setup, has_tools: bool) -> Option<String> {
        let has_sender_text = self.turn.origin.is_from_sender() || setup.has_sender_text;
        let rule = has_sender_text.then_some(if setup.is_of_channel {
            prompt::GUEST_DATA
        } else {
            prompt::WEBHOOK_DATA
        });
        let hint = self.speaker().and_then(|speaker| speaker.hint());
        let frame = self.frame(&setup.agent);
        let added = [
            setup.agent.config.system_prompt.as_deref(),
            self.turn.system_suffix.as_deref(),
            hint.as_deref(),
            Some(&frame),
        ];
        prompt::system(
            added,
            rule,
            has_tools || setup.conversation.has_tool_output(),
            setup.conversation.has_files(),
            setup.conversation.summary().is_some(),
        )
    }

    /// The agent's name, the date, and who speaks. Has no time of day, so a provider can cache the prompt.
    fn frame(&self, agent: &Agent) -> String {
        let (now, settings) = (self.inner.clock.now(), self.inner.settings.load());
        prompt::frame(
            &agent.name,
            &settings.zone.day(now),
            &settings.zone.name(now),
            match self.turn.origin {
                Origin::Chat | Origin::Api => Partner::Caller(&self.turn.actor.name),
                Origin::Webhook { .. } => Partner::Webhook(&self.turn.actor.name),
                Origin::Channel { written_by, .. } => Partner::Person {
                    channel: &self.turn.actor.name,
                    is_owner: written_by == MessageOrigin::Owner,
                },
            },
        )
    }

    fn add_usage(&mut self, usage: Usage) {
        let sum = &mut self.usage;
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        sum.cached_tokens = sum.cached_tokens.saturating_add(usage.cached_tokens);
        sum.reasoning_tokens = sum.reasoning_tokens.saturating_add(usage.reasoning_tokens);
    }
}
