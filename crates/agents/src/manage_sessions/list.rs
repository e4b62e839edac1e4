//! Lists sessions and searches in them.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::session::Session;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;
use gatehouse_store::{ChatSessionPage, ChatSessionRow, Conn, StoreError, lower_case};
use std::collections::HashMap;

/// The number of bytes of an excerpt before and after the match.
const EXCERPT_BYTES: usize = 60;

/// A page of sessions.
#[derive(Clone, Debug)]
pub struct SessionPage {
    /// Most recently active first.
    pub sessions: Vec<Session>,
    /// The cursor of the next page; `None` on the last.
    pub next_cursor: Option<String>,
}

/// Filter and range of a list of sessions.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Only sessions whose label, key, ID, tag or text contains this text. Results of tools are not searched.
    pub q: Option<String>,
    /// Whether only names are searched and no excerpts are returned, for callers that may not read
    /// messages.
    pub in_names_only: bool,
    /// Only sessions that a webhook started (`true`), or only other sessions (`false`).
    pub of_webhooks: Option<bool>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// Only sessions that anyone with the link can read (`true`), or only other sessions (`false`).
    pub shared: Option<bool>,
    /// Only sessions with this tag. Upper and lower case are equal.
    pub tag: Option<String>,
    /// Only sessions whose last message was added at this time or later.
    pub from: Option<Timestamp>,
    /// Only sessions whose last message was added before this time.
    pub until: Option<Timestamp>,
    pub limit: usize,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Parses a cursor: the `updated_at` in milliseconds and the ID of the last session of a page. A session that becomes
/// active between two pages moves to the front and leaves no gap.
fn read_cursor(cursor: &str) -> Result<(Timestamp, String), AgentsError> {
    let parts = cursor.split_once('.');
    let read = parts.and_then(|(at, id)| Some((at.parse::<i64>().ok()?, id)));
    match read {
        Some((at, id)) if !id.contains('\0') => Ok((Timestamp::from_millis(at), id.to_owned())),
        _ => Err(AgentsError::invalid("cursor", "not a cursor of this list")),
    }
}

/// Finds the text around the match in each session whose name does not contain the match.
async fn find_excerpts(
    conn: &mut Conn,
    rows: &[ChatSessionRow],
    q: Option<&str>,
) -> Result<HashMap<SessionId, String>, StoreError> {
    let mut excerpts = HashMap::new();
    let Some(q) = q else {
        return Ok(excerpts);
    };
    let lower = lower_case(q);
    for row in rows {
        if lower_case(&row.label).contains(&lower) {
            continue;
        }
        if let Some(content) = conn.find_chat_message_with(&row.id, q).await? {
            excerpts.insert(row.id.clone(), excerpt(&content, q));
        }
    }
    Ok(excerpts)
}

/// Returns the text around the first match, on one line.
pub(super) fn excerpt(content: &str, q: &str) -> String {
    let lower = || lower_case(content).find(&lower_case(q));
    // Converting to lower case can change the length of the text, which shifts the excerpt slightly.
    let at = content.find(q).or_else(lower).unwrap_or(0);
    let start = content.floor_char_boundary(at.saturating_sub(EXCERPT_BYTES));
    let end = content.ceil_char_boundary(at.saturating_add(q.len() + EXCERPT_BYTES));
    let text = content.get(start..end).unwrap_or_default();
    let line: Vec<&str> = text.split_whitespace().collect();
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!(
        "{}{}{}",
        cut(start > 0),
        line.join(" "),
        cut(end < content.len())
    )
}

impl Agents {
    /// Lists sessions, most recently active first.
    pub async fn list_sessions(&self, query: &SessionQuery) -> Result<SessionPage, AgentsError> {
        let q = query.q.as_deref().map(str::trim).filter(|q| !q.is_empty());
        let after = query.cursor.as_deref().map(read_cursor).transpose()?;
        let limit = query.limit;
        let searched = [q, query.tag.as_deref()];
        if searched
            .into_iter()
            .flatten()
            .any(|text| text.contains('\0'))
        {
            return Ok(SessionPage {
                sessions: Vec::new(),
                next_cursor: None,
            });
        }
        let page = ChatSessionPage {
            q: q.map(str::to_owned),
            in_names_only: query.in_names_only,
            of_webhooks: query.of_webhooks,
            pinned: query.pinned,
            archived: query.archived,
            shared: query.shared,
            tag: query.tag.clone(),
            from: query.from,
            until: query.until,
            after,
            limit: i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1),
        };
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let mut rows = conn.list_chat_sessions(&page).await?;
                let has_more = rows.len() > limit;
                rows.truncate(limit);
                let searched = page.q.as_deref().filter(|_| !page.in_names_only);
                let excerpts = find_excerpts(conn, &rows, searched).await?;
                Ok::<_, StoreError>((rows, has_more, excerpts))
            })
        });
        let (rows, has_more, mut excerpts) = read.await?;
        let next_cursor = rows
            .last()
            .filter(|_| has_more)
            .map(|row| format!("{}.{}", row.updated_at.as_millis(), row.id));
        let mut sessions = self.0.shown_on_all_nodes(rows).await?;
        for session in &mut sessions {
            session.excerpt = excerpts.remove(&session.id);
        }
        Ok(SessionPage {
            sessions,
            next_cursor,
        })
    }
}
