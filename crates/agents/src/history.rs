//! `chat.history`: what was said in a session.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::message::Message;
use crate::sessions;
use gatehouse_store::ChatMessageRow;

/// Some messages, and where the ones before them end.
#[derive(Clone, Debug)]
pub struct HistoryPage {
    /// In the order in which they were said.
    pub messages: Vec<Message>,
    /// The `before` of the page before; `None` when this one begins with the first message.
    pub next_cursor: Option<String>,
}

impl Agents {
    /// The newest messages of a session, or the newest before one of them. A text that waits for its
    /// turn is there already, behind what is said in the turns before it.
    pub async fn history(
        &self,
        session: &str,
        limit: usize,
        before: Option<&str>,
    ) -> Result<HistoryPage, AgentsError> {
        let (session, before) = (session.to_owned(), before.map(str::to_owned));
        let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let found = sessions::find(conn, &session).await?;
                let session = found.ok_or(AgentsError::NotFound("session"))?.id;
                let place = match before {
                    None => (i64::MAX, i64::MAX),
                    Some(id) => {
                        let refused =
                            || AgentsError::invalid("before", "no message of this session");
                        if id.contains('\0') {
                            return Err(refused());
                        }
                        let found = conn.find_chat_message(&session, &id).await?;
                        found
                            .map(|row| (row.turn_no, row.seq))
                            .ok_or_else(refused)?
                    }
                };
                Ok(conn.list_chat_messages(&session, place, rows).await?)
            })
        });
        let mut rows: Vec<ChatMessageRow> = read.await?;
        let more = rows.len().saturating_sub(limit);
        rows.drain(..more);
        Ok(HistoryPage {
            next_cursor: rows
                .first()
                .filter(|_| more > 0)
                .map(|row| row.id.to_string()),
            messages: rows.into_iter().map(Message::from).collect(),
        })
    }
}
