//! The end of an answer: stores and publishes the answer. Its speech can continue after the turn.

use super::failure::TurnFailure;
use super::reply::Reply;
use super::{Running, Setup};
use crate::event::AgentEvent;
use crate::message::Message;
use gatehouse_store::ChatMessageRow;
use std::sync::Arc;

impl Running<'_> {
    /// Stores and publishes the final answer. A failure to speak does not fail the turn.
    pub(super) async fn conclude(
        &mut self,
        setup: Setup,
        mut reply: Reply,
    ) -> Result<(), TurnFailure> {
        let row = ChatMessageRow {
            stop: Some(reply.stop.as_str().to_owned()),
            ..self.assistant_row(&setup.model, &reply)
        };
        let row = self.write(row).await?;
        self.stop = reply.stop;
        self.concluded = Some(!reply.text.trim().is_empty());
        let text = row.content.clone();
        self.inner
            .publish(AgentEvent::Message(Arc::new(Message::from(row))));
        self.speaking = self.end_speech(&setup.agent, &mut reply, text);
        Ok(())
    }
}
