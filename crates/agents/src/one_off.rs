//! Conversations of a single request. The request contains the earlier messages, and the session is deleted after its
//! turn. The caller reads the answer as a stream. Dropping the stream stops the turn.

mod following;

use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use crate::message::{Role, storable};
use crate::origin::MessageOrigin;
use crate::send::{EarlierMessage, Origin, SendRequest, Target};
use crate::session::Source;
use crate::start::MAX_TEXT_BYTES;
use following::Following;
use futures_util::stream::{self, BoxStream, StreamExt};
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_domain::{Actor, Problem, Timestamp};
use gatehouse_models::{StopReason, ToolCall, Usage};
use gatehouse_store::{ChatMessageRow, Conn, StoreError};
use std::collections::VecDeque;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Maximum number of messages before the text.
const MAX_EARLIER: usize = 1_999;

/// A conversation to answer once.
#[derive(Clone, Debug)]
pub struct OneOffRequest {
    /// The ID of the agent that answers.
    pub agent: String,
    /// The earlier messages, oldest first.
    pub earlier: Vec<EarlierMessage>,
    pub text: String,
    /// Added to the agent's system prompt.
    pub system: Option<String>,
    pub actor: Actor,
}

/// A piece of an answer. `End` is the last, unless the answer fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerPiece {
    /// More text; never empty.
    Text(String),
    /// The agent used tools after the text so far. The answer is only the text of the last step.
    NextStep,
    /// A call for the caller to make.
    ToolCall(ToolCall),
    End {
        usage: Usage,
        stop: StopReason,
    },
}

/// An answer in progress. Dropping it stops the work.
pub type AnswerStream = BoxStream<'static, Result<AnswerPiece, Problem>>;

impl Agents {
    /// Answers a conversation that the caller stores. If a turn started and failed, its error is in the stream.
    pub async fn run_once(&self, request: OneOffRequest) -> Result<AnswerStream, AgentsError> {
        check_earlier(&request.earlier)?;
        // The subscription begins before the turn, so no event is missed.
        let events = self.subscribe();
        let cancel = CancellationToken::new();
        let stops = cancel.clone().drop_guard();
        let (report, ended) = oneshot::channel();
        let send = SendRequest {
            session: Target::OneOff(request.earlier),
            agent: Some(request.agent),
            system_suffix: request.system,
            origin: Origin::Api,
            cancel,
            ..SendRequest::new(request.text, request.actor)
        };
        let accepted = self.accept(send, Some(report)).await?;
        let following = Following {
            events,
            ended,
            turn: accepted.turn_id,
            text: String::new(),
            units: 0,
            ready: VecDeque::new(),
            is_listening: true,
            is_over: false,
            _stops: stops,
        };
        let pieces = stream::unfold(following, |mut following| async move {
            let piece = following.next().await?;
            Some((piece, following))
        });
        Ok(pieces.boxed())
    }
}

/// Limits the size of a transaction. A turn reads at most this many messages.
fn check_earlier(earlier: &[EarlierMessage]) -> Result<(), AgentsError> {
    let refuse = |reason: &str| Err(AgentsError::invalid("text", reason));
    if earlier.len() > MAX_EARLIER {
        return refuse("at most 1,999 earlier messages");
    }
    let is_long = |message: &EarlierMessage| {
        let (EarlierMessage::User(text) | EarlierMessage::Assistant(text)) = message;
        text.len() > MAX_TEXT_BYTES
    };
    if earlier.iter().any(is_long) {
        return refuse("at most 1 MiB for each message");
    }
    Ok(())
}

impl Inner {
    /// Returns the rows of the messages before a text. Each text of the user begins a turn.
    pub(crate) fn earlier_rows(
        &self,
        request: &SendRequest,
        session: &SessionId,
    ) -> Vec<ChatMessageRow> {
        let Target::OneOff(earlier) = &request.session else {
            return Vec::new();
        };
        let new_turn = || TurnId::generate(&*self.clock, &*self.random);
        let mut turn = new_turn();
        let row = |(number, message): (usize, &EarlierMessage)| {
            let (role, origin, text) = match message {
                EarlierMessage::User(text) => (Role::User, request.origin.written_by(), text),
                // An answer may repeat untrusted text that its turn has read.
                EarlierMessage::Assistant(text) => (Role::Assistant, MessageOrigin::Stranger, text),
            };
            if number > 0 && role == Role::User {
                turn = new_turn();
            }
            let row = ChatMessageRow::new(
                session.clone(),
                turn.clone(),
                MessageId::generate(&*self.clock, &*self.random),
                role.as_str(),
                origin.as_str(),
                self.clock.now(),
            );
            ChatMessageRow {
                content: storable(text),
                ..row
            }
        };
        earlier.iter().enumerate().map(row).collect()
    }

    /// Deletes the session of a one-off request. Lists never contain it.
    pub(crate) async fn delete_one_off(&self, session: &SessionId) {
        let (id, now) = (session.clone(), self.clock.now());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                conn.delete_chat_session(&id).await?;
                conn.insert_change("sessions", now).await
            })
        });
        let deleted: Result<(), StoreError> = write.await;
        if let Err(error) = deleted {
            tracing::warn!(%error, %session, "the session of a request could not be deleted");
        }
    }
}

/// Stores the rows of [`Inner::earlier_rows`].
pub(crate) async fn store_earlier(
    conn: &mut Conn,
    rows: Vec<ChatMessageRow>,
    agent: &str,
) -> Result<(), AgentsError> {
    let gone = || AgentsError::NotFound("session");
    let mut turn: Option<(TurnId, i64)> = None;
    for mut row in rows {
        let number = match &turn {
            Some((id, number)) if *id == row.turn_id => *number,
            _ => {
                let claimed = conn.claim_chat_turn(&row.session_id, agent).await?;
                claimed.ok_or_else(gone)?
            }
        };
        turn = Some((row.turn_id.clone(), number));
        row.turn_no = number;
        conn.insert_chat_message(&row).await?.ok_or_else(gone)?;
    }
    Ok(())
}

/// Deletes the session of a one-off request whose process died. Returns whether the session
/// belonged to such a request.
pub(crate) async fn delete_lost_one_off(
    conn: &mut Conn,
    session: &SessionId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let row = conn.find_chat_session(session).await?;
    let is_one_off = row.is_some_and(|row| Source::of(&row.source) == Source::Api);
    if is_one_off {
        conn.delete_chat_session(session).await?;
        conn.insert_change("sessions", now).await?;
    }
    Ok(is_one_off)
}
