//! The messages of a turn: they are stored, published and added to the conversation as they are produced.

use super::Running;
use super::failure::TurnFailure;
use super::reply::Reply;
use crate::attachments::NewFile;
use crate::context::Conversation;
use crate::event::AgentEvent;
use crate::handle::LAST_WORDS;
use crate::message::{Failure, Message, Role, storable};
use crate::origin::MessageOrigin;
use crate::stop::Stop;
use gatehouse_domain::Problem;
use gatehouse_domain::id::MessageId;
use gatehouse_models::ModelRef;
use gatehouse_store::{ChatMessageRow, StoreError};
use std::sync::Arc;

impl Running<'_> {
    pub(super) fn row(&self, role: Role, origin: MessageOrigin, content: &str) -> ChatMessageRow {
        let inner = self.inner;
        let row = ChatMessageRow::new(
            self.turn.session.clone(),
            self.turn.id.clone(),
            MessageId::generate(&*inner.clock, &*inner.random),
            role.as_str(),
            origin.as_str(),
            inner.clock.now(),
        );
        ChatMessageRow {
            turn_no: self.turn.number,
            content: storable(content),
            ..row
        }
    }

    pub(super) fn assistant_row(&self, model: &ModelRef, reply: &Reply) -> ChatMessageRow {
        let tokens = |count: u64| i64::try_from(count).ok();
        let calls = (!reply.calls.is_empty())
            .then(|| serde_json::to_string(&reply.calls).ok())
            .flatten();
        let row = self.row(Role::Assistant, MessageOrigin::Model, &reply.text);
        ChatMessageRow {
            // Published parts of the speech already refer to this ID.
            id: match &reply.speech {
                Some(speech) => speech.message.clone(),
                None => row.id.clone(),
            },
            tool_calls: calls,
            input_tokens: tokens(reply.usage.input_tokens),
            output_tokens: tokens(reply.usage.output_tokens),
            cached_tokens: tokens(reply.usage.cached_tokens),
            reasoning_tokens: tokens(reply.usage.reasoning_tokens),
            model: Some(model.to_string()),
            reasoning: Some(storable(&reply.reasoning)).filter(|text| !text.is_empty()),
            reasoning_state: reply.state.as_ref().map(ToString::to_string),
            ..row
        }
    }

    /// Stores a message, publishes it, and adds it to the conversation.
    pub(super) async fn say(
        &self,
        conversation: &mut Conversation,
        row: ChatMessageRow,
    ) -> Result<(), TurnFailure> {
        let row = self.store(row).await?;
        conversation.push(row);
        Ok(())
    }

    /// Stores the last message of a turn that ended early: the partial answer, or an empty one, with the
    /// reason.
    pub(super) async fn end_early(&mut self, stop: Stop, problem: &Problem) {
        let partial = self.partial.take();
        let mut row =
            partial.unwrap_or_else(|| self.row(Role::Assistant, MessageOrigin::Model, ""));
        row.stop = Some(stop.as_str().to_owned());
        if stop == Stop::Error {
            row.error = serde_json::to_string(&Failure(problem.clone())).ok();
        }
        match tokio::time::timeout(LAST_WORDS, self.store(row)).await {
            Ok(Ok(_) | Err(TurnFailure::SessionGone | TurnFailure::TakenOver)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the end of a turn could not be stored"),
            Err(_) => tracing::warn!("the end of a turn could not be stored in time"),
        }
    }

    /// Stores the answer so far. It remains if the process dies.
    pub(super) async fn save_partial(&self, model: &ModelRef, text: &str) {
        let id = self.turn.id.clone();
        let (text, model) = (storable(text), model.to_string());
        let node = self.inner.node.clone();
        let write = self.inner.store.write(move |conn| {
            Box::pin(async move {
                conn.update_chat_turn_text((&id, &node), &text, Some(&model))
                    .await
            })
        });
        let saved: Result<(), StoreError> = write.await;
        if let Err(error) = saved {
            tracing::debug!(%error, "the answer so far could not be stored");
        }
    }

    /// Stores and publishes a message.
    pub(super) async fn store(&self, row: ChatMessageRow) -> Result<ChatMessageRow, TurnFailure> {
        self.store_with(row, Vec::new()).await
    }

    /// Stores a message with its files and publishes it.
    pub(super) async fn store_with(
        &self,
        row: ChatMessageRow,
        files: Vec<NewFile>,
    ) -> Result<ChatMessageRow, TurnFailure> {
        let row = self.write_with(row, files).await?;
        self.inner
            .publish(AgentEvent::Message(Arc::new(Message::from(row.clone()))));
        Ok(row)
    }

    /// Stores a message without publishing it. The last message of a turn ends it.
    pub(super) async fn write(&self, row: ChatMessageRow) -> Result<ChatMessageRow, TurnFailure> {
        self.write_with(row, Vec::new()).await
    }

    async fn write_with(
        &self,
        row: ChatMessageRow,
        files: Vec<NewFile>,
    ) -> Result<ChatMessageRow, TurnFailure> {
        if row.role == Role::Assistant.as_str() {
            // The streamed answer becomes a message at this point.
            self.inner.lanes.begin_answer(&self.turn.session);
        }
        let unstored = Arc::new(self.take_unstored());
        let spent = Arc::clone(&unstored);
        let (node, is_shared) = (self.inner.node.clone(), self.inner.has_other_nodes());
        let write = self.inner.store.write(move |conn| {
            Box::pin(async move {
                let mut row = row;
                if is_shared && !conn.has_chat_turn_of(&row.turn_id, &node).await? {
                    return Err(TurnFailure::TakenOver);
                }
                let warnings = spent.store(conn).await?;
                if row.stop.is_some() {
                    conn.delete_chat_turn(&row.turn_id).await?;
                    // Another node may wait for the end of this turn.
                    conn.notify_nodes().await?;
                } else if row.role == Role::Assistant.as_str() {
                    // The answer so far has become a message.
                    conn.update_chat_turn_text((&row.turn_id, &node), "", None)
                        .await?;
                }
                let seq = conn.insert_chat_message(&row).await?;
                row.seq = seq.ok_or(TurnFailure::SessionGone)?;
                for file in files {
                    file.insert(conn).await?;
                }
                Ok::<_, TurnFailure>((row, warnings))
            })
        });
        match write.await {
            Ok((row, warnings)) => {
                self.inner.publish_warnings(warnings);
                Ok(row)
            }
            Err(failure) => {
                self.keep_unstored(&unstored);
                Err(failure)
            }
        }
    }
}
