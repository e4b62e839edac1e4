//! Calls that a person allowed beyond a single approval.

use crate::approvals::question::Question;
use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;
use gatehouse_store::{AllowedCallRow, AllowedScope, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The subject of the change after calls were allowed or forgotten.
pub(crate) const ALLOWED: &str = "allowed_calls";

/// The later calls that an approval allows in addition to the waiting one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remember {
    /// All later calls of the tool in this session.
    Session,
    /// Later calls of the tool with the same arguments, in every session of the agent.
    Arguments,
}

/// Calls of a tool that need no further approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AllowedCall {
    pub id: String,
    pub agent: String,
    pub tool: String,
    /// The session in which all calls of the tool are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The arguments that are allowed, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    pub allowed_at: Timestamp,
}

impl From<AllowedCallRow> for AllowedCall {
    fn from(row: AllowedCallRow) -> Self {
        let (session, arguments) = match row.call.scope {
            AllowedScope::Session(id) => (Some(id), None),
            AllowedScope::Arguments(arguments) => (None, Some(arguments)),
        };
        Self {
            id: row.id,
            agent: row.call.agent,
            tool: row.call.tool,
            session,
            arguments,
            allowed_at: row.allowed_at,
        }
    }
}

/// Returns the stored form of the calls that `remember` allows.
pub(crate) fn allowed(
    remember: Remember,
    (agent, session): (&str, &SessionId),
    (tool, arguments): (&str, &Value),
) -> gatehouse_store::AllowedCall {
    gatehouse_store::AllowedCall {
        agent: agent.to_owned(),
        tool: tool.to_owned(),
        scope: match remember {
            Remember::Session => AllowedScope::Session(session.clone()),
            Remember::Arguments => {
                let mut arguments = arguments.clone();
                arguments.sort_all_objects();
                AllowedScope::Arguments(arguments.to_string())
            }
        },
    }
}

impl Inner {
    /// Returns whether a person has allowed this call beforehand.
    pub(crate) async fn is_allowed(&self, question: &Question) -> Result<bool, StoreError> {
        let scopes = [Remember::Session, Remember::Arguments].map(|remember| {
            let place = (question.agent.as_str(), &question.session);
            allowed(remember, place, (&question.tool, &question.arguments))
        });
        self.store
            .read(move |conn| {
                Box::pin(async move { conn.has_allowed_call(scopes.each_ref()).await })
            })
            .await
    }
}

impl Agents {
    /// Returns the calls that need no further approval, newest first.
    pub async fn list_allowed_calls(&self) -> Result<Vec<AllowedCall>, AgentsError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { conn.list_allowed_calls().await }));
        let rows: Vec<AllowedCallRow> = read.await?;
        Ok(rows.into_iter().map(AllowedCall::from).collect())
    }

    /// Requires approval of these calls again.
    pub async fn delete_allowed_call(&self, id: &str) -> Result<(), AgentsError> {
        let missing = AgentsError::NotFound("allowed call");
        if id.contains('\0') {
            return Err(missing);
        }
        let (id, now) = (id.to_owned(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let is_deleted = conn.delete_allowed_call(&id).await?;
                if is_deleted {
                    conn.insert_change(ALLOWED, now).await?;
                }
                Ok(is_deleted)
            })
        });
        let is_deleted: Result<bool, StoreError> = write.await;
        if is_deleted? { Ok(()) } else { Err(missing) }
    }
}
