//! The speech of an answer: it begins while the model writes, and ends after the turn.

use super::reply::{EndedSpeech, Reply, Speech};
use super::running::Running;
use crate::agent::Agent;
use crate::handle::Inner;
use crate::message::Failure;
use crate::send::Origin;
use crate::speaker::{Answer, AnswerFilter, AnswerStart, Speaker};
use futures_util::FutureExt;
use gatehouse_domain::id::{MessageId, SessionId};
use gatehouse_domain::{ErrorCode, Problem, trace};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::task::JoinHandle;

impl Running<'_> {
    /// Returns the speaker for this turn's answers. A turn that a webhook started is not spoken.
    pub(super) fn speaker(&self) -> Option<&Arc<dyn Speaker>> {
        let is_chat = matches!(self.turn.origin, Origin::Chat);
        self.inner.speaker.get().filter(|_| is_chat)
    }

    /// Creates the filter of an answer. If the answer may be spoken, also starts its speech, which follows the speech
    /// of the turn's earlier answers.
    pub(super) fn begin_speech(
        &self,
        agent: &Agent,
    ) -> (Option<Box<dyn AnswerFilter>>, Option<Speech>) {
        let inner = self.inner;
        let Some(speaker) = self.speaker() else {
            let filter = inner.speaker.get().map(|speaker| speaker.begin(None));
            return (filter, None);
        };
        let message = MessageId::generate(&*inner.clock, &*inner.random);
        let output = self.turn.speech.clone();
        let session = self.turn.session.clone();
        let parts = inner.audio_parts(session, message.clone(), output.is_none());
        let speech = Speech {
            message: message.clone(),
            parts: Arc::clone(&parts),
            cancel: self.turn.cancel.child_token(),
        };
        let mut filter = speaker.begin(Some(AnswerStart {
            session: self.turn.session.clone(),
            message,
            agent: agent.clone(),
            user_spoke: self.turn.was_spoken,
            output,
            parts,
        }));
        if let Some(work) = filter.work() {
            let (cancel, before) = (speech.cancel.clone(), self.spoken_before.clone());
            let working = trace::within(trace::current(), async move {
                before.cancelled().await;
                work.await;
            });
            inner
                .tasks
                .spawn(async move { cancel.run_until_cancelled(working).await });
        }
        (Some(filter), Some(speech))
    }

    /// Continues the speech of a complete answer in a separate task, after the speech of the turn's earlier answers.
    /// The turn does not wait for it. Returns `None` if the answer is not spoken.
    pub(super) fn end_speech(
        &mut self,
        agent: &Agent,
        reply: &mut Reply,
        text: String,
    ) -> Option<JoinHandle<EndedSpeech>> {
        let (speech, marks) = (reply.speech.take()?, reply.marks.take()?);
        if reply.stop.is_withheld() || text.trim().is_empty() {
            return None;
        }
        let speaker = self.speaker()?;
        let answer = Answer {
            session: self.turn.session.clone(),
            turn: self.turn.id.clone(),
            agent: agent.clone(),
            text,
            marks,
            user_spoke: self.turn.was_spoken,
            cancel: speech.cancel.clone(),
        };
        let (inner, speaker) = (Arc::clone(self.inner), Arc::clone(speaker));
        let (session, cancel) = (answer.session.clone(), speech.cancel.clone());
        inner.speeches.add(session, cancel.clone());
        let before = std::mem::replace(&mut self.spoken_before, cancel);
        let speaking = inner.tasks.clone().spawn(async move {
            let waiting = before.cancelled();
            speech.cancel.run_until_cancelled(waiting).await;
            finish(&inner, &*speaker, answer, speech).await
        });
        Some(speaking)
    }
}

/// Waits for the end of the speech and publishes it.
async fn finish(
    inner: &Inner,
    speaker: &dyn Speaker,
    answer: Answer,
    speech: Speech,
) -> EndedSpeech {
    match speak(inner, speaker, &answer, &speech).await {
        Ok(audio) => {
            speech.parts.close(audio.clone(), None);
            EndedSpeech {
                audio,
                problem: None,
            }
        }
        Err(problem) => {
            tracing::warn!(
                turn = %answer.turn,
                code = problem.code.name(),
                reason = problem.message,
                "an answer could not be spoken"
            );
            speech.parts.close(None, Some(Failure(problem.clone())));
            EndedSpeech {
                audio: None,
                problem: Some(problem),
            }
        }
    }
}

/// Returns the ID of the whole audio. The answer's row already contains this ID.
async fn speak(
    inner: &Inner,
    speaker: &dyn Speaker,
    answer: &Answer,
    speech: &Speech,
) -> Result<Option<String>, Problem> {
    // A panic in the speaker must not be lost.
    let speaking = AssertUnwindSafe(async { speaker.spoken(answer).await }).catch_unwind();
    let limited = tokio::time::timeout(speaker.time_limit(), speaking);
    let audio = match speech.cancel.run_until_cancelled(limited).await {
        // The speech was stopped.
        None => return Ok(None),
        Some(Err(_elapsed)) => {
            let message = "Speaking the answer took too long.";
            return Err(Problem::new(ErrorCode::Timeout, message));
        }
        Some(Ok(Err(_panic))) => return Err(Problem::internal()),
        Some(Ok(Ok(spoken))) => spoken?,
    };
    match audio {
        Some(audio) => link(inner, &answer.session, &speech.message, audio).await,
        None => Ok(None),
    }
}

/// Writes the audio's ID into the answer's row. Returns `None` if the session no longer exists.
async fn link(
    inner: &Inner,
    session: &SessionId,
    message: &MessageId,
    audio: String,
) -> Result<Option<String>, Problem> {
    let (session, message) = (session.clone(), message.clone());
    let write = inner.store.write(move |conn| {
        Box::pin(async move {
            let is_there = conn
                .update_chat_message_audio(&session, &message, &audio)
                .await?;
            Ok::<_, gatehouse_store::StoreError>(is_there.then_some(audio))
        })
    });
    Ok(write.await?)
}
