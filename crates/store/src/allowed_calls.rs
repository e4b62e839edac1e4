//! Table `allowed_calls`: tool calls that a person allowed for the future.

use crate::delivery_configs::key_of;
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;

/// Calls of one tool that run without an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedCall {
    pub agent: String,
    pub tool: String,
    pub scope: AllowedScope,
}

/// The calls of the tool that are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedScope {
    /// Calls with any arguments in this session.
    Session(SessionId),
    /// Calls with these arguments in every session of the agent. The arguments are canonical JSON text.
    Arguments(String),
}

/// A row of `allowed_calls`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedCallRow {
    pub id: String,
    pub call: AllowedCall,
    pub allowed_at: Timestamp,
}

impl AllowedCall {
    /// Returns the key of the row. Equal calls have the same key. Each part is preceded by its length, so different
    /// calls have different keys.
    pub fn id(&self) -> String {
        let (kind, scope) = match &self.scope {
            AllowedScope::Session(id) => ("session", id.as_str()),
            AllowedScope::Arguments(arguments) => ("arguments", arguments.as_str()),
        };
        let (agent, tool) = (&self.agent, &self.tool);
        key_of(&format!(
            "{kind}:{}:{agent}:{}:{tool}:{scope}",
            agent.len(),
            tool.len()
        ))
    }
}

impl FromRow for AllowedCallRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let session: Option<String> = row.try_get("session_id")?;
        let arguments: Option<String> = row.try_get("arguments")?;
        Ok(Self {
            id: row.try_get("id")?,
            call: AllowedCall {
                agent: row.try_get("agent_id")?,
                tool: row.try_get("tool")?,
                scope: match session {
                    Some(id) => AllowedScope::Session(SessionId::from_text(&id)),
                    None => AllowedScope::Arguments(arguments.unwrap_or_default()),
                },
            },
            allowed_at: Timestamp::from_millis(row.try_get("allowed_at")?),
        })
    }
}

impl Conn {
    /// Allows these calls from now on. `by` is the key of a person on a channel, or the name of a caller with
    /// temporary permissions: the calls stay allowed only as long as that person or caller has permissions. If the
    /// calls are later allowed without `by`, they stay allowed. Returns `false` if the calls were already allowed.
    pub async fn insert_allowed_call(
        &mut self,
        call: &AllowedCall,
        by: Option<&str>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let is_new = !self.has_allowed_call([call, call]).await?;
        let (session, arguments) = match &call.scope {
            AllowedScope::Session(id) => (Some(id.as_str()), None),
            AllowedScope::Arguments(arguments) => (None, Some(arguments.as_str())),
        };
        let query = query(
            "INSERT INTO allowed_calls (id, agent_id, session_id, tool, arguments, allowed_at, allowed_by)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET allowed_by =
                 CASE WHEN excluded.allowed_by IS NULL THEN NULL ELSE allowed_calls.allowed_by END",
        );
        let query = query.bind(call.id()).bind(&call.agent).bind(session);
        let query = query.bind(&call.tool).bind(arguments);
        self.run(query.bind(at.as_millis()).bind(by)).await?;
        Ok(is_new)
    }

    /// Returns whether at least one of the two calls is allowed.
    pub async fn has_allowed_call(&mut self, calls: [&AllowedCall; 2]) -> Result<bool, StoreError> {
        let query =
            query("SELECT CAST(COUNT(*) AS BIGINT) FROM allowed_calls WHERE id IN ($1, $2)");
        let [first, second] = calls.map(AllowedCall::id);
        Ok(self.number(query.bind(first).bind(second)).await? > 0)
    }

    /// Returns the allowed calls, newest first.
    pub async fn list_allowed_calls(&mut self) -> Result<Vec<AllowedCallRow>, StoreError> {
        let query = query("SELECT * FROM allowed_calls ORDER BY allowed_at DESC, id");
        self.list(query).await
    }

    /// Returns `false` if nothing with this ID was allowed.
    pub async fn delete_allowed_call(&mut self, id: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM allowed_calls WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }

    /// Deletes the approvals for the session with this key, and the approvals by the person or caller with this key
    /// or name. Includes all keys and names that start with `key` and a colon.
    pub async fn delete_allowed_calls_under(&mut self, key: &str) -> Result<(), StoreError> {
        let prefix = format!("{key}:");
        let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
        let query = query(
            "DELETE FROM allowed_calls WHERE session_id IN (
                 SELECT id FROM chat_sessions
                 WHERE key = $1 OR substr(key, 1, CAST($2 AS INTEGER)) = $3)
             OR allowed_by = $1 OR substr(allowed_by, 1, CAST($2 AS INTEGER)) = $3",
        );
        self.run(query.bind(key).bind(length).bind(prefix)).await?;
        Ok(())
    }

    /// Deletes all approvals for an agent.
    pub(crate) async fn delete_allowed_calls_of(&mut self, agent: &str) -> Result<(), StoreError> {
        let query = query("DELETE FROM allowed_calls WHERE agent_id = $1").bind(agent);
        self.run(query).await?;
        Ok(())
    }
}
