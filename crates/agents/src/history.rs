//! `chat.history`: the messages of a session.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::lanes::RunningTurn;
use crate::message::Message;
use gatehouse_domain::id::SessionId;
use gatehouse_store::{ChatMessageRow, Conn};

/// A page of messages.
#[derive(Clone, Debug)]
pub struct HistoryPage {
    /// Oldest first.
    pub messages: Vec<Message>,
    /// The `before` value of the previous page; `None` when this page starts with the first message.
    pub next_cursor: Option<String>,
    /// The turn that runs in the session.
    pub running: Option<RunningTurn>,
}

/// The IDs of the messages between which a page lies. The page does not include them.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistoryRange<'a> {
    pub after: Option<&'a str>,
    pub before: Option<&'a str>,
}

/// The maximum number of reads. A read is repeated if an answer became a message during it.
const READS: u32 = 4;

/// Limit on the text of a page in bytes. A single larger message is still returned.
const MAX_BYTES: usize = 8 << 20;

/// Positions before the first message of a session and after its last one: turn and message.
const BEFORE_ALL: (i64, i64) = (i64::MIN, i64::MIN);
const AFTER_ALL: (i64, i64) = (i64::MAX, i64::MAX);

/// The number of messages of a session that are compared with a text.
const COMPARED: i64 = 200;

/// Returns how many of the newest messages fit on a page.
fn that_fit(rows: &[ChatMessageRow], limit: usize) -> usize {
    let mut bytes = 0_usize;
    let fits = |row: &&ChatMessageRow| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(row.text_bytes());
        is_first || bytes <= MAX_BYTES
    };
    rows.iter().rev().take(limit).take_while(fits).count()
}

/// Returns the position of a message that limits a page. `name` is the parameter that contains the
/// message's ID.
async fn position_of(
    conn: &mut Conn,
    session: &SessionId,
    (name, id): (&'static str, &str),
) -> Result<(i64, i64), AgentsError> {
    let refused = || AgentsError::invalid(name, "is not a message of this session");
    if id.contains('\0') {
        return Err(refused());
    }
    let found = conn.find_chat_message(session, id).await?;
    found.map(|row| (row.turn_no, row.seq)).ok_or_else(refused)
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

impl Agents {
    /// Returns the newest messages of a session, or the newest before the message `before`.
    ///
    /// # Errors
    /// Fails like [`Self::history_within`].
    pub async fn history(
        &self,
        session: &str,
        limit: usize,
        before: Option<&str>,
    ) -> Result<HistoryPage, AgentsError> {
        let range = HistoryRange {
            after: None,
            before,
        };
        self.history_within(session, limit, range).await
    }

    /// Returns the newest messages of a range. A text that waits for its turn is included, after the messages of the
    /// preceding turns.
    ///
    /// The messages and the running turn are consistent: streamed text is in exactly one of the two. If another node
    /// runs a turn, its text is up to one second old.
    ///
    /// # Errors
    /// Fails if the session does not exist, a message of the range is not one of its messages, or the store fails.
    pub async fn history_within(
        &self,
        session: &str,
        limit: usize,
        range: HistoryRange<'_>,
    ) -> Result<HistoryPage, AgentsError> {
        let id = self.0.session_row(session).await?.id;
        let place = |running: Option<&RunningTurn>| {
            running.map(|running| (running.turn_id.clone(), running.answer))
        };
        let mut known = self.0.lanes.running(&id);
        let mut reads = 0;
        loop {
            let page = self.messages(&id, limit, range).await?;
            let running = self.0.lanes.running(&id);
            reads += 1;
            if place(running.as_ref()) == place(known.as_ref()) || reads == READS {
                return Ok(HistoryPage {
                    running: running.or(page.running),
                    ..page
                });
            }
            known = running;
        }
    }

    /// Returns whether the agent wrote this text, or an answer that contains it, among the newest messages of the
    /// session with this key. Compares only letters and digits, because channels change other characters of an answer.
    pub async fn has_answered(&self, key: &str, text: &str) -> Result<bool, AgentsError> {
        let wanted = letters(text);
        if wanted.is_empty() {
            return Ok(false);
        }
        let key = key.to_owned();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let Some(session) = conn.find_chat_session_by_key(&key).await? else {
                    return Ok(Vec::new());
                };
                let all = (BEFORE_ALL, AFTER_ALL);
                conn.list_chat_messages(&session.id, all, COMPARED, MAX_BYTES)
                    .await
            })
        });
        let rows: Vec<ChatMessageRow> = read.await.map_err(AgentsError::Store)?;
        let mut answers = rows.iter().filter(|row| row.role == "assistant");
        Ok(answers.any(|row| letters(&row.content).contains(&wanted)))
    }

    async fn messages(
        &self,
        session: &SessionId,
        limit: usize,
        range: HistoryRange<'_>,
    ) -> Result<HistoryPage, AgentsError> {
        let session = session.clone();
        let (after, before) = (
            range.after.map(str::to_owned),
            range.before.map(str::to_owned),
        );
        let (node, now) = (self.0.node_among_others(), self.0.shared_now().await);
        let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let start = match after {
                    None => BEFORE_ALL,
                    Some(id) => position_of(conn, &session, ("after", id.as_str())).await?,
                };
                let end = match before {
                    None => AFTER_ALL,
                    Some(id) => position_of(conn, &session, ("before", id.as_str())).await?,
                };
                let messages = conn.list_chat_messages(&session, (start, end), rows, MAX_BYTES);
                let messages = messages.await?;
                let running = match node {
                    None => None,
                    Some(node) => {
                        let turn = conn.find_running_chat_turn(&session, now).await?;
                        turn.filter(|turn| turn.node != node)
                    }
                };
                Ok::<_, AgentsError>((messages, running))
            })
        });
        let (mut rows, running): (Vec<ChatMessageRow>, _) = read.await?;
        let more = rows.len().saturating_sub(that_fit(&rows, limit));
        rows.drain(..more);
        Ok(HistoryPage {
            next_cursor: rows
                .first()
                .filter(|_| more > 0)
                .map(|row| row.id.to_string()),
            messages: rows.into_iter().map(Message::from).collect(),
            running: running.map(|turn| RunningTurn {
                turn_id: turn.id,
                text: turn.text,
                answer: 0,
            }),
        })
    }
}
