//! Passes a message to the agent.

use super::Answer;
use crate::VoiceError;
use crate::talk::{
    conversation::{Conversation, Step},
    output::Output,
    playback::Playback,
    utterances::Recording,
};
use futures_util::{FutureExt, future::BoxFuture};
use gatehouse_agents::{Agents, SendRequest, Sent, Target};
use gatehouse_domain::{Problem, trace::ActiveSpan};
use tokio_util::sync::CancellationToken;

impl Conversation {
    /// Begins a turn with an utterance.
    pub(in super::super) fn ask(
        &mut self,
        recording: Recording,
        text: String,
        mut span: ActiveSpan,
    ) {
        self.interrupt();
        let Recording { session, audio, .. } = recording;
        span.set("gatehouse.session.id", session.as_str());
        self.answers += 1;
        let number = self.answers;
        let cancel = CancellationToken::new();
        let (output, spoken) = Output::open(self.speech.clone());
        let request = SendRequest {
            session: Target::Existing(session.to_string()),
            audio: Some(audio.to_string()),
            agent: self.start.agent.clone(),
            model: self.start.model.clone(),
            cancel: cancel.clone(),
            speech: Some(output),
            ..SendRequest::new(text, self.parts.actor.clone())
        };
        let (agents, admit) = (self.parts.agents.clone(), self.parts.admit.clone());
        self.works.push(Box::pin(span.run(async move {
            let begun = match admit().await {
                Ok(()) => begin(&agents, request, number).await,
                Err(problem) => Err(problem),
            };
            Step::Began(number, begun)
        })));
        self.answer = Some(Answer {
            number,
            session,
            turn: None,
            cancel,
            spoken: Some(spoken),
            playback: Playback::default(),
            parts: 0,
            report: None,
            has_ended: false,
            heard: Vec::new(),
            span,
        });
    }

    pub(super) fn answer_with(&mut self, number: u64) -> Option<&mut Answer> {
        let all = self.answer.iter_mut().chain(&mut self.stopped);
        all.into_iter().find(|answer| answer.number == number)
    }
}

async fn begin(
    agents: &Agents,
    request: SendRequest,
    number: u64,
) -> Result<(Sent, BoxFuture<'static, Step>), Problem> {
    let followed = agents.send_followed(request).await;
    let (sent, ended) = followed.map_err(VoiceError::from)?;
    let ended = async move {
        let ended = ended.await.map_err(VoiceError::from);
        Step::Ended(number, ended.map(Box::new).map_err(Problem::from))
    };
    Ok((sent, ended.boxed()))
}
