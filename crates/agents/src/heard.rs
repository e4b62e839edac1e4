//! Records which part of an interrupted spoken answer the person heard.

use crate::error::AgentsError;
use crate::event::AgentEvent;
use crate::handle::Agents;
use crate::message::{Message, storable};
use crate::stop::Stop;
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_store::ChatMessageRow;
use std::sync::Arc;

/// The part of a message that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardMessage {
    pub message: MessageId,
    /// The heard beginning, as it was spoken.
    pub text: String,
    /// Whether the whole message was heard.
    pub is_whole: bool,
}

impl Agents {
    /// Stores how much of an interrupted turn's messages was heard, after the turn has ended. Messages that are not
    /// listed count as not heard. Publishes the changed messages again.
    pub async fn note_heard(
        &self,
        session: &SessionId,
        turn: &TurnId,
        heard: Vec<HeardMessage>,
    ) -> Result<(), AgentsError> {
        let (session, turn) = (session.clone(), turn.clone());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let mut changed = Vec::new();
                for mut row in conn.list_chat_answers(&session, &turn).await? {
                    let Some(text) = heard_of(&row, &heard) else {
                        continue;
                    };
                    conn.update_chat_message_heard(&session, &row.id, &text)
                        .await?;
                    row.heard = Some(text);
                    row.stop = row.stop.map(|stop| match stop.as_str() {
                        "end" => Stop::Aborted.as_str().to_owned(),
                        _ => stop,
                    });
                    changed.push(row);
                }
                Ok::<_, AgentsError>(changed)
            })
        });
        for row in write.await? {
            self.0
                .publish(AgentEvent::Message(Arc::new(Message::from(row))));
        }
        Ok(())
    }
}

/// Returns the value to store; `None` if the whole message was heard.
fn heard_of(row: &ChatMessageRow, heard: &[HeardMessage]) -> Option<String> {
    match heard.iter().find(|heard| heard.message == row.id) {
        // A stopped answer has more text than was spoken, so its heard part is stored.
        Some(heard) if heard.is_whole && row.stop.as_deref() != Some("aborted") => None,
        Some(heard) => Some(storable(&heard.text)),
        None => Some(String::new()),
    }
}
