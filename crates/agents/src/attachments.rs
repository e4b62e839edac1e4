//! Files of sessions. A caller stores a file with a session and then sends a text that names it. Before that, the
//! caller detects the file's type and prepares the content for models.
//!
//! Files count as untrusted, even files that the owner sends, because their author is unknown.

mod access;

use crate::attached_file::{Attachment, NewAttachment};
use crate::error::AgentsError;
use crate::handle::Inner;
use gatehouse_domain::id::{AttachmentId, MessageId, SessionId};
use gatehouse_domain::visible;
use gatehouse_store::{AttachmentContent, ChatMessageRow, Conn, SessionAttachmentRow, StoreError};
use std::collections::HashSet;

/// The maximum number of files per message.
const MAX_FILES: usize = 10;
const MAX_NAME_CHARACTERS: usize = 200;

/// A file that can be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewFile {
    row: SessionAttachmentRow,
    content: AttachmentContent,
    data: Vec<u8>,
    /// The maximum total size of the files of all sessions.
    max_bytes: i64,
}

impl NewFile {
    /// Returns the file as callers see it.
    pub(crate) fn attachment(&self) -> Attachment {
        Attachment::from(self.row.clone())
    }

    /// Assigns the attachment to a message in the transaction that stores the message.
    pub(crate) fn of_message(mut self, message: &MessageId) -> Self {
        self.row.message_id = Some(message.clone());
        self
    }

    /// Stores the file. Returns `false` if its session does not exist.
    pub(crate) async fn insert(self, conn: &mut Conn) -> Result<bool, StoreError> {
        conn.insert_session_attachment(&self.row, self.content, self.data, self.max_bytes)
            .await
    }
}

impl Inner {
    pub(crate) fn new_file(
        &self,
        session: &SessionId,
        new: NewAttachment,
    ) -> Result<NewFile, AgentsError> {
        let settings = self.settings.load();
        if new.data.len() as u64 > settings.attachment_max_bytes {
            return Err(AgentsError::FileTooLarge(settings.attachment_max_bytes));
        }
        let row = SessionAttachmentRow {
            id: AttachmentId::generate(&*self.clock, &*self.random),
            session_id: session.clone(),
            message_id: None,
            name: clean_name(&new.name),
            mime_type: new.media_type.to_owned(),
            size: i64::try_from(new.data.len()).unwrap_or(i64::MAX),
            width: new.pixels.map(|(width, _)| width.into()),
            height: new.pixels.map(|(_, height)| height.into()),
            created_at: self.clock.now(),
        };
        Ok(NewFile {
            row,
            content: AttachmentContent {
                text: new.text,
                image: new.picture,
            },
            data: Vec::from(new.data),
            max_bytes: i64::try_from(settings.attachments_total_bytes).unwrap_or(i64::MAX),
        })
    }
}

async fn find(
    conn: &mut Conn,
    session: &SessionId,
    id: &str,
) -> Result<Option<SessionAttachmentRow>, AgentsError> {
    if id.contains('\0') {
        return Ok(None);
    }
    Ok(conn.find_session_attachment(session, id).await?)
}

/// Checks the number and form of the file IDs in a request that also contains `new` files. Does not look them up.
pub(crate) fn check(ids: &[String], new: usize) -> Result<(), AgentsError> {
    let refuse = |reason: &str| Err(AgentsError::invalid("attachments", reason));
    if ids.len() + new > MAX_FILES {
        return refuse("at most 10 files");
    }
    let mut named = HashSet::new();
    if !ids.iter().all(|id| named.insert(id)) {
        return refuse("names a file twice");
    }
    Ok(())
}

/// Assigns files to a new message. The files must belong to its session, and either to no message or to a message that
/// the new one replaces.
pub(crate) async fn claim(
    conn: &mut Conn,
    message: &ChatMessageRow,
    ids: &[String],
    replaces: Option<&str>,
) -> Result<Vec<Attachment>, AgentsError> {
    let session = &message.session_id;
    let first_replaced = match replaces {
        Some(turn) if !ids.is_empty() && !turn.contains('\0') => {
            conn.find_chat_turn_number(session, turn).await?
        }
        _ => None,
    };
    let mut files = Vec::new();
    for id in ids {
        let row = find(conn, session, id).await?.ok_or_else(|| {
            AgentsError::invalid("attachments", "names a file that the session does not have")
        })?;
        if let Some(of) = &row.message_id {
            let of = conn.find_chat_message(session, of.as_str()).await?;
            let is_replaced = of
                .zip(first_replaced)
                .is_some_and(|(of, first)| of.turn_no >= first);
            if !is_replaced {
                let reason = "names a file that belongs to another message";
                return Err(AgentsError::invalid("attachments", reason));
            }
        }
        conn.update_session_attachment_message(&row.id, &message.id)
            .await?;
        files.push(row.into());
    }
    Ok(files)
}

/// Returns the stored form of the files of a message.
pub(crate) fn stored(files: &[Attachment]) -> Result<Option<String>, AgentsError> {
    if files.is_empty() {
        return Ok(None);
    }
    let stored = serde_json::to_string(files);
    stored
        .map(Some)
        .map_err(|_| AgentsError::invalid("attachments", "cannot be stored"))
}

/// Returns the last part of a path, without characters that are invisible or end a line.
fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !visible::hides(*c)).collect();
    let mut name: String = clean.trim().chars().take(MAX_NAME_CHARACTERS).collect();
    if name.chars().all(|c| c == '.') {
        "file".clone_into(&mut name);
    }
    name
}

#[cfg(test)]
mod tests;
