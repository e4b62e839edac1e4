//! The tool registry: built-in tools, and groups that change at run time, such as the tools of an MCP server. The
//! policy in `policy` decides who may use them.

use crate::tool::Tool;
use arc_swap::ArcSwap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The group of individually registered tools. Its name sorts first, so its tools take precedence.
const BUILT_IN: &str = "";

type Groups = BTreeMap<String, Vec<Arc<dyn Tool>>>;

/// The registered tools.
#[derive(Debug, Default)]
pub struct ToolRegistry {
    groups: ArcSwap<Groups>,
}

impl ToolRegistry {
    /// Adds a tool permanently. Replaces a tool with the same name.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the registry keeps the tool, and the caller has no further use for it"
    )]
    pub fn register(&self, tool: Arc<dyn Tool>) {
        if !is_name(tool.name()) {
            tracing::error!(
                tool = tool.name(),
                "a tool has an invalid name and was ignored"
            );
            return;
        }
        self.groups.rcu(|groups| {
            let mut groups = Groups::clone(groups);
            let built_in = groups.entry(BUILT_IN.to_owned()).or_default();
            built_in.retain(|other| other.name() != tool.name());
            built_in.push(Arc::clone(&tool));
            groups
        });
    }

    /// Replaces all tools of a group. An empty list removes the group. Tools whose names providers would reject are
    /// omitted and logged.
    pub fn replace_group(&self, group: &str, tools: Vec<Arc<dyn Tool>>) {
        let (good, bad): (Vec<_>, Vec<_>) = tools.into_iter().partition(|t| is_name(t.name()));
        for tool in bad {
            tracing::warn!(
                group,
                tool = tool.name(),
                "a tool has an invalid name and was ignored"
            );
        }
        self.groups.rcu(|groups| {
            let mut groups = Groups::clone(groups);
            if good.is_empty() {
                groups.remove(group);
            } else {
                groups.insert(group.to_owned(), good.clone());
            }
            groups
        });
    }

    /// Returns every tool, sorted by name. If two tools have the same name, a built-in tool wins, then the tool whose
    /// group sorts first.
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        let all = self.all_with_groups().into_iter();
        all.map(|(_, tool)| tool).collect()
    }

    /// Returns every tool like [`Self::all`], with its group, or `None` for a built-in tool.
    pub fn all_with_groups(&self) -> Vec<(Option<String>, Arc<dyn Tool>)> {
        let mut named = BTreeMap::new();
        for (group, tools) in self.groups.load().iter() {
            let group = Some(group).filter(|group| *group != BUILT_IN);
            for tool in tools {
                named
                    .entry(tool.name().to_owned())
                    .or_insert_with(|| (group.cloned(), Arc::clone(tool)));
            }
        }
        named.into_values().collect()
    }

    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let groups = self.groups.load();
        let mut all = groups.values().flatten();
        all.find(|tool| tool.name() == name).cloned()
    }
}

/// Returns whether both wire formats accept the name (`OpenAI` and Anthropic:
/// `^[a-zA-Z0-9_-]{1,64}$`).
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Audience, ToolContext, ToolError};
    use futures_util::future::BoxFuture;
    use serde_json::{Value, json};

    #[derive(Debug)]
    struct Named(String, &'static str);

    impl Tool for Named {
        fn name(&self) -> &str {
            &self.0
        }
        fn description(&self) -> &str {
            self.1
        }
        fn parameters(&self) -> Value {
            json!({})
        }
        fn audience(&self) -> Audience {
            Audience::Public
        }
        fn call<'a>(
            &'a self,
            _: &'a ToolContext,
            _: Value,
        ) -> BoxFuture<'a, Result<String, ToolError>> {
            Box::pin(async { Ok(String::new()) })
        }
    }

    fn tool(name: &str, from: &'static str) -> Arc<dyn Tool> {
        Arc::new(Named(name.to_owned(), from))
    }

    #[test]
    fn groups_come_and_go_and_never_take_a_built_in_name() {
        let registry = ToolRegistry::default();
        registry.register(tool("calc", "built in"));
        registry.replace_group("b", vec![tool("calc", "b"), tool("x", "b")]);
        registry.replace_group("a", vec![tool("x", "a")]);
        let from = |name: &str| registry.find(name).map(|t| t.description().to_owned());
        assert_eq!(from("calc").unwrap(), "built in");
        assert_eq!(from("x").unwrap(), "a");
        let names: Vec<String> = registry.all().iter().map(|t| t.name().to_owned()).collect();
        assert_eq!(names, ["calc", "x"]);
        let groups = registry.all_with_groups().into_iter();
        let groups: Vec<_> = groups.map(|(group, _)| group).collect();
        assert_eq!(groups, [None, Some("a".to_owned())]);
        registry.replace_group("a", Vec::new());
        assert_eq!(from("x").unwrap(), "b");
        registry.register(tool("calc", "newer"));
        assert_eq!(from("calc").unwrap(), "newer");
        assert_eq!(registry.all().len(), 2);
    }

    #[test]
    fn names_at_and_past_the_limit() {
        let (longest, too_long) = ("n".repeat(64), "n".repeat(65));
        for good in ["a", "mcp__x__y-z", &longest] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a.b", "a b", "ä", &too_long] {
            assert!(!is_name(bad), "{bad}");
        }
        let registry = ToolRegistry::default();
        registry.register(tool("a.b", ""));
        registry.replace_group("g", vec![tool("a b", "")]);
        assert!(registry.all().is_empty());
    }
}
