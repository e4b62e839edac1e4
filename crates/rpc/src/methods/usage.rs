//! `usage.*`: the usage of models.

use crate::method_entry::{Call, Method, method};
use gatehouse_agents::{UsageQuery, UsageStats};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;

pub const STATS: Method = method!(
    "usage.stats",
    "Sums the tokens and the cost of model calls by UTC day, agent, model, webhook or API key.",
    Some(Scope::Read),
    stats(UsageQuery) -> UsageStats
);

async fn stats(call: Call, query: UsageQuery) -> Result<UsageStats, Problem> {
    let agents = &call.services.agents;
    agents.usage_stats(query).await.map_err(to_problem)
}
