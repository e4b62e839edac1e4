//! Summarizes the older part of a conversation that does not fit its model, and stores the summary.

use super::failure::TurnFailure;
use super::{Running, Setup};
use crate::context::Summary;
use crate::message::storable;
use crate::prompt;
use crate::request;
use crate::tokens::tokens_of;
use futures_util::StreamExt;
use gatehouse_models::{
    CallProgress, ChatMessage, ChatRequest, Chunk, ModelError, ModelRef, Usage,
};

/// The number of characters of the older part that are summarized if the model's limit is unknown.
const USUAL_CHARACTERS: u64 = 60_000;
/// The maximum length of a summary. Longer summaries are cut.
const MAX_CHARACTERS: usize = 8_000;

impl Running<'_> {
    /// Replaces all turns up to and including `through` with a summary. If there is no summary, omits that part with a
    /// note. In both cases, the stored history stays complete.
    pub(super) async fn shorten(
        &mut self,
        setup: &mut Setup,
        through: i64,
        budget: Option<u64>,
    ) -> Result<(), TurnFailure> {
        // A token has about four characters; the rest is for the prompt around it.
        let whole = budget.map_or(USUAL_CHARACTERS, |tokens| tokens.saturating_mul(3));
        for characters in [whole, whole / 4] {
            match self.summary(setup, through, characters).await {
                Ok(Some(text)) => {
                    let origin = setup.conversation.origin_of(through, setup.read.strangers);
                    let summary = Summary { text, origin };
                    self.keep_summary(&summary, through).await?;
                    setup.conversation.summarise(through, summary);
                    return Ok(());
                }
                Err(TurnFailure::Model(ModelError::ContextTooLong { .. })) => {}
                Err(TurnFailure::Model(error)) => {
                    tracing::warn!(%error, "older messages are left out without a summary");
                    break;
                }
                Err(error) => return Err(error),
                Ok(None) => break,
            }
        }
        setup.conversation.forget(through);
        Ok(())
    }

    async fn summary(
        &mut self,
        setup: &Setup,
        through: i64,
        characters: u64,
    ) -> Result<Option<String>, TurnFailure> {
        let characters = usize::try_from(characters).unwrap_or(usize::MAX);
        let conversation = &setup.conversation;
        let rows = conversation.older(through);
        let before = conversation.summary().map(|summary| summary.text.as_str());
        let transcript = request::transcript(before, rows, conversation.files(), characters);
        if transcript.trim().is_empty() {
            return Ok(None);
        }
        let sent_tokens = tokens_of(&transcript);
        let progress = CallProgress::default();
        let asking = summarise(&self.inner.models, &setup.model, transcript, &progress);
        let asked = self.turn.cancel.run_until_cancelled(asking).await;
        if !matches!(asked, Some(Ok(_))) {
            self.spend_part(&setup.model, &progress, sent_tokens);
        }
        let (text, usage) = asked.ok_or(TurnFailure::Stopped)??;
        let estimate = Usage {
            input_tokens: sent_tokens,
            output_tokens: tokens_of(&text),
            ..Usage::default()
        };
        self.spend(&setup.model, usage, estimate);
        let text: String = storable(text.trim()).chars().take(MAX_CHARACTERS).collect();
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    async fn keep_summary(&self, summary: &Summary, through: i64) -> Result<(), TurnFailure> {
        let (session, summary) = (self.turn.session.clone(), summary.clone());
        let write = self.inner.store.write(move |conn| {
            Box::pin(async move {
                let summary = (summary.text.as_str(), summary.origin.as_str());
                conn.update_chat_session_summary(&session, summary, through)
                    .await
            })
        });
        let _was_newest: bool = write.await?;
        Ok(())
    }
}

async fn summarise(
    models: &gatehouse_models::Models,
    model: &ModelRef,
    transcript: String,
    progress: &CallProgress,
) -> Result<(String, Usage), ModelError> {
    let request = ChatRequest {
        system: Some(prompt::SUMMARISE.to_owned()),
        messages: vec![ChatMessage::user(transcript)],
        ..ChatRequest::default()
    };
    let mut stream = models.chat_noting(model, request, progress).await?;
    let (mut text, mut usage) = (String::new(), Usage::default());
    while let Some(chunk) = stream.next().await {
        match chunk? {
            Chunk::Text(more) => text.push_str(&more),
            Chunk::Reasoning(_) | Chunk::State(_) | Chunk::ToolCall(_) => {}
            Chunk::End { usage: all, .. } => usage = all,
        }
    }
    Ok((text, usage))
}
