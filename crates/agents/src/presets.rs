//! `agents.*`: managing agents.

use crate::agent::{Agent, AgentChanges, DEFAULT_AGENT, NewAgent, id_after};
use crate::agent_budget;
use crate::budgets::released;
use crate::error::AgentsError;
use crate::handle::Agents;
use gatehouse_store::{AgentRow, Conn, StoreError};

/// The maximum number of derived IDs to try. After that, the caller must choose an ID.
const MAX_TRIES: u32 = 1000;

impl Agents {
    /// Returns every agent, sorted by ID.
    pub async fn list_agents(&self) -> Result<Vec<Agent>, AgentsError> {
        let read = self.0.store.read(|conn| {
            Box::pin(async move {
                let rows: Vec<AgentRow> = conn.list_agents().await?;
                let agents: Result<Vec<_>, _> = rows.into_iter().map(Agent::of).collect();
                let mut agents = agents?;
                agent_budget::fill_in(conn, &mut agents).await?;
                Ok::<_, StoreError>(agents)
            })
        });
        Ok(read.await?)
    }

    pub async fn get_agent(&self, id: &str) -> Result<Agent, AgentsError> {
        let id = id.to_owned();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let found = find(conn, &id).await?;
                let mut agent = found.ok_or(AgentsError::NotFound("agent"))?;
                agent_budget::fill_in(conn, std::slice::from_mut(&mut agent)).await?;
                Ok(agent)
            })
        });
        read.await
    }

    /// Creates an agent. Returns `IdTaken` if the requested ID is in use.
    pub async fn create_agent(&self, new: NewAgent) -> Result<Agent, AgentsError> {
        let now = self.0.clock.now();
        let (chosen, budget) = (new.id.clone(), new.budget.clone());
        let (name, config) = new.into_parts();
        let mut agent = Agent {
            id: chosen.clone().unwrap_or_else(|| id_after(&name, 1)),
            name,
            config,
            budget: None,
            created_at: now,
            updated_at: now,
        };
        agent.check()?;
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                if chosen.is_none() {
                    agent.id = free_id(conn, &agent.name).await?;
                }
                match conn.insert_agent(&agent.row()?).await {
                    Ok(()) => {}
                    Err(StoreError::Duplicate(_)) => return Err(AgentsError::IdTaken),
                    Err(error) => return Err(error.into()),
                }
                if budget.is_some() {
                    agent_budget::store(conn, &agent.id, budget, now).await?;
                }
                agent_budget::fill_in(conn, std::slice::from_mut(&mut agent)).await?;
                conn.insert_change("agents", now).await?;
                Ok(agent)
            })
        });
        write.await
    }

    /// Changes an agent. The change applies to later turns.
    pub async fn update_agent(&self, changes: AgentChanges) -> Result<Agent, AgentsError> {
        let now = self.0.clock.now();
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let mut agent = find(conn, &changes.id)
                    .await?
                    .ok_or(AgentsError::NotFound("agent"))?;
                let budget = changes.budget.clone();
                changes.apply(&mut agent);
                agent.check()?;
                agent.updated_at = now;
                conn.update_agent(&agent.row()?).await?;
                if let Some(budget) = budget {
                    agent_budget::store(conn, &agent.id, budget, now).await?;
                }
                agent_budget::fill_in(conn, std::slice::from_mut(&mut agent)).await?;
                conn.insert_change("agents", now).await?;
                Ok(agent)
            })
        });
        write.await
    }

    /// Deletes an agent and reassigns its sessions to `default`, which cannot be deleted.
    pub async fn delete_agent(&self, id: &str) -> Result<(), AgentsError> {
        if id == DEFAULT_AGENT {
            return Err(AgentsError::DefaultAgent);
        }
        if id.contains('\0') {
            return Err(AgentsError::NotFound("agent"));
        }
        let (id, now) = (id.to_owned(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                if !conn.delete_agent(&id).await? {
                    return Err(AgentsError::NotFound("agent"));
                }
                conn.update_chat_session_agents(&id, DEFAULT_AGENT).await?;
                // The budgets are deleted, so a later agent with the same ID does not inherit them.
                if agent_budget::delete(conn, &id).await? {
                    released(conn, now).await?;
                }
                conn.insert_change("agents", now).await?;
                Ok(())
            })
        });
        write.await
    }
}

/// Finds an agent in a transaction. PostgreSQL rejects queries with a NUL character.
pub(crate) async fn find(conn: &mut Conn, id: &str) -> Result<Option<Agent>, StoreError> {
    if id.contains('\0') {
        return Ok(None);
    }
    conn.find_agent(id).await?.map(Agent::of).transpose()
}

async fn free_id(conn: &mut Conn, name: &str) -> Result<String, AgentsError> {
    for number in 1..=MAX_TRIES {
        let id = id_after(name, number);
        if conn.find_agent(&id).await?.is_none() {
            return Ok(id);
        }
    }
    Err(AgentsError::IdTaken)
}

/// Returns the requested agent, which must exist. Without a request, returns the session's agent,
/// or else `default`.
pub(crate) async fn choose_agent(
    conn: &mut Conn,
    wanted: Option<String>,
    of_session: Option<String>,
) -> Result<String, AgentsError> {
    if let Some(wanted) = wanted {
        return match find(conn, &wanted).await? {
            Some(agent) => Ok(agent.id),
            None => Err(AgentsError::invalid("agent", "the agent does not exist")),
        };
    }
    Ok(of_session.unwrap_or_else(|| DEFAULT_AGENT.to_owned()))
}
