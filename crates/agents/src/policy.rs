//! The one place that says which tools a turn may use. It is asked twice: for what is offered to the
//! model, and again when the model calls. Knows no tool but by name and audience.

use crate::registry::ToolRegistry;
use crate::send::Origin;
use crate::tool::{Audience, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which tools are wanted. An entry is an exact name, `*`, or a beginning with `*` behind it
/// (`mcp__x__*`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPolicy {
    /// These; empty means all.
    #[serde(default)]
    pub allow: Vec<String>,
    /// But never these.
    #[serde(default)]
    pub deny: Vec<String>,
}

impl ToolPolicy {
    /// Whether this tool is wanted.
    pub fn admits(&self, tool: &dyn Tool) -> bool {
        (self.allow.is_empty() || matches_any(&self.allow, tool.name()))
            && !restrains(&self.deny, tool)
    }
}

/// Whether one of the entries means this tool, under its name or a former one: for lists that restrain.
pub(crate) fn restrains(entries: &[String], tool: &dyn Tool) -> bool {
    let former = tool.former_name();
    matches_any(entries, tool.name()) || former.is_some_and(|name| matches_any(entries, name))
}

/// Whether one of the entries means this name.
fn matches_any(entries: &[String], name: &str) -> bool {
    entries.iter().any(|entry| match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => entry == name,
    })
}

/// What one turn may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    ceiling: Audience,
    policies: Vec<ToolPolicy>,
    nothing: bool,
}

impl Permit {
    /// What a turn may use that began like this, in a session that is tainted or not, with an agent
    /// that has these `tools`.
    ///
    /// A webhook's turn has what its own policy says and its agent does not deny; without a policy it
    /// has nothing. Nothing that a webhook wrote into ever reaches a trusted tool.
    pub fn of(origin: &Origin, tainted: bool, agent: &ToolPolicy) -> Self {
        match origin {
            Origin::Chat => Self {
                ceiling: if tainted {
                    Audience::Public
                } else {
                    Audience::Trusted
                },
                policies: vec![agent.clone()],
                nothing: false,
            },
            Origin::Webhook { policy, .. } => {
                let denied = ToolPolicy {
                    allow: Vec::new(),
                    deny: agent.deny.clone(),
                };
                Self {
                    ceiling: Audience::Public,
                    nothing: policy.is_none(),
                    policies: policy.iter().cloned().chain([denied]).collect(),
                }
            }
        }
    }

    /// Whether this tool may be offered and called.
    pub fn admits(&self, tool: &dyn Tool) -> bool {
        let admitted = |policy: &ToolPolicy| policy.admits(tool);
        !self.nothing && tool.audience() <= self.ceiling && self.policies.iter().all(admitted)
    }

    /// The tools to offer, by name.
    pub fn offered(&self, registry: &ToolRegistry) -> Vec<Arc<dyn Tool>> {
        let mut all = registry.all();
        all.retain(|tool| self.admits(&**tool));
        all
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
