//! Finds or creates the session of a message.

use super::{label_of, label_of_text};
use crate::agent::{Agent, DEFAULT_AGENT};
use crate::error::AgentsError;
use crate::handle::Inner;
use crate::manage_sessions;
use crate::manage_sessions::MAX_LABEL_CHARACTERS;
use crate::origin::MessageOrigin;
use crate::presets::choose_agent;
use crate::send::{Origin, SendRequest, Target};
use crate::session::Source;
use gatehouse_domain::id::SessionId;
use gatehouse_models::ModelError;
use gatehouse_store::{ChatSessionRow, Conn};

/// The session of a text.
pub(crate) struct LocatedSession {
    pub(crate) id: SessionId,
    /// The row of a session that must be created together with the text.
    pub(crate) new: Option<ChatSessionRow>,
}

impl Inner {
    /// Finds the session. Creates it if a webhook or a person on a channel has none yet.
    pub(super) async fn locate(
        &self,
        request: &SendRequest,
    ) -> Result<LocatedSession, AgentsError> {
        match &request.session {
            Target::New | Target::OneOff(_) => {
                let id = SessionId::generate(&*self.clock, &*self.random);
                let label = label_of_text(&request.text);
                let source = match request.session {
                    Target::OneOff(_) => Source::Api,
                    _ => Source::User,
                };
                let row = self.new_session(id, None, label, source);
                Ok(LocatedSession {
                    id: row.id.clone(),
                    new: Some(row),
                })
            }
            Target::Existing(name) => Ok(LocatedSession {
                id: self.session_row(name).await?.id,
                new: None,
            }),
            Target::Keyed { key, label } | Target::Person { key, label } => {
                let source = match request.session {
                    Target::Person { .. } => Source::Channel,
                    _ => Source::Webhook,
                };
                let id = SessionId::generate(&*self.clock, &*self.random);
                let label = label_of(label, MAX_LABEL_CHARACTERS);
                let row = self.new_session(id, Some(key.clone()), label, source);
                let agent = request.agent.clone();
                let write = self.store.write(move |conn| {
                    Box::pin(async move { find_or_make(conn, row, agent).await })
                });
                Ok(LocatedSession {
                    id: write.await?,
                    new: None,
                })
            }
        }
    }

    /// Detects a model whose key is in the sealed vault, before anything is stored. A delivery or channel message that
    /// waits for the vault is retried after the unseal, and its text must not be stored twice. The turn itself reports
    /// other reasons why no model can be chosen.
    pub(super) async fn check_vault(
        &self,
        request: &SendRequest,
        session: &SessionId,
    ) -> Result<(), AgentsError> {
        if !matches!(
            request.origin,
            Origin::Webhook { .. } | Origin::Channel { .. }
        ) {
            return Ok(());
        }
        let (id, wanted) = (session.clone(), request.agent.clone());
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let session = conn.find_chat_session(&id).await?;
                let agent = choose_agent(conn, wanted, session.map(|row| row.agent_id)).await?;
                let row = match conn.find_agent(&agent).await? {
                    Some(row) => Some(row),
                    None => conn.find_agent(DEFAULT_AGENT).await?,
                };
                Ok::<_, AgentsError>(row.map(Agent::of).transpose()?)
            })
        });
        let Some(agent) = read.await? else {
            return Ok(());
        };
        let config = agent.config;
        let model = request.model.as_deref().or(config.model.as_deref());
        let choosing = self.models.choose(config.provider.as_deref(), model);
        match request.cancel.run_until_cancelled(choosing).await {
            Some(Err(ModelError::Sealed)) => Err(AgentsError::Sealed),
            _ => Ok(()),
        }
    }

    pub(crate) fn new_session(
        &self,
        id: SessionId,
        key: Option<String>,
        label: String,
        source: Source,
    ) -> ChatSessionRow {
        let now = self.clock.now();
        ChatSessionRow {
            key: key.unwrap_or_else(|| id.to_string()),
            id,
            label,
            agent_id: DEFAULT_AGENT.to_owned(),
            source: source.as_str().to_owned(),
            tainted: false,
            private: false,
            message_count: 0,
            last_seq: 0,
            last_turn: 0,
            summary: None,
            summary_turn: 0,
            summary_origin: MessageOrigin::Model.as_str().to_owned(),
            share_id: None,
            pinned: false,
            archived: false,
            tags: String::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// Returns the session with this key and the source of `row`, or a new one. Webhooks and channels cannot use sessions
/// of other sources.
async fn find_or_make(
    conn: &mut Conn,
    mut row: ChatSessionRow,
    agent: Option<String>,
) -> Result<SessionId, AgentsError> {
    if let Some(found) = conn.find_chat_session_by_key(&row.key).await? {
        return if Source::of(&found.source) == Source::of(&row.source) {
            Ok(found.id)
        } else {
            let reason = format!("names a session that was not created by a {}", row.source);
            Err(AgentsError::invalid("session_key", reason))
        };
    }
    if manage_sessions::find(conn, &row.key).await?.is_some() {
        let reason = "is the id of another session";
        return Err(AgentsError::invalid("session_key", reason));
    }
    row.agent_id = choose_agent(conn, agent, None).await?;
    conn.insert_chat_session(&row).await?;
    Ok(row.id)
}
