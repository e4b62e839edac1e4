//! Starts a turn: finds or creates the session, stores the text and queues the turn in its lane. `turn` runs
//! it.

mod session;

use crate::error::AgentsError;
use crate::event::AgentEvent;
use crate::handle::{Agents, Inner};
use crate::lanes::LaneReservation;
use crate::line::is_line;
use crate::message::Message;
use crate::send::{SendRequest, Sent, Target, TurnReport};
use crate::turn::queued::Turn;
use crate::{attachments, turn};
use futures_util::future::BoxFuture;
use gatehouse_domain::Fence;
use gatehouse_domain::id::TurnId;
use gatehouse_domain::trace::{self};
use gatehouse_store::inherit;
pub(crate) use session::LocatedSession;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The longest text of a request.
pub(crate) const MAX_TEXT_BYTES: usize = 1 << 20;
pub(crate) const MAX_MODEL_CHARACTERS: usize = 200;
const MAX_KEY_CHARACTERS: usize = 1000;
/// The number of characters of a text that become the label of its session.
const LABEL_OF_TEXT_CHARACTERS: usize = 60;

impl Agents {
    /// Accepts a text. Events report the progress. The turn runs even if the caller disconnects.
    pub async fn send(&self, request: SendRequest) -> Result<Sent, AgentsError> {
        self.accept(request, None).await
    }

    /// Accepts a text and waits for the end of its turn. An error means that the turn did not start. If the turn
    /// started and failed, the report contains the error.
    pub async fn send_sync(&self, request: SendRequest) -> Result<TurnReport, AgentsError> {
        self.send_reported(request).await?.await
    }

    /// Does the same as [`Self::send_sync`], but returns when the text is accepted. The returned future waits for the
    /// end of the turn.
    pub async fn send_reported(
        &self,
        request: SendRequest,
    ) -> Result<impl Future<Output = Result<TurnReport, AgentsError>> + Send + use<>, AgentsError>
    {
        Ok(self.send_followed(request).await?.1)
    }

    /// Does the same as [`Self::send_reported`], and also returns the result of [`Self::send`].
    pub async fn send_followed(
        &self,
        request: SendRequest,
    ) -> Result<
        (
            Sent,
            impl Future<Output = Result<TurnReport, AgentsError>> + Send + use<>,
        ),
        AgentsError,
    > {
        let (report, ended) = oneshot::channel();
        let sent = self.accept(request, Some(report)).await?;
        // The sender is dropped without a report only when the process ends.
        let ended = async { ended.await.map_err(|_| AgentsError::ShuttingDown) };
        Ok((sent, ended))
    }

    /// Runs in its own task, so the turn of a stored text runs even if the caller disconnects.
    pub(crate) async fn accept(
        &self,
        request: SendRequest,
        report: Option<oneshot::Sender<TurnReport>>,
    ) -> Result<Sent, AgentsError> {
        if self.0.stopping.is_cancelled() {
            return Err(AgentsError::ShuttingDown);
        }
        check(&request)?;
        let begin = begin(Arc::clone(&self.0), request, report);
        let begin = Fence::current().over(inherit(begin));
        let accepted = trace::within(trace::current(), begin);
        let accepted = self.0.tasks.spawn(accepted);
        accepted.await.unwrap_or(Err(AgentsError::ShuttingDown))
    }
}

fn check(request: &SendRequest) -> Result<(), AgentsError> {
    let refuse = |field, reason: &str| Err(AgentsError::invalid(field, reason));
    attachments::check(&request.attachments, request.new_files.len())?;
    let has_files = !request.attachments.is_empty() || !request.new_files.is_empty();
    if request.text.trim().is_empty() && !has_files {
        return refuse("text", "must not be empty");
    }
    if request.text.len() > MAX_TEXT_BYTES {
        return refuse("text", "at most 1 MiB");
    }
    if let Some(model) = &request.model
        && !is_line(model, MAX_MODEL_CHARACTERS)
    {
        return refuse("model", "one line of 1 to 200 characters");
    }
    if let Target::Keyed { key, .. } | Target::Person { key, .. } = &request.session
        && !is_line(key, MAX_KEY_CHARACTERS)
    {
        return refuse("session_key", "one line of 1 to 1000 characters");
    }
    Ok(())
}

fn begin(
    inner: Arc<Inner>,
    request: SendRequest,
    report: Option<oneshot::Sender<TurnReport>>,
) -> BoxFuture<'static, Result<Sent, AgentsError>> {
    Box::pin(async move {
        let session = inner.locate(&request).await?;
        inner.check_vault(&request, &session.id).await?;
        inner.check_budgets(&request, &session.id).await?;
        let place = inner.lanes.promise(&session.id)?;
        // Turns are numbered in the order in which they wait.
        let _in_order = place.entrance.lock().await;
        let id = TurnId::generate(&*inner.clock, &*inner.random);
        let stored = inner.store_text(&request, session, id).await?;
        let turn = Turn {
            session: stored.message.session_id.clone(),
            session_key: stored.session_key.clone(),
            id: stored.message.turn_id.clone(),
            number: stored.message.turn_no,
            behind_other_nodes: stored.behind_other_nodes,
            agent: stored.agent,
            was_spoken: stored.message.audio.is_some(),
            is_one_off: matches!(request.session, Target::OneOff(_)),
            model: request.model,
            system_suffix: request.system_suffix,
            origin: request.origin,
            actor: request.actor,
            cancel: request.cancel.child_token(),
            speech: request.speech,
            caller: trace::current().map(|span| span.context()),
            fence: Fence::current(),
            report,
        };
        let message = Message::from(stored.message);
        let (session, turn_id) = (message.session.clone(), message.turn_id.clone());
        inner.publish(AgentEvent::Message(Arc::new(message)));
        Ok(Sent {
            session,
            session_key: stored.session_key,
            turn_id,
            position: stored.behind_other_nodes + enter(&inner, &place, turn),
        })
    })
}

/// Queues the turn. Returns the number of turns before it.
fn enter(inner: &Arc<Inner>, _place: &LaneReservation<'_>, turn: Turn) -> usize {
    let session = turn.session.clone();
    if inner.stopping.is_cancelled() {
        turn.cancel.cancel();
    }
    let pushed = inner.lanes.push(turn);
    if !pushed.is_served {
        let inner = Arc::clone(inner);
        inner
            .tasks
            .clone()
            .spawn(async move { turn::serve(&inner, &session).await });
    }
    pushed.position
}

/// Makes a session label from the first line of a text.
pub(crate) fn label_of_text(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    label_of(first, LABEL_OF_TEXT_CHARACTERS)
}

/// Makes a valid label: removes control characters and cuts the text to `most` characters.
fn label_of(text: &str, most: usize) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    let clean = clean.trim();
    let mut label: String = clean.chars().take(most).collect();
    if label.len() < clean.len() {
        label.pop();
        label.push('…');
    }
    if label.is_empty() {
        label.push('…');
    }
    label
}

#[cfg(test)]
mod tests;
