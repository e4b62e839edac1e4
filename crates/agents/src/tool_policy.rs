//! A selection of tools by name.

use crate::tool::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A selection of tools. An entry is an exact name, `*`, or a prefix followed by `*` (`mcp__x__*`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPolicy {
    /// The allowed tools; empty means all.
    #[serde(default)]
    pub allow: Vec<String>,
    /// The excluded tools. Takes precedence over `allow`.
    #[serde(default)]
    pub deny: Vec<String>,
}

impl ToolPolicy {
    /// Returns whether the selection includes this tool.
    pub fn admits(&self, tool: &dyn Tool) -> bool {
        (self.allow.is_empty() || matches_any(&self.allow, tool.name()))
            && !restrains(&self.deny, tool)
    }
}

/// Returns whether an entry matches the tool under its current or former name. Use this for lists that restrict tools,
/// not for lists that allow tools.
pub(crate) fn restrains(entries: &[String], tool: &dyn Tool) -> bool {
    let former = tool.former_name();
    matches_any(entries, tool.name()) || former.is_some_and(|name| matches_any(entries, name))
}

pub(crate) fn matches_any(entries: &[String], name: &str) -> bool {
    entries.iter().any(|entry| match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => entry == name,
    })
}
