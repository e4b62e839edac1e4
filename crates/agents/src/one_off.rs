//! Conversations that consist of one request. The request contains the earlier messages, and the session is deleted
//! after its turn. The caller reads the answer as a stream and can drop it to stop the turn.

use crate::error::AgentsError;
use crate::event::{AgentEvent, Delta};
use crate::handle::{Agents, Inner};
use crate::message::{Role, storable};
use crate::origin::MessageOrigin;
use crate::send::{EarlierMessage, Origin, SendRequest, Target, TurnReport};
use crate::session::Source;
use crate::start::MAX_TEXT_BYTES;
use crate::stop::Stop;
use futures_util::stream::{self, BoxStream, StreamExt};
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_domain::{Actor, Problem, Timestamp};
use gatehouse_models::{StopReason, ToolCall, Usage};
use gatehouse_store::{ChatMessageRow, Conn, StoreError};
use std::collections::VecDeque;
use tokio::sync::{broadcast, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Maximum number of messages before the text.
const MAX_EARLIER: usize = 1_999;

/// A conversation to answer once.
#[derive(Clone, Debug)]
pub struct OneOffRequest {
    /// The ID of the agent that answers.
    pub agent: String,
    /// Oldest first.
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
    /// The agent used tools after the text so far. Only the text of the last step is the answer.
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
    /// Answers a conversation that the caller keeps. The error of a turn that started is in the stream.
    pub async fn run_once(&self, request: OneOffRequest) -> Result<AnswerStream, AgentsError> {
        check_earlier(&request.earlier)?;
        // Before the turn, so that no event is missed.
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

/// Limits what one transaction stores. A turn reads at most this many messages.
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

/// Reads the answer of a turn from its events, and missing values from its report.
struct Following {
    events: broadcast::Receiver<AgentEvent>,
    ended: oneshot::Receiver<TurnReport>,
    turn: TurnId,
    /// The text of the current step so far, and its length in UTF-16 code units.
    text: String,
    units: u64,
    ready: VecDeque<Result<AnswerPiece, Problem>>,
    /// Whether more events of the turn may follow.
    is_listening: bool,
    is_over: bool,
    _stops: DropGuard,
}

impl Following {
    async fn next(&mut self) -> Option<Result<AnswerPiece, Problem>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                biased;
                event = self.events.recv(), if self.is_listening => self.hear(event),
                report = &mut self.ended => self.conclude(report.ok()),
            }
        }
    }

    fn hear(&mut self, event: Result<AgentEvent, broadcast::error::RecvError>) {
        match event {
            Ok(AgentEvent::Delta(delta)) if delta.turn_id == self.turn => self.take(&delta),
            Ok(AgentEvent::Done(done)) if done.turn_id == self.turn => self.is_listening = false,
            // The report contains the effect of a missed event.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => self.is_listening = false,
        }
    }

    fn take(&mut self, delta: &Delta) {
        if delta.at == 0 && self.units > 0 {
            self.begin_step();
        }
        if delta.at == self.units {
            let units = delta.text.encode_utf16().count();
            self.units += u64::try_from(units).unwrap_or_default();
            self.text.push_str(&delta.text);
            self.push(AnswerPiece::Text(delta.text.clone()));
        }
    }

    fn begin_step(&mut self) {
        self.push(AnswerPiece::NextStep);
        self.text.clear();
        self.units = 0;
    }

    fn conclude(&mut self, report: Option<TurnReport>) {
        self.is_over = true;
        let mut report = match report {
            None => return self.ready.push_back(Err(AgentsError::ShuttingDown.into())),
            Some(TurnReport {
                error: Some(problem),
                ..
            }) => return self.ready.push_back(Err(problem)),
            Some(report) => report,
        };
        // The text before a tool call is not the answer.
        if !report.has_answer {
            self.begin_step();
            report.text.clear();
        }
        let rest = if let Some(rest) = report.text.strip_prefix(&self.text) {
            rest.to_owned()
        } else {
            self.begin_step();
            report.text
        };
        if !rest.is_empty() {
            self.push(AnswerPiece::Text(rest));
        }
        self.push(AnswerPiece::End {
            usage: report.usage,
            stop: reason_of(report.stop),
        });
    }

    fn push(&mut self, piece: AnswerPiece) {
        self.ready.push_back(Ok(piece));
    }
}

const fn reason_of(stop: Stop) -> StopReason {
    match stop {
        Stop::Length => StopReason::Length,
        Stop::Refused => StopReason::Refused,
        Stop::Filtered => StopReason::Filtered,
        Stop::End | Stop::ToolLimit | Stop::Aborted | Stop::Error | Stop::Interrupted => {
            StopReason::End
        }
    }
}

impl Inner {
    /// The rows of the messages before a text. Each text of the user begins a turn.
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
                // The answer of a turn that has read untrusted text may repeat it.
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

    /// Deletes the session of a one-off request. No list shows it.
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

/// Deletes the session of a one-off request whose process died. Returns whether it was one.
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
