//! Sessions that anyone with the link can read: the user and agent messages up to the time of sharing. Sharing again
//! updates that time and keeps the link. Unsharing revokes the link permanently.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::manage_sessions;
use crate::message::Role;
use crate::origin::MessageOrigin;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{Actor, Random, Timestamp};
use gatehouse_store::{AuditEntry, ChatMessageRow, ChatShareRow};
use serde_json::json;
use std::sync::Arc;

/// How many messages a shared page shows, newest first.
const MAX_SHOWN: i64 = 1000;

/// Limit on the text of a shared page, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// A share of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// 22 characters that encode 128 random bits. Anyone with the ID can read the session.
    pub id: String,
}

/// A session as the public sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSession {
    /// The session's label when it was shared.
    pub title: String,
    /// When it was last shared.
    pub shared_at: Timestamp,
    pub messages: Vec<SharedMessage>,
    /// Whether earlier text is missing.
    pub is_cut: bool,
}

/// A message as the public sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessage {
    pub role: Role,
    /// The text; `None` for a webhook delivery, whose content is never public.
    pub text: Option<String>,
    pub at: Timestamp,
}

fn new_id(random: &dyn Random) -> String {
    BASE64URL_NOPAD.encode(&random.bytes::<16>())
}

impl Agents {
    /// Shares a session in its current state, or updates its share.
    pub async fn share_session(&self, actor: &Actor, name: &str) -> Result<Share, AgentsError> {
        let (name, actor) = (name.to_owned(), actor.clone());
        let (now, random) = (self.0.clock.now(), Arc::clone(&self.0.random));
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = manage_sessions::find(conn, &name).await?;
                let session = found.ok_or(AgentsError::NotFound("session"))?;
                let row = ChatShareRow {
                    id: new_id(&*random),
                    session_id: session.id,
                    title: session.label,
                    through_seq: session.last_seq,
                    created_at: now,
                    updated_at: now,
                };
                let stored = conn.update_chat_share(&row).await?;
                // The entry omits the share's ID, because the ID is a credential.
                let entry = AuditEntry {
                    kind: "session.shared",
                    actor: &actor,
                    detail: json!({ "session": row.session_id }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                conn.insert_change("sessions", now).await?;
                Ok(Share { id: stored.id })
            })
        });
        write.await
    }

    /// Stops sharing a session. Returns `NotFound` if it is not shared.
    pub async fn unshare_session(&self, actor: &Actor, name: &str) -> Result<(), AgentsError> {
        let (name, actor) = (name.to_owned(), actor.clone());
        let (now, random) = (self.0.clock.now(), Arc::clone(&self.0.random));
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = manage_sessions::find(conn, &name).await?;
                let session = found.ok_or(AgentsError::NotFound("session"))?;
                if !conn.delete_chat_share(&session.id).await? {
                    return Err(AgentsError::NotFound("share"));
                }
                let entry = AuditEntry {
                    kind: "session.unshared",
                    actor: &actor,
                    detail: json!({ "session": session.id }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                conn.insert_change("sessions", now).await?;
                Ok(())
            })
        });
        write.await
    }

    /// Returns the content of a share. Returns `None` for an unknown or revoked ID. Both cases take the same lookup, so
    /// callers cannot distinguish them.
    pub async fn shared_session(&self, id: &str) -> Result<Option<SharedSession>, AgentsError> {
        if id.contains('\0') {
            return Ok(None);
        }
        let id = id.to_owned();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let Some(share) = conn.find_chat_share(&id).await? else {
                    return Ok(None);
                };
                let (session, through) = (&share.session_id, share.through_seq);
                let rows = conn
                    .list_chat_spoken(session, through, MAX_SHOWN + 1, MAX_BYTES)
                    .await?;
                Ok::<_, AgentsError>(Some((share, rows)))
            })
        });
        Ok(read.await?.map(|(share, rows)| shown(share, rows)))
    }
}

fn shown(share: ChatShareRow, mut rows: Vec<ChatMessageRow>) -> SharedSession {
    let most = usize::try_from(MAX_SHOWN).unwrap_or(usize::MAX);
    let more = rows.len().saturating_sub(most);
    rows.drain(..more);
    let is_cut = more > 0 || cut_oldest(&mut rows, MAX_BYTES);
    let message = |row: ChatMessageRow| {
        let is_user = row.role == Role::User.as_str();
        SharedMessage {
            role: if is_user { Role::User } else { Role::Assistant },
            text: Some(row.content).filter(|_| row.origin != MessageOrigin::Stranger.as_str()),
            at: row.created_at,
        }
    };
    // Empty messages are omitted. They come from an agent that only calls tools.
    let said = |message: &SharedMessage| message.text.as_deref() != Some("");
    SharedSession {
        title: share.title,
        shared_at: share.updated_at,
        messages: rows.into_iter().map(message).filter(said).collect(),
        is_cut,
    }
}

/// Cuts the text of the oldest message if the messages do not fit into `max_bytes`. Returns `false` if they already
/// fit. Only the oldest message can exceed the limit, because nothing before it was read.
fn cut_oldest(rows: &mut [ChatMessageRow], max_bytes: usize) -> bool {
    let bytes = rows.iter().map(|row| row.content.len()).sum::<usize>();
    let over = bytes.saturating_sub(max_bytes);
    let Some(oldest) = rows.first_mut().filter(|_| over > 0) else {
        return false;
    };
    let left = oldest.content.len().saturating_sub(over);
    let end = oldest.content.floor_char_boundary(left);
    oldest.content.truncate(end);
    oldest.content.push('…');
    true
}
