//! Decides which tools a turn may use. The policy is applied twice: to the tools offered to the model, and to each call
//! by the model. Only the name and audience of a tool matter.

use crate::origin::MessageOrigin;
use crate::registry::ToolRegistry;
use crate::send::Origin;
use crate::tool::{Audience, Tool};
use crate::tool_policy::ToolPolicy;
use std::sync::Arc;

/// Returns the entries that name exactly one tool.
fn exact_names(entries: &[String]) -> Vec<String> {
    let exact = entries.iter().filter(|entry| !entry.ends_with('*'));
    exact.cloned().collect()
}

/// The tools that one turn may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    ceiling: Audience,
    policies: Vec<ToolPolicy>,
    nothing: bool,
    /// The tools that the agent or the webhook allows by their exact names.
    named: Vec<String>,
    /// The targets that the webhook names.
    targets: Vec<String>,
}

impl Permit {
    /// Returns the permit of a turn. It depends on the turn's origin, on the agent's `tools`, and on whether the
    /// session contains text of a webhook or guest that no person has cleared.
    ///
    /// A webhook's turn may use the tools that its own policy allows, minus the tools that the agent denies. Without a
    /// policy, it may use no tools. It cannot use a trusted tool, with one exception: a tool that serves the targets of
    /// the webhook ([`Tool::serves_named_targets`]), if the policy contains its exact name. A chat in a session with
    /// such text cannot use trusted tools either. A person on a channel may use the tools that the agent allows. If the
    /// person is not trusted, trusted tools are excluded and exact names in the agent's `allow` have no special effect.
    pub fn of(origin: &Origin, has_sender_text: bool, agent: &ToolPolicy) -> Self {
        match origin {
            Origin::Channel { written_by, .. } if *written_by != MessageOrigin::Owner => Self {
                ceiling: Audience::Public,
                policies: vec![agent.clone()],
                nothing: false,
                named: Vec::new(),
                targets: Vec::new(),
            },
            Origin::Chat | Origin::Api | Origin::Channel { .. } => Self {
                ceiling: if has_sender_text {
                    Audience::Public
                } else {
                    Audience::Trusted
                },
                policies: vec![agent.clone()],
                nothing: false,
                named: exact_names(&agent.allow),
                targets: Vec::new(),
            },
            Origin::Webhook {
                policy, targets, ..
            } => {
                let denied = ToolPolicy {
                    allow: Vec::new(),
                    deny: agent.deny.clone(),
                };
                Self {
                    ceiling: Audience::Public,
                    nothing: policy.is_none(),
                    named: policy
                        .as_ref()
                        .map_or_else(Vec::new, |policy| exact_names(&policy.allow)),
                    policies: policy.iter().cloned().chain([denied]).collect(),
                    targets: targets.clone(),
                }
            }
        }
    }

    /// Returns the maximum audience of a tool, except for targets that the webhook names.
    pub const fn ceiling(&self) -> Audience {
        self.ceiling
    }

    /// Returns whether this tool may be offered and called.
    pub fn admits(&self, tool: &dyn Tool) -> bool {
        let admitted = |policy: &ToolPolicy| policy.admits(tool);
        let is_in_reach = tool.audience() <= self.ceiling || self.is_bound(tool);
        !self.nothing && is_in_reach && self.policies.iter().all(admitted)
    }

    /// Returns the targets that calls of this tool may have, or `None` if all are allowed.
    pub fn targets_of(&self, tool: &dyn Tool) -> Option<&[String]> {
        self.is_bound(tool).then_some(&self.targets)
    }

    /// Returns whether a trusted tool is allowed because the webhook names targets for it.
    fn is_bound(&self, tool: &dyn Tool) -> bool {
        let is_beyond = tool.audience() > self.ceiling && tool.serves_named_targets();
        is_beyond && !self.targets.is_empty() && self.names(tool)
    }

    /// Returns whether the owner allowed this tool by its exact name.
    pub fn names(&self, tool: &dyn Tool) -> bool {
        self.named.iter().any(|name| name == tool.name())
    }

    /// Returns the tools to offer, sorted by name.
    pub fn offered(&self, registry: &ToolRegistry) -> Vec<Arc<dyn Tool>> {
        let mut all = registry.all();
        all.retain(|tool| self.admits(&**tool));
        all
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
