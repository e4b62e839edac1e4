//! Spoken agent answers: removes the `[[tts]]` markers and speaks answers according to the settings, part by part,
//! while the model writes. This module decides whether to speak and in which voice. The agents crate runs the turns and
//! publishes the parts.

mod feed;
mod recording;
mod script;
#[cfg(test)]
mod tests;
mod work;

use crate::persona::Personas;
use crate::settings::AutoSpeak;
use crate::text::markup::MarkupFilter;
use crate::{Voice, VoiceError};
use feed::Feed;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Answer, AnswerFilter, AnswerStart, Filtered, Speaker};
use gatehouse_domain::Problem;
pub(crate) use script::{Script, Step};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::oneshot;
use work::Work;

/// The instruction to the model for choosing which parts are spoken.
const HINT: &str = "Your answers can be spoken aloud. To have an answer spoken, write [[tts]] in \
                    it. To have only a part of it spoken, write [[tts]] before that part and \
                    [[/tts]] after it. The marks are never shown.";

/// Maximum time to speak an answer after it is complete. Each part has its own limit.
const TIME_LIMIT: Duration = Duration::from_hours(1);

#[derive(Debug)]
struct AutoSpeaker(Voice);

impl Voice {
    /// Returns the speaker to register with the agents crate.
    pub fn auto_speaker(&self) -> Arc<dyn Speaker> {
        Arc::new(AutoSpeaker(self.clone()))
    }
}

impl Speaker for AutoSpeaker {
    fn begin(&self, start: Option<AnswerStart>) -> Box<dyn AnswerFilter> {
        let filter = MarkupFilter::new();
        let mode = start
            .as_ref()
            .and_then(|start| self.0.speaks_untagged(start));
        let (Some(start), Some(speaks_untagged)) = (start, mode) else {
            return Box::new(Marks {
                filter,
                live: None,
                work: None,
            });
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "holds no more than one answer, which the models crate bounds"
        )]
        let (steps, arriving) = mpsc::unbounded_channel();
        let (result, ended) = oneshot::channel();
        let work = Work::new(self.0.clone(), start, arriving);
        let work = async move {
            let ended = work.run().await;
            // The receiver is gone if the caller dropped the speech.
            drop(result.send(ended));
        };
        Box::new(Marks {
            filter,
            live: Some(Live {
                feed: Feed::new(speaks_untagged),
                steps,
                ended,
            }),
            work: Some(Box::pin(work)),
        })
    }

    fn spoken<'a>(&'a self, answer: &'a Answer) -> BoxFuture<'a, Result<Option<String>, Problem>> {
        Box::pin(async move { ended(answer).await.map_err(to_problem) })
    }

    fn time_limit(&self) -> Duration {
        TIME_LIMIT
    }

    fn hint(&self) -> Option<String> {
        let settings = &self.0.state().settings;
        let is_said = settings.tts.enabled && settings.speaking.auto == AutoSpeak::Tagged;
        is_said.then(|| HINT.to_owned())
    }
}

/// Removes the markers from an answer and passes its text to the speech task.
struct Marks {
    filter: MarkupFilter,
    live: Option<Live>,
    work: Option<BoxFuture<'static, ()>>,
}

/// An answer that is spoken while it arrives.
struct Live {
    feed: Feed,
    steps: UnboundedSender<Step>,
    ended: oneshot::Receiver<Result<Option<String>, VoiceError>>,
}

/// The speech of a complete answer. Dropping it without taking the result stops the speech.
struct Complete {
    steps: UnboundedSender<Step>,
    /// The last steps. They run only if the answer is not withheld.
    end: Vec<Step>,
    ended: oneshot::Receiver<Result<Option<String>, VoiceError>>,
}

impl AnswerFilter for Marks {
    fn push(&mut self, piece: &str) -> String {
        let shown = self.filter.push(piece);
        if let Some(live) = &mut self.live {
            for step in live.feed.take(&shown, self.filter.places()) {
                // The work has ended if speech failed.
                drop(live.steps.send(step));
            }
        }
        shown
    }

    fn work(&mut self) -> Option<BoxFuture<'static, ()>> {
        self.work.take()
    }

    fn finish(self: Box<Self>) -> Filtered {
        let (rest, places) = self.filter.finish_with_places();
        let complete = self.live.map(|live| Complete {
            end: live.feed.finish(&rest, &places),
            steps: live.steps,
            ended: live.ended,
        });
        Filtered {
            rest,
            marks: Box::new(Mutex::new(complete)),
        }
    }
}

/// Waits for the end of a complete answer's speech.
async fn ended(answer: &Answer) -> Result<Option<String>, VoiceError> {
    let complete = answer.marks.downcast_ref::<Mutex<Option<Complete>>>();
    let complete = complete.and_then(|complete| {
        let mut complete = complete.lock().unwrap_or_else(PoisonError::into_inner);
        complete.take()
    });
    let Some(Complete { steps, end, ended }) = complete else {
        return Ok(None);
    };
    for step in end {
        drop(steps.send(step));
    }
    // Stopped speech ends without a result.
    let lost = |_| {
        if answer.cancel.is_cancelled() {
            return Ok(None);
        }
        Err(VoiceError::Internal("the speech of an answer ended early"))
    };
    ended.await.unwrap_or_else(lost)
}

impl Voice {
    /// Returns whether all visible text is spoken, or only marked text. Returns `None` if the answer is not spoken.
    fn speaks_untagged(&self, start: &AnswerStart) -> Option<bool> {
        let settings = &self.state().settings;
        let mode = settings.speaking.auto;
        match mode {
            _ if !settings.tts.enabled => None,
            _ if start.output.is_some() => Some(true),
            AutoSpeak::Always => Some(true),
            AutoSpeak::Off => None,
            AutoSpeak::Inbound => start.user_spoke.then_some(true),
            AutoSpeak::Tagged => Some(false),
        }
    }

    /// Returns the persona that speaks an answer: the model's choice if the model may choose, otherwise the agent's
    /// persona, otherwise the active persona.
    async fn persona_of(
        &self,
        by_model: Option<&str>,
        by_agent: Option<&str>,
    ) -> Result<Option<String>, VoiceError> {
        let by_agent = first_known(self.personas(), by_agent).await?;
        let by_model = self.chosen_by_model(by_model, by_agent.as_deref()).await?;
        Ok(by_model.or(by_agent))
    }
}

/// Returns the agent's persona if it still exists. Without one, the active persona speaks.
async fn first_known(
    personas: &Personas,
    wanted: Option<&str>,
) -> Result<Option<String>, VoiceError> {
    match wanted {
        Some(id) if id == "none" || personas.find(id).await?.is_some() => Ok(Some(id.to_owned())),
        _ => Ok(None),
    }
}

/// Converts the error for the user. Logs internal errors with their cause.
fn to_problem(error: VoiceError) -> Problem {
    if let VoiceError::Store(_) | VoiceError::Io(_) | VoiceError::Internal(_) = &error {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "an answer could not be spoken");
    }
    error.into()
}
