//! Runs the tool calls of one answer. Any failure becomes the call's answer to the model, and the turn
//! continues.

mod answer;

use super::failure::{STOPPED, TurnFailure};
use super::repeats::{CallKey, Repeats};
use super::returned_files::Pictures;
use super::{Running, Setup};
use crate::attached_file::NewAttachment;
use crate::event::{AgentEvent, ToolProgress, ToolState};
use crate::input_check;
use crate::message::{Role, ToolCallRecord};
use crate::origin::MessageOrigin;
use crate::send::{Action, ActionStatus};
use crate::taint::Effect;
use crate::tool::{ReturnedFiles, Tool, ToolContext};
use answer::{Answer, SUMMARY_CHARACTERS, capped, too_often};
use futures_util::{FutureExt, StreamExt, stream};
use gatehouse_domain::trace::{self, SpanKind};
use gatehouse_store::ChatMessageRow;
use serde_json::Value;
use std::iter::{Enumerate, Peekable};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper limit for [`Tool::time_limit`].
const MAX_TIME: Duration = Duration::from_mins(10);
/// Maximum number of calls of one answer that are run.
const MAX_CALLS: usize = 32;
/// The maximum number of calls that run concurrently.
const MAX_AT_ONCE: usize = 8;
/// Calls with their position in the answer.
type Numbered = Enumerate<std::vec::IntoIter<ToolCallRecord>>;

/// A call whose result is stored.
struct Finished {
    action: Action,
    row: ChatMessageRow,
    origin: MessageOrigin,
    is_private: bool,
    pictures: Pictures,
}

impl Running<'_> {
    /// Runs the calls concurrently and stores their results in the order of the calls. In the last step, calls are
    /// answered but not run. If the turn is stopped, the results of finished calls are kept.
    pub(super) async fn call_all(
        &mut self,
        setup: &mut Setup,
        calls: Vec<ToolCallRecord>,
        is_last_step: bool,
    ) -> Result<(), TurnFailure> {
        let mut calls = calls.into_iter().enumerate().peekable();
        while calls.peek().is_some() {
            let together = self.together(setup, &mut calls);
            let mut done = Vec::new();
            let stored = self.call_and_store(setup, together, is_last_step, &mut done);
            let stored = stored.await;
            for Finished {
                action,
                row,
                origin,
                is_private,
                pictures,
            } in done
            {
                self.actions.push(action);
                setup.read.read(origin, is_private);
                setup.conversation.push(row);
                self.show_pictures(setup, pictures).await;
            }
            stored?;
        }
        Ok(())
    }

    /// Takes the next calls that can run concurrently. A call waits for the preceding calls if their results may change
    /// whether it needs approval.
    fn together(
        &self,
        setup: &Setup,
        calls: &mut Peekable<Numbered>,
    ) -> Vec<(usize, ToolCallRecord)> {
        let mut together = Vec::new();
        let before = setup.read;
        let mut may_have_read = before;
        while let Some((_, call)) = calls.peek() {
            if let Some(tool) = self.inner.tools.find(&call.name)
                && let Some(input) = read_input(&call.arguments)
            {
                let effect = tool.effect(&input, may_have_read.private);
                let is_tainted_first = may_have_read.strangers && !before.strangers;
                if effect != tool.effect(&input, before.private)
                    || (is_tainted_first && effect != Effect::None)
                {
                    break;
                }
                may_have_read.strangers |= tool.reads_strangers();
                may_have_read.private |= tool.returns_private(&input);
            }
            together.extend(calls.next());
        }
        together
    }

    async fn call_and_store(
        &self,
        setup: &Setup,
        calls: Vec<(usize, ToolCallRecord)>,
        is_last_step: bool,
        done: &mut Vec<Finished>,
    ) -> Result<(), TurnFailure> {
        let answers = calls.into_iter().map(|(number, call)| async move {
            let answer = if is_last_step {
                Ok(Answer::error(
                    "Not called: the turn has no more steps. Answer with what you have.",
                ))
            } else if number >= MAX_CALLS {
                Ok(Answer::error(format!(
                    "Not called: at most {MAX_CALLS} calls can be made at once. Make fewer calls."
                )))
            } else {
                self.call(setup, &call).await
            };
            (call, answer)
        });
        let mut answers = stream::iter(answers).buffered(MAX_AT_ONCE);
        let mut ended = Ok(());
        while let Some((call, answer)) = answers.next().await {
            match answer {
                Ok(answer) => {
                    let (origin, is_private) = (answer.origin, answer.is_private);
                    let (action, row, files) = self.finish_call(call, answer);
                    let (row, pictures) = self.store_answer(row, files).await?;
                    done.push(Finished {
                        action,
                        row,
                        origin,
                        is_private,
                        pictures,
                    });
                }
                Err(failure) => ended = Err(failure),
            }
        }
        ended
    }

    fn finish_call(
        &self,
        call: ToolCallRecord,
        answer: Answer,
    ) -> (Action, ChatMessageRow, Vec<NewAttachment>) {
        let Answer {
            status,
            text,
            origin,
            is_private,
            files,
        } = answer;
        let text = capped(text);
        let tool = self.inner.tools.find(&call.name);
        let audio = tool
            .as_ref()
            .filter(|_| status == ActionStatus::Ok)
            .and_then(|tool| tool.audio_of(&text));
        let label = if tool.is_some() {
            call.name.clone()
        } else {
            "unknown".to_owned()
        };
        metrics::counter!("agent_tool_calls_total", "tool" => label, "status" => status.as_str())
            .increment(1);
        let state = match status {
            ActionStatus::Ok => ToolState::Ok,
            ActionStatus::Error => ToolState::Error,
            ActionStatus::Denied => ToolState::Denied,
            ActionStatus::Expired => ToolState::Expired,
        };
        let summary = text.chars().take(SUMMARY_CHARACTERS).collect();
        self.publish_tool(&call, state, Some(summary));
        let action = Action {
            tool: call.name.clone(),
            status,
            at: self.inner.clock.now(),
        };
        let row = ChatMessageRow {
            tool_call_id: Some(call.id),
            tool_name: Some(call.name),
            tool_status: Some(status.as_str().to_owned()),
            audio,
            is_private,
            ..self.row(Role::Tool, origin, &text)
        };
        (action, row, files)
    }

    pub(super) fn publish_tool(
        &self,
        call: &ToolCallRecord,
        state: ToolState,
        summary: Option<String>,
    ) {
        self.inner.publish(AgentEvent::Tool(Arc::new(ToolProgress {
            session: self.turn.session.clone(),
            turn_id: self.turn.id.clone(),
            id: call.id.clone(),
            name: call.name.clone(),
            state,
            summary,
        })));
    }

    async fn call(&self, setup: &Setup, call: &ToolCallRecord) -> Result<Answer, TurnFailure> {
        let Some(input) = read_input(&call.arguments) else {
            let key = CallKey::of(&call.name, &Value::String(call.arguments.clone()));
            let text = "The arguments are not a JSON object.";
            return Ok(self.answer_once(key, Answer::error(text)));
        };
        let key = CallKey::of(&call.name, &input);
        let Some(tool) = self.inner.tools.find(&call.name) else {
            let answer = Answer::error("There is no tool with this name.");
            return Ok(self.answer_once(key, answer));
        };
        // The offered tools may have changed, and a model may call a tool that it was not offered.
        if !setup.permit.admits(&*tool) {
            let answer = Answer::denied("This tool is not allowed here.");
            return Ok(self.answer_once(key, answer));
        }
        if let Some(targets) = setup.permit.targets_of(&*tool)
            && !is_among(targets, tool.target(&input))
        {
            let text = format!("Not called. Allowed targets: {}.", targets.join(", "));
            return Ok(self.answer_once(key, Answer::denied(text)));
        }
        if let Err(reason) = input_check::check(&tool.parameters(), &input) {
            let answer = Answer::error(format!("The input is not valid: {reason}."));
            return Ok(self.answer_once(key, answer));
        }
        if self.repeats().is_too_often(key) {
            return Ok(too_often());
        }
        let verdict = self.approve(setup, &*tool, &input, call).await?;
        if let Some(answer) = Answer::unapproved(verdict) {
            self.repeats().note(key, &answer.text);
            return Ok(answer);
        }
        self.publish_tool(call, ToolState::Running, None);
        let mut span = trace::child("tool.call", SpanKind::Internal);
        span.set("gen_ai.operation.name", "execute_tool");
        span.set("gen_ai.tool.name", tool.name());
        let answer = span.run(self.run_tool(setup, call, &tool, input)).await;
        match &answer {
            Ok(Answer {
                status: ActionStatus::Ok,
                ..
            }) => {}
            Ok(answer) => span.fail(answer.status.as_str()),
            Err(_) => span.fail("stopped"),
        }
        drop(span);
        let answer = answer?;
        self.repeats().note(key, &answer.text);
        Ok(answer)
    }

    fn repeats(&self) -> MutexGuard<'_, Repeats> {
        self.repeats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an answer to a call that was not run, or a fixed refusal if the call already got
    /// this answer too often.
    fn answer_once(&self, key: CallKey, answer: Answer) -> Answer {
        let mut repeats = self.repeats();
        if repeats.is_too_often(key) {
            return too_often();
        }
        repeats.note(key, &answer.text);
        answer
    }

    async fn run_tool(
        &self,
        setup: &Setup,
        call: &ToolCallRecord,
        tool: &Arc<dyn Tool>,
        input: Value,
    ) -> Result<Answer, TurnFailure> {
        let context = ToolContext {
            session: self.turn.session.clone(),
            turn: self.turn.id.clone(),
            actor: self.turn.actor.clone(),
            ceiling: setup.permit.ceiling(),
            cancel: self.turn.cancel.child_token(),
            files: ReturnedFiles::default(),
        };
        let is_private = tool.returns_private(&input);
        // Dropping this guard stops work that the tool started elsewhere.
        let _ends = context.cancel.clone().drop_guard();
        let limit = tool.time_limit().min(MAX_TIME);
        // A tool may panic before it returns its future.
        let calling = AssertUnwindSafe(async { tool.call(&context, input).await }).catch_unwind();
        let calling = tokio::time::timeout(limit, calling);
        let Some(called) = self.turn.cancel.run_until_cancelled(calling).await else {
            let text = Some(STOPPED.to_owned());
            self.publish_tool(call, ToolState::Error, text);
            return Err(TurnFailure::Stopped);
        };
        let answer = |status, text| Answer {
            status,
            text,
            origin: if tool.reads_strangers() {
                MessageOrigin::Stranger
            } else {
                MessageOrigin::Configured
            },
            is_private,
            files: Vec::new(),
        };
        Ok(match called {
            Ok(Ok(Ok(text))) => answer(ActionStatus::Ok, text).with(context.files.take()),
            // A tool's error may contain text from an untrusted server.
            Ok(Ok(Err(error))) => answer(ActionStatus::Error, error.message),
            Ok(Err(_panic)) => {
                tracing::error!(tool = tool.name(), "a tool panicked");
                Answer::error("The tool failed.")
            }
            Err(_elapsed) => {
                let seconds = limit.as_secs_f64();
                Answer::error(format!("The tool did not respond within {seconds} s."))
            }
        })
    }
}

fn is_among(targets: &[String], target: Option<String>) -> bool {
    target.is_some_and(|target| targets.contains(&target))
}

/// Parses the input as an object. A call without arguments has `{}`. Empty arguments mean that the answer was cut.
fn read_input(arguments: &str) -> Option<Value> {
    let input = serde_json::from_str(arguments).ok();
    input.filter(Value::is_object)
}

#[cfg(test)]
mod tests;
