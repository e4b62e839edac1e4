//! Adds, reads and deletes attachments for callers.

use super::find;
use crate::attached_file::{Attachment, NewAttachment};
use crate::error::AgentsError;
use crate::handle::Agents;
use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use gatehouse_domain::id::{AttachmentId, SessionId};
use gatehouse_store::StoreError;

/// The size of a chunk of a file. The database may read the whole value for each chunk, so small chunks would be slow.
const PIECE_BYTES: u64 = 1 << 20;

impl Agents {
    /// Stores a file with an existing session. Deletes old files of all sessions to stay within
    /// `agents.attachments_total_bytes`.
    pub async fn add_attachment(
        &self,
        session: &SessionId,
        new: NewAttachment,
    ) -> Result<Attachment, AgentsError> {
        let file = self.0.new_file(session, new)?;
        let attachment = file.attachment();
        let write = self.0.store.write(move |conn| {
            Box::pin(async move { Ok::<_, AgentsError>(file.insert(conn).await?) })
        });
        if write.await? {
            Ok(attachment)
        } else {
            Err(AgentsError::NotFound("session"))
        }
    }

    /// Returns the size limit of a file in bytes.
    pub fn attachment_max_bytes(&self) -> u64 {
        self.0.settings.load().attachment_max_bytes
    }

    /// Finds a file of a session.
    pub async fn get_attachment(
        &self,
        session: &SessionId,
        id: &str,
    ) -> Result<Attachment, AgentsError> {
        let (session, id) = (session.clone(), id.to_owned());
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { find(conn, &session, &id).await }));
        let row = read.await?.ok_or(AgentsError::NotFound("attachment"))?;
        Ok(row.into())
    }

    /// Streams a file on demand, with at most one chunk in memory. If the file is deleted during the read, the last
    /// item is an error.
    pub fn read_attachment(
        &self,
        attachment: &Attachment,
    ) -> BoxStream<'static, Result<Bytes, AgentsError>> {
        let state = (self.clone(), attachment.id.clone(), 0..attachment.size);
        let pieces = stream::try_unfold(state, |(agents, id, mut left)| async move {
            if left.is_empty() {
                return Ok(None);
            }
            let length = (left.end - left.start).min(PIECE_BYTES);
            let piece = agents.read_piece(&id, left.start, length).await?;
            left.start += length;
            Ok(Some((piece, (agents, id, left))))
        });
        pieces.boxed()
    }

    async fn read_piece(
        &self,
        id: &AttachmentId,
        from: u64,
        length: u64,
    ) -> Result<Bytes, AgentsError> {
        let id = id.clone();
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let (from, most) = (number(from), number(length));
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.find_session_attachment_part(&id, from, most).await })
        });
        let found: Result<Option<Vec<u8>>, StoreError> = read.await;
        let piece = found?.filter(|piece| piece.len() as u64 == length);
        Ok(piece.ok_or(AgentsError::NotFound("attachment"))?.into())
    }

    /// Deletes a file that belongs to no message yet.
    pub async fn delete_attachment(
        &self,
        session: &SessionId,
        id: &str,
    ) -> Result<(), AgentsError> {
        let gone = AgentsError::NotFound("attachment");
        if id.contains('\0') {
            return Err(gone);
        }
        let (session, id) = (session.clone(), id.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let deleted = conn.delete_unsent_session_attachment(&session, &id).await?;
                Ok::<_, AgentsError>(deleted)
            })
        });
        write.await?.then_some(()).ok_or(gone)
    }
}
