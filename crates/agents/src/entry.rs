//! Stores a text as the first message of its turn.

use crate::attached_file::Attachment;
use crate::attachments;
use crate::delete_turns::{Deleted, delete_turns};
use crate::error::AgentsError;
use crate::handle::Inner;
use crate::lost::end_lost;
use crate::manage_sessions::NEW_LABEL;
use crate::message::{Role, storable};
use crate::one_off::store_earlier;
use crate::origin::MessageOrigin;
use crate::presets::choose_agent;
use crate::send::{Origin, SendRequest};
use crate::start::{LocatedSession, label_of_text};
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_domain::{Fence, Timestamp};
use gatehouse_store::{ChatMessageRow, ChatTurnRow, Conn};

/// The maximum age of the audio of a text that does not name its audio, in milliseconds.
const HEARD_BEFORE_MS: i64 = 60 * 60 * 1000;

/// A stored text.
pub(crate) struct Stored {
    pub(crate) session_key: String,
    pub(crate) agent: String,
    pub(crate) message: ChatMessageRow,
    /// The number of earlier turns of the session that other nodes run.
    pub(crate) behind_other_nodes: usize,
}

impl Inner {
    /// Returns the earliest time of audio that is considered.
    fn received_since(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis().saturating_sub(HEARD_BEFORE_MS))
    }

    async fn turn_row(&self, message: &ChatMessageRow) -> ChatTurnRow {
        ChatTurnRow {
            id: message.turn_id.clone(),
            session_id: message.session_id.clone(),
            turn_no: 0,
            node: self.node.clone(),
            alive_until: self.alive_until().await,
            text: String::new(),
            model: None,
        }
    }

    /// Returns the row of a turn's first message. Its position in the session is not known yet.
    fn user_row(
        &self,
        request: &SendRequest,
        session_id: SessionId,
        turn_id: TurnId,
    ) -> ChatMessageRow {
        let origin = request.origin.written_by();
        let has_files = !request.attachments.is_empty() || !request.new_files.is_empty();
        let row = ChatMessageRow::new(
            session_id,
            turn_id,
            MessageId::generate(&*self.clock, &*self.random),
            Role::User.as_str(),
            origin.as_str(),
            self.clock.now(),
        );
        ChatMessageRow {
            content: storable(&request.text),
            // A delivery is never private, even if it has files.
            is_private: has_files && !matches!(request.origin, Origin::Webhook { .. }),
            delivery_id: match &request.origin {
                Origin::Chat | Origin::Api => None,
                Origin::Webhook { delivery, .. } => Some(delivery.clone()),
                Origin::Channel { message, .. } => Some(message.clone()),
            },
            ..row
        }
    }

    /// Stores the text as the first message of a new turn, and the session if it is new. A repeated delivery continues
    /// its turn if that turn is the last one.
    pub(crate) async fn store_text(
        &self,
        request: &SendRequest,
        place: LocatedSession,
        turn: TurnId,
    ) -> Result<Stored, AgentsError> {
        let mut message = self.user_row(request, place.id, turn);
        let mut row = self.turn_row(&message).await;
        let interrupted = MessageId::generate(&*self.clock, &*self.random);
        let (wanted, new) = (request.agent.clone(), place.new);
        let replaces = request.replaces.clone();
        let before = self.earlier_rows(request, &message.session_id);
        let (audio, received_since) = (request.audio.clone(), self.received_since());
        let is_shared = self.has_other_nodes();
        let attachments = request.attachments.clone();
        let new_files = request.new_files.iter().cloned();
        let new_files = new_files.map(|new| self.new_file(&message.session_id, new));
        let new_files = new_files.collect::<Result<Vec<_>, _>>()?;
        let fence = Fence::current();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                // The write may have waited in the queue. If another node has run the delivery in the meantime, this
                // turn would follow the turns of later deliveries.
                if !fence.holds() {
                    return Err(AgentsError::TakenOver);
                }
                if let Some(row) = &new {
                    conn.insert_chat_session(row).await?;
                }
                let gone = || AgentsError::NotFound("session");
                let found = conn.find_chat_session(&message.session_id).await?;
                let session = found.ok_or_else(gone)?;
                let agent = choose_agent(conn, wanted, Some(session.agent_id)).await?;
                if let Some(earlier) = earlier_attempt(conn, &message, session.last_turn).await? {
                    let now = message.created_at;
                    row.id.clone_from(&earlier.turn_id);
                    row.turn_no = earlier.turn_no;
                    // The process of the earlier attempt may have just died.
                    end_lost(conn, &row.id, interrupted, now).await?;
                    conn.insert_chat_turn(&row).await?;
                    return Ok(Stored {
                        session_key: session.key,
                        agent,
                        message: earlier,
                        behind_other_nodes: count_elsewhere(conn, &row, is_shared).await?,
                    });
                }
                let id = &message.session_id;
                store_earlier(conn, before, &agent).await?;
                // The files are read before the turn is deleted, because they may be sent again.
                let mut files =
                    attachments::claim(conn, &message, &attachments, replaces.as_deref()).await?;
                for file in new_files {
                    files.push(file.attachment());
                    file.of_message(&message.id).insert(conn).await?;
                }
                if let Some(turn) = &replaces {
                    delete_turns(conn, id, turn, Deleted::AndLater).await?;
                }
                let number = conn.claim_chat_turn(id, &agent).await?;
                message.turn_no = number.ok_or_else(gone)?;
                message.attachments = attachments::stored(&files)?;
                message.audio = find_audio(conn, &message, audio, received_since).await?;
                message.seq = conn.insert_chat_message(&message).await?.ok_or_else(gone)?;
                name_session(conn, &message, &session.label, &files).await?;
                row.turn_no = message.turn_no;
                conn.insert_chat_turn(&row).await?;
                if let Some(audio) = &message.audio {
                    conn.update_session_audio_message(audio, &message.id)
                        .await?;
                }
                Ok(Stored {
                    session_key: session.key,
                    agent,
                    behind_other_nodes: count_elsewhere(conn, &row, is_shared).await?,
                    message,
                })
            })
        });
        write.await
    }
}

/// Counts earlier turns of the session that other nodes run.
async fn count_elsewhere(
    conn: &mut Conn,
    row: &ChatTurnRow,
    is_shared: bool,
) -> Result<usize, AgentsError> {
    if !is_shared {
        return Ok(0);
    }
    let place = (&row.session_id, row.turn_no);
    let before = conn.list_chat_turns_before(place, &row.node).await?;
    Ok(before.len())
}

/// Returns the text of an earlier attempt of the same delivery, if it began the last turn of the
/// session.
async fn earlier_attempt(
    conn: &mut Conn,
    message: &ChatMessageRow,
    last_turn: i64,
) -> Result<Option<ChatMessageRow>, AgentsError> {
    let Some(delivery) = &message.delivery_id else {
        return Ok(None);
    };
    let session = &message.session_id;
    let found = conn.find_chat_message_of_delivery(session, last_turn, delivery);
    Ok(found.await?)
}

/// Labels a session that was created without a text, using its first text.
async fn name_session(
    conn: &mut Conn,
    message: &ChatMessageRow,
    label: &str,
    files: &[Attachment],
) -> Result<(), AgentsError> {
    if message.turn_no == 1 && label == NEW_LABEL {
        let file = files.first().map_or("", |file| &file.name);
        let text = Some(message.content.as_str()).filter(|text| !text.trim().is_empty());
        let label = label_of_text(text.unwrap_or(file));
        conn.update_chat_session_label(&message.session_id, &label)
            .await?;
        conn.insert_change("sessions", message.created_at).await?;
    }
    Ok(())
}

/// Returns the audio of a spoken text. A named audio must exist. Otherwise, this is recent audio of the session whose
/// transcript equals the text. The text of a webhook has no audio.
async fn find_audio(
    conn: &mut Conn,
    message: &ChatMessageRow,
    named: Option<String>,
    received_since: Timestamp,
) -> Result<Option<String>, AgentsError> {
    let session = &message.session_id;
    if let Some(id) = named {
        let found = if id.contains('\0') {
            None
        } else {
            conn.find_session_audio(session, &id).await?
        };
        return match found.filter(|audio| audio.is_inbound) {
            Some(audio) => Ok(Some(audio.id.to_string())),
            None => Err(AgentsError::invalid(
                "audio_id",
                "is not a recording of this session",
            )),
        };
    }
    if message.origin != MessageOrigin::Owner.as_str() {
        return Ok(None);
    }
    let text = message.content.trim();
    let heard = conn
        .find_session_audio_heard(session, text, received_since)
        .await?;
    Ok(heard.map(|id| id.to_string()))
}
