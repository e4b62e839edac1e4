//! The end of an answer: it is stored, spoken if there is a speaker, and published once, with its audio.

use super::ask::Reply;
use super::failure::TurnFailure;
use super::{Running, Setup};
use crate::event::AgentEvent;
use crate::message::Message;
use crate::send::Origin;
use crate::speaker::{Answer, Marks, Speaker};
use futures_util::FutureExt;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::ChatMessageRow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

impl Running<'_> {
    /// The voice for this turn's answers. Turns started by a webhook are not spoken.
    pub(super) fn speaker(&self) -> Option<&Arc<dyn Speaker>> {
        let is_chat = matches!(self.turn.origin, Origin::Chat);
        self.inner.speaker.get().filter(|_| is_chat)
    }

    /// Stores the final answer first, so that its text is never lost, then speaks and publishes it. A failure
    /// to speak does not fail the turn.
    pub(super) async fn conclude(&mut self, setup: Setup, reply: Reply) -> Result<(), TurnFailure> {
        let row = ChatMessageRow {
            stop: Some(reply.stop.as_str().to_owned()),
            ..self.assistant_row(&setup.model, &reply)
        };
        let mut row = self.write(row).await?;
        self.stop = reply.stop;
        self.concluded = Some(!reply.text.trim().is_empty());
        match self.speak(setup, &row, reply.marks).await {
            Ok(audio) => row.audio = audio,
            Err(problem) => {
                tracing::warn!(
                    turn = %self.turn.id,
                    code = problem.code.name(),
                    reason = problem.message,
                    "an answer could not be spoken"
                );
                self.audio_error = Some(problem);
            }
        }
        self.audio.clone_from(&row.audio);
        self.inner
            .publish(AgentEvent::Message(Arc::new(Message::from(row))));
        Ok(())
    }

    /// Speaks the answer. Returns the id of its audio, which is already in the answer's row.
    async fn speak(
        &self,
        setup: Setup,
        row: &ChatMessageRow,
        marks: Option<Marks>,
    ) -> Result<Option<String>, Problem> {
        let (Some(speaker), Some(marks)) = (self.speaker(), marks) else {
            return Ok(None);
        };
        let answer = Answer {
            session: self.turn.session.clone(),
            turn: self.turn.id.clone(),
            agent: setup.agent,
            text: row.content.clone(),
            marks,
            user_spoke: self.turn.was_spoken,
            cancel: self.turn.cancel.child_token(),
        };
        // However this ends, cancel work that the speaker started elsewhere.
        let _ends = answer.cancel.clone().drop_guard();
        // A panic in the speaker must not fail the turn.
        let speaking = AssertUnwindSafe(async { speaker.spoken(&answer).await }).catch_unwind();
        let limited = tokio::time::timeout(speaker.time_limit(), speaking);
        let audio = match self.turn.cancel.run_until_cancelled(limited).await {
            // The turn was stopped: say nothing more.
            None => return Ok(None),
            Some(Err(_elapsed)) => {
                let message = "Speaking the answer took too long.";
                return Err(Problem::new(ErrorCode::Timeout, message));
            }
            Some(Ok(Err(_panic))) => return Err(Problem::internal()),
            Some(Ok(Ok(spoken))) => spoken?,
        };
        match audio {
            Some(audio) => self.link(row, audio).await,
            None => Ok(None),
        }
    }

    /// Writes the audio's id into the answer's row; `None` when the session no longer exists.
    async fn link(&self, row: &ChatMessageRow, audio: String) -> Result<Option<String>, Problem> {
        let (session, message) = (row.session_id.clone(), row.id.clone());
        let write = self.inner.store.write(move |conn| {
            Box::pin(async move {
                let is_there = conn
                    .update_chat_message_audio(&session, &message, &audio)
                    .await?;
                Ok::<_, gatehouse_store::StoreError>(is_there.then_some(audio))
            })
        });
        Ok(write.await?)
    }
}
